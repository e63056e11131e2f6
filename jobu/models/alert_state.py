"""AlertState: what has been looked at and told, of one kind of alert."""

from __future__ import annotations

from django.db import models

from jobu.dialects import DatabaseNow
from jobu.models.fields import ExactCharField, ExactJSONField


class AlertState(models.Model):
    """One row for each kind. `told` has what is wrong, by its keys: since when it is `seen`,
    and which of it was `told`.

    Deaths up to `looked_until` were told or there were none. `revision` grows with each change, so
    that of two who change it at once one notices.
    """

    kind = ExactCharField(max_length=20)
    revision = models.PositiveBigIntegerField(db_default=0)
    looked_at = models.DateTimeField(db_default=DatabaseNow())
    looked_until = models.DateTimeField(db_default=DatabaseNow())
    told_at = models.DateTimeField(null=True)
    told = ExactJSONField(null=True)

    class Meta:
        default_permissions = ()
        constraints = [  # noqa: RUF012 - as Django reads it
            models.UniqueConstraint(fields=["kind"], name="jobu_alert_unique_kind")
        ]

    def __str__(self) -> str:
        return f"{self.kind}, looked at {self.looked_at}"
