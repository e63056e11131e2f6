"""Dispatch due cron jobs: plan those that were edited, enqueue the ticks that have come."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from jobu import logs
from jobu.conf import settings
from jobu.cron import latest_time, next_times
from jobu.dialects import DatabaseNow
from jobu.models import CronJob, JobExecution
from jobu.models.cron_job import Misfire
from jobu.outcomes import DEAD, FINISHED
from jobu.queue.enqueue_rows import enqueue_ticks
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from jobu.queue.enqueue_rows import Row

BATCH_SIZE = 500
_MAX_TICKS = 1_000
_INSTANT = timedelta(microseconds=1)


def dispatch(limit: int = BATCH_SIZE) -> int:
    """Dispatch up to `limit` due cron jobs in one transaction; return how many there were.

    Any number of dispatchers may do this at once: each locks different rows, and the unique
    (job, scheduled_time) keeps a tick from being enqueued twice.
    """
    with write_transaction(settings.DATABASE):
        jobs = list(
            CronJob.objects.due()
            .order_by("due_at")
            .select_for_update(skip_locked=True)
            .annotate(now=DatabaseNow())[:limit]
        )
        busy = _unfinished([job for job in jobs if not job.allow_overlap])
        rows: list[Row] = []
        for job in jobs:
            rows += _dispatch_one(job, _read_at(job), job.pk in busy)
        enqueue_ticks(rows)
        CronJob.objects.bulk_update(
            jobs, ["next_run_at", "last_run_at", "problem", "planned"], batch_size=100
        )
    return len(jobs)


def seconds_to_next() -> float | None:
    """Return the seconds until the next cron job is due; None if no cron job is planned."""
    row = (
        CronJob.objects.filter(due_at__isnull=False)
        .order_by("due_at")
        .annotate(now=DatabaseNow())
        .values_list("due_at", "now")
        .first()
    )
    return None if row is None else max(0.0, (row[0] - row[1]).total_seconds())


def _read_at(job: Any) -> datetime:
    """Return the database's time when the annotated row was read."""
    now: datetime = job.now
    return now


def _dispatch_one(job: CronJob, now: datetime, is_busy: bool) -> list[Row]:
    """Bring one cron job up to date, and return the rows of its ticks."""
    if not job.is_enabled:
        job.planned, job.next_run_at = "", None
        return []
    if problem := "; ".join(job.find_problems()):
        # Planned, but without a next tick: the dispatcher looks at it again after an edit.
        logs.cron_skipped(job.name, problem)
        job.problem, job.planned, job.next_run_at = problem, job.plan_key, None
        return []
    ticks: list[datetime] = []
    is_edited = job.planned != job.plan_key or job.next_run_at is None
    if not is_edited and job.next_run_at is not None:
        ticks = _ticks_to_run(job, job.next_run_at, now)
    # The ticks beyond the maximum go on in the next round.
    reached = ticks[-1] if len(ticks) == _MAX_TICKS else now
    job.next_run_at = next(
        iter(next_times(job.cron_expression, job.timezone, reached, 1, seed=job.name)), None
    )
    job.problem, job.planned = "", job.plan_key
    if ticks and _is_to_be_paused(job):
        _pause(job)
        return []
    if not job.allow_overlap:
        ticks = [] if is_busy else ticks[:1]
    if ticks:
        job.last_run_at = ticks[-1]
    return [job.row(tick) for tick in ticks]


def _ticks_to_run(job: CronJob, since: datetime, now: datetime) -> list[datetime]:
    """Return the ticks from `since` to `now` that the misfire policy wants run, oldest first."""
    window = timedelta(seconds=job.misfire_window_seconds)
    if job.misfire == Misfire.ALL:
        return job.ticks(max(since, now - window) - _INSTANT, now, _MAX_TICKS)
    if job.misfire == Misfire.SKIP:
        window = min(window, _on_time())
    after = max(since, now - max(window, _on_time())) - _INSTANT
    if job.starts_at:
        after = max(after, job.starts_at - _INSTANT)
    until = min(now, job.ends_at) if job.ends_at else now
    latest = latest_time(job.cron_expression, job.timezone, after, until, seed=job.name)
    return [] if latest is None else [latest]


def _on_time() -> timedelta:
    """Return how late a tick may be dispatched and still count as on time."""
    return timedelta(
        seconds=settings.DISPATCHER_MAX_SLEEP_SECONDS + settings.DISPATCHER_POLL_INTERVAL_SECONDS
    )


def _unfinished(jobs: Sequence[CronJob]) -> set[int]:
    """Return the ids of the cron jobs that have an execution pending or running."""
    ids = [job.pk for job in jobs]
    if not ids:
        return set()
    pending = JobExecution.objects.pending().filter(job__in=ids)
    running = JobExecution.objects.running().filter(job__in=ids)
    return {pk for each in (pending, running) for pk in each.values_list("job", flat=True) if pk}


def _is_to_be_paused(job: CronJob) -> bool:
    if not job.pause_after_failures:
        return False
    last = list(
        job.executions.filter(status__in=FINISHED)
        .order_by("-scheduled_time")
        .values_list("status", flat=True)[: job.pause_after_failures]
    )
    return len(last) == job.pause_after_failures and all(status in DEAD for status in last)


def _pause(job: CronJob) -> None:
    """Disable the cron job until somebody enables it again."""
    reason = f"Paused: its last {job.pause_after_failures} executions ended dead."
    logs.cron_paused(job.name, reason)
    job.is_enabled, job.problem, job.planned, job.next_run_at = False, reason, "", None
    CronJob.objects.filter(pk=job.pk).update(is_enabled=False)
