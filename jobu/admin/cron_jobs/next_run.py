"""When a cron job runs next."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from django.utils import timezone
from django.utils.html import format_html

from jobu.admin.executions.cells import badge
from jobu.admin.shared.words import absolute, relative
from jobu.cron import next_times

if TYPE_CHECKING:
    from datetime import datetime

    from django.utils.safestring import SafeString

    from jobu.models import CronJob


def next_run_of(job: CronJob) -> SafeString | str:
    """Say when it runs next, by the plan, or before there is one by the expression itself."""
    if job.problem:
        return badge("failed", job.problem)
    if not job.is_enabled:
        return "–"
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
