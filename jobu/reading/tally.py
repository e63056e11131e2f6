"""Count finished executions, from where the last count ended.

Counters must never go down, although history is pruned, and a scrape must not read all of it. So
the totals are in the database. Each count adds the executions that have finished since the count
before; it reads the index of finish times in bounded steps.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import F

from jobu.conf import settings
from jobu.dialects import database_time
from jobu.models import JobExecution, Tally
from jobu.reading.names import told_apart

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

BUCKETS = (0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800, 3600)
"""Upper bounds, in seconds of run time; one more bucket has no bound."""

STEP = 5_000
BUDGET_SECONDS = 0.5
GRACE_SECONDS = 10
_ROW = 1

Totals = dict[str, dict[str, dict[str, Any]]]


def count_finished() -> Totals:
    """Add the executions that have finished since the last count, and return the totals.

    The last few seconds wait for the next count: an outcome is committed a moment after the time
    that it carries. Nothing is locked: of several counts at the same time, the first one is stored
    and the others are dropped.
    """
    now = database_time(settings.DATABASE)
    horizon = now - timedelta(seconds=GRACE_SECONDS)
    tally, _ = Tally.objects.get_or_create(pk=_ROW, defaults={"counted_until": horizon})
    if tally.counted_until < horizon:
        _count_until(horizon, tally)
        unchanged = Tally.objects.filter(pk=_ROW, revision=tally.revision)
        if not unchanged.update(
            revision=F("revision") + 1, counted_until=tally.counted_until, totals=tally.totals
        ):
            tally.refresh_from_db()
    totals: Totals = tally.totals
    return totals


def _count_until(horizon: datetime, tally: Tally) -> None:
    """Count step by step until the time is used up; the next count continues."""
    end = time.monotonic() + BUDGET_SECONDS
    while tally.counted_until < horizon:
        until = _end_of_step(tally.counted_until, horizon)
        for row in _finished(tally.counted_until, until):
            _add(tally.totals, *row)
        tally.counted_until = until
        if time.monotonic() >= end:
            return


def _end_of_step(after: datetime, horizon: datetime) -> datetime:
    beyond = (
        JobExecution.objects.filter(finished_at__gt=after, finished_at__lte=horizon)
        .order_by("finished_at")
        .values_list("finished_at", flat=True)[STEP : STEP + 1]
        .first()
    )
    return beyond or horizon


def _finished(after: datetime, until: datetime) -> Iterable[tuple[Any, ...]]:
    rows = JobExecution.objects.finished().filter(finished_at__gt=after, finished_at__lte=until)
    # In the order of the index; otherwise a planner may prefer to read the whole history.
    return rows.order_by("finished_at").values_list(
        "handler_name", "status", "started_at", "finished_at"
    )


def _add(totals: Totals, handler: str, status: str, began: datetime | None, end: datetime) -> None:
    total = totals.setdefault(told_apart(handler, totals), {}).setdefault(
        status, {"count": 0, "seconds": 0.0, "buckets": [0] * (len(BUCKETS) + 1)}
    )
    total["count"] += 1
    # An execution that was cancelled while it waited never ran.
    if began is not None:
        seconds = (end - began).total_seconds()
        total["seconds"] += seconds
        total["buckets"][bisect_left(BUCKETS, seconds)] += 1
