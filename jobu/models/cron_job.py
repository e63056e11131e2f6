"""CronJob: a schedule, edited in the admin, in code or by SQL."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Self

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Concat
from django.utils.translation import gettext_lazy as _

from jobu.conf import settings
from jobu.cron import problem_with_expression, problem_with_timezone, ticks_between
from jobu.dialects import DatabaseNow
from jobu.door import door
from jobu.exceptions import OptionError
from jobu.handlers.registry import handlers
from jobu.jsonable import ExactEncoder, encode_object
from jobu.models.fields import (
    ExactCharField,
    ExactJSONField,
    StoredGeneratedField,
    project_timezone,
)
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from django.db.models.manager import Manager

    from jobu.models.job_execution import JobExecution

_INSTANT = timedelta(microseconds=1)
_MAX_BACKFILLED = 10_000
_OF_HANDLER = ("queue", "priority", "max_retry", "timeout_seconds")
"""What a new cron job takes from its handler unless it is given."""
AT_ONCE = datetime(1970, 1, 1, tzinfo=UTC)


class Misfire(models.TextChoices):
    """What happens to ticks that nobody dispatched in time."""

    SKIP = "skip", _("skip them")
    LATEST = "latest", _("run the latest one")
    ALL = "all", _("run all of them")


def validate_expression(value: str) -> None:
    seconds = settings.DISPATCHER_MIN_CRON_INTERVAL_SECONDS
    if problem := problem_with_expression(value, min_interval_seconds=seconds):
        raise ValidationError(problem)


def validate_timezone(value: str) -> None:
    if problem := problem_with_timezone(value):
        raise ValidationError(problem)


def validate_params(value: Any) -> None:
    if not isinstance(value, dict):
        raise ValidationError(_('Params are a JSON object, such as {"days": 30}.'))


class CronJobQuerySet(models.QuerySet["CronJob"]):
    def due(self) -> Self:
        """Needing a dispatcher now: a tick has come, or the schedule was edited."""
        return self.filter(due_at__lte=DatabaseNow())


class CronJob(models.Model):
    name = ExactCharField(max_length=200)
    description = models.TextField(blank=True, default="")
    cron_expression = ExactCharField(
        max_length=200,
        validators=[validate_expression],
        help_text=_("Minute, hour, day of month, month, day of week; such as 30 6 * * mon-fri."),
    )
    timezone = ExactCharField(
        max_length=64, default=project_timezone, validators=[validate_timezone]
    )
    handler_name = ExactCharField(max_length=200)
    handler_params = ExactJSONField(blank=True, default=dict, validators=[validate_params])
    is_enabled = models.BooleanField(default=True)
    allow_overlap = models.BooleanField(
        default=True,
        help_text=_("If not, a tick is skipped while an earlier execution is unfinished."),
    )
    max_retry = models.PositiveIntegerField(
        default=3, help_text=_("How often an execution runs at most; 0 and 1 mean once.")
    )
    timeout_seconds = models.PositiveIntegerField(default=3600)
    priority = models.SmallIntegerField(default=0, help_text=_("Higher goes first."))
    queue = ExactCharField(max_length=100, default="default")
    misfire = ExactCharField(max_length=10, choices=Misfire, default=Misfire.LATEST)
    misfire_window_seconds = models.PositiveIntegerField(
        default=86_400, help_text=_("Ticks that were missed longer ago are skipped.")
    )
    jitter_seconds = models.PositiveIntegerField(
        default=0, help_text=_("Each execution starts up to this much later than its tick.")
    )
    pause_after_failures = models.PositiveIntegerField(
        default=0, help_text=_("Disable after so many dead executions in a row; 0 means never.")
    )
    starts_at = models.DateTimeField(null=True, blank=True)
    ends_at = models.DateTimeField(null=True, blank=True)
    next_run_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_run_at = models.DateTimeField(null=True, blank=True, editable=False)
    declared = ExactCharField(max_length=300, blank=True, default="", editable=False)
    problem = models.TextField(blank=True, default="", editable=False)
    planned = ExactCharField(max_length=500, blank=True, default="", editable=False)
    # A row that is not planned as it stands now, by whatever means it was edited, is due at once;
    # so is a disabled one that is still planned, which is how re-enabling never fires the past.
    due_at = StoredGeneratedField(
        expression=Case(
            When(
                is_enabled=True,
                planned=Concat(
                    "name",
                    Value("\n"),
                    "cron_expression",
                    Value("\n"),
                    "timezone",
                    output_field=models.CharField(),
                ),
                then=F("next_run_at"),
            ),
            When(Q(is_enabled=True) | ~Q(planned=""), then=Value(AT_ONCE)),
            output_field=models.DateTimeField(),
        ),
        output_field=models.DateTimeField(null=True),
        db_persist=True,
        editable=False,
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects: ClassVar[Manager[CronJob]] = CronJobQuerySet.as_manager()

    class Meta:
        verbose_name = _("cron job")
        verbose_name_plural = _("cron jobs")
        ordering: ClassVar = ["name"]
        indexes: ClassVar = [models.Index(fields=["due_at"], name="jobu_cron_due")]
        permissions: ClassVar = [("run_cronjob", "Can run cron job now")]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["name"], name="jobu_cron_unique_name"),
            models.CheckConstraint(
                condition=models.Q(misfire__in=Misfire.values), name="jobu_cron_misfire_known"
            ),
            models.CheckConstraint(
                condition=models.Q(max_retry__gte=0), name="jobu_cron_max_retry_not_negative"
            ),
            models.CheckConstraint(
                condition=models.Q(timeout_seconds__gt=0), name="jobu_cron_timeout_positive"
            ),
        ]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # By name only: the rows of a query come with all values, in the order of the fields.
        if "handler_name" in kwargs:
            options = handlers.options_of(kwargs["handler_name"])
            kwargs = {**{name: getattr(options, name) for name in _OF_HANDLER}, **kwargs}
        super().__init__(*args, **kwargs)

    def __str__(self) -> str:
        return str(self.name)

    @property
    def plan_key(self) -> str:
        """What the schedule depends on; `planned` is this as of the last planning."""
        return f"{self.name}\n{self.cron_expression}\n{self.timezone}"

    def find_problems(self) -> list[str]:
        """Say why this row cannot be dispatched, however it got in."""
        found = [
            problem_with_expression(
                self.cron_expression,
                min_interval_seconds=settings.DISPATCHER_MIN_CRON_INTERVAL_SECONDS,
                seed=self.name,
            ),
            problem_with_timezone(self.timezone),
            None if isinstance(self.handler_params, dict) else "its params are not a JSON object",
        ]
        return [problem for problem in found if problem is not None]

    def find_missing_handler(self) -> str | None:
        """Say that its handler is unknown here; another process may know it."""
        if self.handler_name in handlers:
            return None
        return f"no installed app has a handler {self.handler_name!r}"

    def ticks(self, after: datetime, until: datetime, limit: int) -> list[datetime]:
        """Return its first `limit` ticks after one instant, up to another, that it is active at."""
        first = max(after, self.starts_at - _INSTANT) if self.starts_at else after
        last = min(until, self.ends_at) if self.ends_at else until
        return ticks_between(
            self.cron_expression, self.timezone, first, last, seed=self.name, limit=limit
        )

    def run_now(self, params: dict[str, Any] | None = None) -> JobExecution:
        """Enqueue one execution outside the schedule; `params` win over the cron's own."""
        from jobu.models.job_execution import ParamSource

        merged = {**self.handler_params, **json.loads(encode_object(params or {}, "The params"))}
        row = {
            **self.row(),
            "params": json.dumps(merged, cls=ExactEncoder),
            "param_source": ParamSource.MANUAL.value,
        }
        return door.enqueue_row(row)

    def missing_ticks(self, start: datetime, end: datetime) -> list[datetime]:
        """Return the ticks from `start` to `end` that have no execution: what a backfill adds."""
        ticks = self.ticks(start - _INSTANT, end, _MAX_BACKFILLED + 1)
        if len(ticks) > _MAX_BACKFILLED:
            raise OptionError(
                f"More than {_MAX_BACKFILLED:,} ticks of {self.name!r} lie between {start} and "
                f"{end}; backfill a shorter time at once."
            )
        there = self.executions.filter(scheduled_time__range=(start, end))
        known = set(there.values_list("scheduled_time", flat=True))
        return [tick for tick in ticks if tick not in known]

    def backfill(self, start: datetime, end: datetime) -> int:
        """Enqueue the ticks from `start` to `end` that have no execution yet; return how many."""
        ticks = self.missing_ticks(start, end)
        within = self.executions.filter(scheduled_time__in=ticks)
        with write_transaction(settings.DATABASE):
            before = within.count()
            door.enqueue_ticks([self.row(tick) for tick in ticks])
            return within.count() - before

    def row(self, tick: datetime | None = None) -> dict[str, Any]:
        """Return the row of an execution, of a tick if given: the cron job as it is now."""
        row: dict[str, Any] = {
            "job_id": self.pk,
            "handler_name": self.handler_name,
            "params": json.dumps(self.handler_params, cls=ExactEncoder),
            "queue": self.queue,
            "priority": self.priority,
            "max_retry": self.max_retry,
            "timeout_seconds": self.timeout_seconds,
        }
        if tick is not None:
            row["scheduled_time"] = tick
            row["available_at"] = tick + timedelta(seconds=self._jitter(tick))
        return row

    def _jitter(self, tick: datetime) -> float:
        """Spread by a hash, not by chance: two dispatchers give one tick the same time."""
        if not self.jitter_seconds:
            return 0
        digest = hashlib.sha256(f"{self.pk} {tick.isoformat()}".encode()).digest()
        return self.jitter_seconds * int.from_bytes(digest[:4]) / 2**32
