"""The runs of a cron job: the last ones as a strip of marks, their success, the next one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _

from jobu.admin.shared.words import absolute, badge, cut_html, duration, relative
from jobu.cron import next_times
from jobu.models import JobExecution
from jobu.outcomes import FINISHED, Status

if TYPE_CHECKING:
    from datetime import datetime

    from django.utils.safestring import SafeString

    from jobu.models import CronJob

_SHOWN = 12
_RATED = 50
_COLUMNS = ("id", "status", "created_at", "started_at", "finished_at")


class Run(NamedTuple):
    pk: int
    status: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @property
    def words(self) -> str:
        parts = [str(Status(self.status).label), absolute(self.started_at or self.created_at)]
        if self.started_at and self.finished_at:
            parts.append(duration((self.finished_at - self.started_at).total_seconds()))
        return " · ".join(parts)


@dataclass(frozen=True, slots=True)
class Runs:
    """The newest runs, newest first."""

    runs: list[Run]

    @property
    def strip(self) -> SafeString:
        marks = format_html_join(
            "",
            '<a class="jobu-mark jobu-{}" href="{}" title="{}" aria-label="{}"></a>',
            (
                (
                    run.status.lower(),
                    reverse("admin:jobu_jobexecution_change", args=[run.pk]),
                    *[run.words] * 2,
                )
                for run in reversed(self.runs[:_SHOWN])
            ),
        )
        return format_html('<span class="jobu-strip">{}</span>', marks) if self.runs else marks

    @property
    def rate(self) -> SafeString | str:
        finished = [run for run in self.runs if run.status in FINISHED]
        if not finished:
            return "–"
        succeeded = sum(run.status == Status.SUCCESS for run in finished)
        title = _("%(count)s of the last %(all)s runs") % {
            "count": succeeded,
            "all": len(finished),
        }
        kind = "success" if succeeded == len(finished) else "failed" if succeeded == 0 else "some"
        # Rounded down: 99.6 % is not all of them.
        share = 100 * succeeded // len(finished)
        return format_html(
            '<span class="jobu-rate jobu-rate-{}" title="{}">{} %</span>', kind, title, share
        )


def runs_of(job: CronJob) -> Runs:
    # One query for each cron job reads only these rows, by the index. A window function over all
    # cron jobs would read the whole history.
    rows = JobExecution.objects.of_job(job).order_by("-id").values_list(*_COLUMNS)[:_RATED]
    return Runs([Run(*row) for row in rows])


def next_run_of(job: CronJob) -> SafeString | str:
    """Say when it runs next: as planned, or by its expression if there is no plan yet."""
    if job.problem:
        kind = badge("failed", _("problem") if job.is_enabled else _("paused"))
        return format_html("{}{}", kind, cut_html(job.problem, "jobu-why"))
    if not job.is_enabled:
        return "–"
    if job.find_missing_handler():
        text = _("No installed app here has its handler %(name)s.")
        # Short, because the list has little room for it.
        why = text % {"name": f"“{job.handler_name}”"}
        return format_html('<span title="{}">{}</span>', why, badge("failed", _("no handler")))
    moment, now = _next_tick(job), timezone.now()
    if moment is None:
        return "–"
    try:
        zone = ZoneInfo(job.timezone)
    except (ValueError, OSError):
        zone = None
    return format_html(
        '<time datetime="{}">{}</time><div class="jobu-quiet">{}</div>',
        moment.isoformat(),
        relative(moment, now),
        absolute(moment, zone),
    )


def _next_tick(job: CronJob) -> datetime | None:
    if job.next_run_at is not None and job.planned == job.plan_key:
        return job.next_run_at
    try:
        [moment] = next_times(job.cron_expression, job.timezone, timezone.now(), 1, seed=job.name)
    except ValueError:
        return None
    return moment
