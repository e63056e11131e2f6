"""JobExecution: one job to run, and all that is known of its runs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Self

from django.db import models
from django.db.models import Q
from django.db.models.expressions import DatabaseDefault
from django.utils.translation import gettext_lazy as _

from jobu.dialects import DatabaseNow, pass_over_primary_key
from jobu.models.cron_job import CronJob
from jobu.models.fields import (
    ExactCharField,
    ExactJSONField,
    SparseIndex,
    SparseUniqueConstraint,
    StatusIndex,
)
from jobu.outcomes import DEAD, FINISHED, Status

if TYPE_CHECKING:
    from uuid import UUID

    from django.db.models import OuterRef
    from django.db.models.manager import Manager


ATTEMPT_FIELDS = (
    "id",
    "attempt",
    "claimed_by",
    "handler_name",
    "params",
    "queue",
    "retry_count",
    "max_retry",
    "timeout_seconds",
)
"""The columns that make an `Attempt`, in its order."""


IN_LANE = datetime(1970, 1, 1, tzinfo=UTC)
"""The `aside_until` of what is not set aside; with NULL, PostgreSQL would not see the order."""


class ParamSource(models.TextChoices):
    """Where an execution came from."""

    CRON = "cron", _("cron")
    EVENT = "event", _("event")
    API = "api", _("API")
    CODE = "code", _("code")
    MANUAL = "manual", _("manual")


class JobExecutionQuerySet(models.QuerySet["JobExecution"]):
    """The vocabulary of an execution's life."""

    def pending(self) -> Self:
        """Waiting to be claimed, now or later."""
        return self.filter(status=Status.PENDING)

    def claimable(self) -> Self:
        """Waiting, and due by the database's clock."""
        return self.pending().filter(available_at__lte=DatabaseNow())

    def in_lane(self) -> Self:
        """Not set aside: where a claim finds them; see `jobu.queue.lanes`."""
        return self.filter(aside_until=IN_LANE)

    def running(self) -> Self:
        """Claimed by a process and not settled yet."""
        return self.filter(status=Status.RUNNING)

    def finished(self) -> Self:
        """In a state that nothing leaves by itself."""
        return self.filter(status__in=FINISHED)

    def dead(self) -> Self:
        """Out of attempts: they stay to be looked at and, if wanted, retried by hand."""
        return self.filter(status__in=DEAD)

    def of_job(self, job: CronJob | int | OuterRef) -> Self:
        """Of this cron job; newest or oldest first, its index has them in that order."""
        found = self.filter(job=job)
        pass_over_primary_key(found.query)
        return found

    def held_by(self, process_id: UUID) -> Self:
        """Running in this process, as far as the database knows."""
        return self.running().filter(claimed_by=process_id)


class JobExecution(models.Model):
    # No index of its own: that of a cron's runs, in their order, begins with it.
    job = models.ForeignKey(
        CronJob,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="executions",
        db_index=False,
    )
    handler_name = ExactCharField(max_length=200)
    params = ExactJSONField(default=dict)
    param_source = ExactCharField(max_length=10, choices=ParamSource, default=ParamSource.CODE)
    queue = ExactCharField(max_length=100, default="default")
    priority = models.SmallIntegerField(default=0)
    scheduled_time = models.DateTimeField(null=True, blank=True)
    available_at = models.DateTimeField(db_default=DatabaseNow())
    aside_until = models.DateTimeField(db_default=IN_LANE)
    status = ExactCharField(max_length=16, choices=Status, default=Status.PENDING)
    retry_count = models.PositiveIntegerField(default=0)
    max_retry = models.PositiveIntegerField(default=3)
    timeout_seconds = models.PositiveIntegerField(default=3600)
    attempt = models.PositiveIntegerField(default=0)
    claimed_by = models.UUIDField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    result = ExactJSONField(null=True, blank=True)
    error_message = models.TextField(blank=True, default="")
    errors = ExactJSONField(default=list, blank=True)
    dedupe_key = ExactCharField(max_length=255, null=True, blank=True)
    cancel_requested = models.BooleanField(default=False)
    progress = ExactJSONField(null=True, blank=True)
    extra = ExactJSONField(
        null=True, blank=True, help_text=_("What a message said that jobu has no use for.")
    )
    created_at = models.DateTimeField(db_default=DatabaseNow())

    objects: ClassVar[Manager[JobExecution]] = JobExecutionQuerySet.as_manager()

    class Meta:
        verbose_name = _("job execution")
        verbose_name_plural = _("job executions")
        indexes: ClassVar = [
            StatusIndex(
                fields=["aside_until", "queue", "priority", "available_at", "id"],
                name="jobu_exec_pending",
                status=Status.PENDING,
            ),
            StatusIndex(fields=["claimed_by"], name="jobu_exec_running", status=Status.RUNNING),
            SparseIndex(fields=["finished_at"], name="jobu_exec_finished_at"),
            StatusIndex(
                fields=["job"],
                name="jobu_exec_pending_job",
                status=Status.PENDING,
                sparse=True,
            ),
            SparseIndex(fields=["job", "id"], name="jobu_exec_job"),
        ]
        permissions: ClassVar = [
            ("retry_jobexecution", "Can retry job execution"),
            ("cancel_jobexecution", "Can cancel job execution"),
            ("publish_message", "Can publish message"),
            ("view_sensitive_params", "Can view sensitive params"),
        ]
        constraints: ClassVar = [
            SparseUniqueConstraint(fields=["job", "scheduled_time"], name="jobu_exec_unique_tick"),
            SparseUniqueConstraint(fields=["dedupe_key"], name="jobu_exec_unique_dedupe_key"),
            # Few, because PostgreSQL prepares each of them anew for every statement.
            models.CheckConstraint(
                condition=Q(status=Status.PENDING)
                | Q(status=Status.RUNNING, claimed_by__isnull=False)
                | Q(status__in=FINISHED, finished_at__isnull=False),
                name="jobu_exec_status_consistent",
            ),
            models.CheckConstraint(
                condition=Q(param_source__in=ParamSource.values),
                name="jobu_exec_param_source_known",
            ),
            models.CheckConstraint(
                condition=Q(timeout_seconds__gt=0), name="jobu_exec_timeout_positive"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.handler_name} #{self.pk}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        super().save(*args, **kwargs)
        # MySQL returns the id of a new row, and nothing else that it made.
        times = ("available_at", "created_at")
        if made := [n for n in times if isinstance(self.__dict__.get(n), DatabaseDefault)]:
            self.refresh_from_db(fields=made)

    @property
    def is_finished(self) -> bool:
        return self.status in FINISHED
