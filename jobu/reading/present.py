"""The processes and their running executions, and the next ticks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Count, Min

from jobu.conf import settings
from jobu.models import CronJob, JobExecution, Process
from jobu.models.cron_job import AT_ONCE

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

_MAX_TICKS = 10
_MAX_PROCESSES = 100


@dataclass(frozen=True, slots=True)
class Tick:
    """The next time at which a cron job is due."""

    cron_id: int
    name: str
    handler_name: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ProcessState:
    """A process and what it runs; a stale one did not beat within the lease."""

    id: UUID
    kind: str
    host: str
    pid: int
    queues: list[str]
    slots: int
    running: int
    longest_seconds: float | None
    beat_seconds: float
    started_at: datetime
    is_stopping: bool
    is_stale: bool


def next_ticks(limit: int = _MAX_TICKS) -> list[Tick]:
    """Return the next ticks; a cron job that was just edited is not planned yet."""
    rows = CronJob.objects.filter(due_at__gt=AT_ONCE).order_by("due_at")
    return [Tick(*row) for row in rows.values_list("id", "name", "handler_name", "due_at")[:limit]]


def read_processes(now: datetime, limit: int = _MAX_PROCESSES) -> list[ProcessState]:
    running = {
        process_id: (count, oldest)
        for process_id, count, oldest in JobExecution.objects.running()
        .values_list("claimed_by")
        .annotate(count=Count("id"), oldest=Min("started_at"))
        .order_by()
    }
    lease = timedelta(seconds=settings.LEASE_SECONDS)
    states = []
    for process in Process.objects.order_by("kind", "started_at")[:limit]:
        count, oldest = running.get(process.id, (0, None))
        silence = now - process.heartbeat_at
        states.append(
            ProcessState(
                id=process.id,
                kind=process.kind,
                host=process.host,
                pid=process.pid,
                queues=process.queues,
                slots=process.slots,
                running=count,
                longest_seconds=None if oldest is None else (now - oldest).total_seconds(),
                beat_seconds=max(0.0, silence.total_seconds()),
                started_at=process.started_at,
                is_stopping=process.stopping,
                is_stale=silence >= lease,
            )
        )
    return states
