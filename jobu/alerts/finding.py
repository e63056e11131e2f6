"""Find what is to be told: executions that died, and what is wrong at the moment."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import F
from django.db.models.functions import Substr

from jobu.alerts.sending import ALERT_HANDLER
from jobu.conf import settings
from jobu.dialects import DatabaseNow
from jobu.durations import whole
from jobu.models import CronJob, JobExecution
from jobu.models.cron_job import AT_ONCE
from jobu.outcomes import Status
from jobu.printable import first_line
from jobu.queue.lanes import look
from jobu.reading.troubles import is_cron_due_without_dispatcher, unserved_queues
from jobu.reading.waits import living_processes

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime, timedelta

    from jobu.alerts.config import Alerts

MAX_DEAD = 5_000
"""How many deaths one statement reads."""
MAX_FINISHED = 100_000
"""How many finished executions one statement looks through."""
BUDGET_SECONDS = 2.0
"""How long one look reads; the next one goes on."""
MAX_WRONG = 100
_MAX_MESSAGE = 300
_MAX_IDS = 5
_ERROR_CLASS = re.compile(r"([A-Za-z_][\w.]*)(?::|$)")

Wrong = dict[str, str]
"""What is wrong now: a key that stays the same while it is, and a sentence."""


@dataclass(slots=True)
class DeathGroup:
    """Executions of one handler that died in the same way."""

    handler: str
    error: str
    first: datetime
    last: datetime
    message: str
    count: int = 0
    ids: list[int] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {
            "handler": self.handler,
            "error": self.error,
            "count": self.count,
            "first": self.first.isoformat(),
            "last": self.last.isoformat(),
            "message": self.message,
            "executions": self.ids,
        }


class Deaths(NamedTuple):
    groups: list[DeathGroup]
    looked_until: datetime


def find_deaths(since: datetime, horizon: datetime) -> Deaths:
    """Read the executions that died after `since`, up to the horizon or for some seconds."""
    groups: dict[tuple[str, str], DeathGroup] = {}
    end = time.monotonic() + BUDGET_SECONDS
    while since < horizon:
        since = _read_step(since, horizon, groups)
        if time.monotonic() >= end:
            break
    return Deaths(sorted(groups.values(), key=lambda each: -each.count), since)


def _read_step(
    since: datetime, horizon: datetime, groups: dict[tuple[str, str], DeathGroup]
) -> datetime:
    """Add the deaths of one step to the groups; return the time up to which it has read."""
    finished = JobExecution.objects.filter(finished_at__gt=since, finished_at__lte=horizon)
    times = finished.order_by("finished_at").values_list("finished_at", flat=True)
    until = times[MAX_FINISHED : MAX_FINISHED + 1].first() or horizon
    dead = JobExecution.objects.dead().exclude(handler_name=ALERT_HANDLER)
    rows = list(_rows(dead.filter(finished_at__gt=since, finished_at__lte=until))[:MAX_DEAD])
    if len(rows) == MAX_DEAD:
        # Several can have the time of the last one: all of these belong to this step. By a range,
        # because a database may keep fewer digits of a time than Python.
        until = rows[-1][-1]
        rows = [row for row in rows if row[-1] < until]
        before = rows[-1][-1] if rows else since
        rows += _rows(dead.filter(finished_at__gt=before, finished_at__lte=until))
    for pk, handler, status, message, at in rows:
        text = first_line(message)[:_MAX_MESSAGE]
        key = handler, _error_class(status, text)
        group = groups.setdefault(key, DeathGroup(*key, first=at, last=at, message=text))
        group.count += 1
        group.last = max(group.last, at)
        if len(group.ids) < _MAX_IDS:
            group.ids.append(pk)
    return until


def find_paused_crons(_alerts: Alerts, _now: datetime) -> Wrong:
    """Find the cron jobs that were disabled because their executions died."""
    paused = CronJob.objects.filter(is_enabled=False, problem__startswith="Paused:")
    rows = paused.order_by("id").values_list("id", "name", "problem", "last_run_at")[:MAX_WRONG]
    return {f"{pk} {at}": f"{name}: {problem}" for pk, name, problem, at in rows}


def find_missed_crons(_alerts: Alerts, now: datetime) -> Wrong:
    """Find the cron jobs whose tick has come and that nobody dispatched in time."""
    late = settings.DISPATCHER_MAX_SLEEP_SECONDS + settings.DISPATCHER_POLL_INTERVAL_SECONDS
    missed = CronJob.objects.filter(
        is_enabled=True, due_at__gt=AT_ONCE, due_at__lte=DatabaseNow(-late)
    )
    rows = missed.order_by("due_at").values_list("id", "name", "due_at")[:MAX_WRONG]
    return {
        f"{pk} {due_at}": f"{name}: due {due_at:%Y-%m-%d %H:%M:%S %Z}, "
        f"{_ago(now - due_at)} ago, and not dispatched"
        for pk, name, due_at in rows
    }


def find_old_queues(alerts: Alerts, _now: datetime) -> Wrong:
    """Find the queues whose first execution has been due for too long."""
    oldest: dict[str, float] = {}
    for lane in look().due:
        oldest[lane.queue] = max(oldest.get(lane.queue, 0), -lane.due_in)
    return {
        queue: f"{queue}: the first execution has been due for {whole(round(seconds))}"
        for queue, seconds in sorted(oldest.items())[:MAX_WRONG]
        if seconds >= alerts.queue_minutes * 60
    }


def find_missing_workers(_alerts: Alerts, _now: datetime) -> Wrong:
    """Find what is due without a process that could take it."""
    living = living_processes()
    found = {
        f"queue {queue}": f"{queue}: executions are due, and no living worker serves this queue"
        for queue in unserved_queues(living)[:MAX_WRONG]
    }
    if is_cron_due_without_dispatcher(living):
        found["dispatcher"] = "cron jobs are due, and no dispatcher is alive"
    return found


CONDITIONS: dict[str, tuple[str, Callable[[Alerts, datetime], Wrong]]] = {
    "cron_paused": ("cron job paused", find_paused_crons),
    "cron_missed": ("cron job not dispatched in time", find_missed_crons),
    "queue_old": ("queue with old executions", find_old_queues),
    "no_worker": ("jobs that nobody runs", find_missing_workers),
}
"""Kind of alert → its title for one, and what finds it."""


def _rows(dead: Any) -> Any:
    """Select id, handler, status, the beginning of the message, and the time."""
    short = dead.annotate(short=Substr("error_message", 1, 2 * _MAX_MESSAGE))
    rows = short.order_by("finished_at").values_list("id", "handler_name", "status", "short")
    return rows.annotate(at=F("finished_at"))


def _error_class(status: str, message: str) -> str:
    if status == Status.TIMEOUT:
        return "timeout"
    found = _ERROR_CLASS.match(message)
    if found:
        return found[1]
    return "its process stopped beating" if "stopped beating" in message else "failed"


def _ago(time: timedelta) -> str:
    return whole(round(time.total_seconds()))
