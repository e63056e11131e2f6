"""DeadLetter: a queue message that could not become an execution, kept as it came."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from django.db import models
from django.db.models.functions import Length
from django.utils.translation import gettext_lazy as _

from jobu.dialects import DatabaseNow
from jobu.handlers.registry import handlers
from jobu.jsonable import storable_text
from jobu.masking import MASK, is_sensitive, mask_text
from jobu.models.fields import BytesField, ExactCharField, ExactJSONField
from jobu.models.job_execution import JobExecution

if TYPE_CHECKING:
    from django.db.models.manager import Manager

SHOWN_CHARACTERS = 2_000


class DeadLetterQuerySet(models.QuerySet["DeadLetter"]):
    """The vocabulary of a dead letter's life."""

    def open(self) -> Self:
        """Waiting for somebody to requeue or discard them."""
        return self.filter(requeued_at=None, discarded_at=None)

    def requeued(self) -> Self:
        """Made an execution of, after all."""
        return self.filter(requeued_at__isnull=False)

    def discarded(self) -> Self:
        """Put aside for good; until they are pruned they can still be requeued."""
        return self.filter(discarded_at__isnull=False)

    def listed(self) -> Self:
        """Without what may be megabytes each, but with the `size` of the bodies in bytes."""
        return self.defer("body", "key", "headers").annotate(size=Length("body"))


class DeadLetter(models.Model):
    """One message, told apart by the adapter that brought it and its id there.

    It is open until `jobu.messages.requeue` makes an execution of it (`requeued_at`,
    `execution`) or `discard` puts it aside (`discarded_at`). Neither deletes it: as long as the
    row is there, a redelivery of the message creates nothing. Prune deletes what is not open by
    the retention of the executions, and open ones by a longer one of their own.
    """

    adapter = ExactCharField(max_length=100)
    source_id = ExactCharField(max_length=255)
    body = BytesField()
    key = BytesField(null=True, blank=True)
    headers = ExactJSONField(
        default=list, blank=True, help_text=_("Pairs of a name and a text, as they came.")
    )
    reason = models.TextField()
    received_at = models.DateTimeField(db_default=DatabaseNow())
    requeued_at = models.DateTimeField(null=True, blank=True)
    discarded_at = models.DateTimeField(null=True, blank=True)
    execution = models.ForeignKey(
        JobExecution,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="dead_letters",
    )

    objects: ClassVar[Manager[DeadLetter]] = DeadLetterQuerySet.as_manager()

    class Meta:
        verbose_name = _("dead letter")
        verbose_name_plural = _("dead letters")
        indexes: ClassVar = [models.Index(fields=["received_at"], name="jobu_dead_received_at")]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["adapter", "source_id"], name="jobu_dead_unique_source"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.adapter} {self.source_id}"

    @property
    def is_open(self) -> bool:
        return self.requeued_at is None and self.discarded_at is None

    def body_text(self, limit: int = SHOWN_CHARACTERS) -> str:
        """Return the body to look at: bytes that are not UTF-8 escaped, the middle left out."""
        body: bytes = self.body
        return storable_text(masked(body), limit)

    def masked_headers(self) -> list[tuple[str, str]]:
        """Return the headers with masks: their own names count, and those in JSON that they are."""
        names = handlers.sensitive_of(None)
        return [
            (name, MASK if is_sensitive(name, names) else mask_text(text, names))
            for name, text in self.headers
        ]


def masked(body: bytes) -> str:
    """Mask it as far as it can be read; for which handler it was is not certain, so all count."""
    return mask_text(body.decode(errors="backslashreplace"), handlers.sensitive_of(None))
