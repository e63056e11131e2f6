"""Summarise the past, so that a chart does not read a million executions.

Each step of each range (see `Range`) becomes one row: about 250 rows in all. A coarse step is made
of finer ones. If some of these are missing, after an upgrade or because no process ran, it is read
from the executions.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from jobu.conf import settings
from jobu.dialects import database_time
from jobu.models import JobExecution, Summary
from jobu.reading.depth import waiting
from jobu.reading.digest import Digest
from jobu.reading.ranges import Range, complete_until, steps_between

if TYPE_CHECKING:
    from datetime import datetime

FINER = {Range.WEEK: Range.DAY, Range.DAY: Range.HOUR}


def summarize(seconds: float) -> bool:
    """Store missing summaries for about so many seconds; tell whether none is missing any more.

    Any number of processes may do this at once.
    """
    now = database_time(settings.DATABASE)
    end = time.monotonic() + seconds
    return all(_summarize(each, now, end) for each in Range)


def missing_steps(chosen: Range, now: datetime) -> list[datetime]:
    """Return the steps of a range that are over and have no summary, newest first."""
    # Without a filter by status, which could read more than the first entry of the index.
    first = (
        JobExecution.objects.filter(finished_at__isnull=False)
        .order_by("finished_at")
        .values_list("finished_at", flat=True)
        .first()
    )
    if first is None:
        return []
    begin = max(chosen.begin(now), chosen.floor(first))
    steps = steps_between(begin, complete_until(chosen.step, now), chosen.step)
    stored = set(
        Summary.objects.filter(seconds=chosen.step.seconds, begins_at__gte=begin).values_list(
            "begins_at", flat=True
        )
    )
    return [step for step in steps if step not in stored]


def _summarize(chosen: Range, now: datetime, end: float) -> bool:
    missing = missing_steps(chosen, now)
    made: list[Summary] = []
    for begin in missing:
        if time.monotonic() >= end:
            break
        digest = _digest(chosen, begin)
        if chosen is Range.HOUR and begin + chosen.step == complete_until(chosen.step, now):
            digest.waiting = {each.queue: each.due for each in waiting()}
        made.append(Summary(seconds=chosen.step.seconds, begins_at=begin, content=digest.content()))
    if made:
        Summary.objects.bulk_create(made, ignore_conflicts=True)
        _forget(chosen, now)
    return len(made) == len(missing)


def _digest(chosen: Range, begin: datetime) -> Digest:
    end = begin + chosen.step
    finer = FINER.get(chosen)
    if finer is not None:
        parts = list(
            Summary.objects.filter(
                seconds=finer.step.seconds, begins_at__gte=begin, begins_at__lt=end
            ).values_list("content", flat=True)
        )
        if len(parts) == chosen.step // finer.step:
            return Digest.of(map(Digest.from_content, parts))
    return Digest.between(begin, end)


def _forget(chosen: Range, now: datetime) -> None:
    """Delete summaries that no chart needs, but not before coarser ones are made of them."""
    unused = chosen.begin(now) - 2 * chosen.step
    Summary.objects.filter(seconds=chosen.step.seconds, begins_at__lt=unused).delete()
