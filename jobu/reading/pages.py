"""Pages of a history of millions, newest first; the cost of a page is bounded.

An id grows with time, so the primary key is the order. No index could serve every filter, and each
further index would slow the workers down. A filter that an index serves is left to the database.
With any other filter a page looks at a limited number of executions, and says how far it got.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from jobu.models import JobExecution

if TYPE_CHECKING:
    from datetime import datetime

    from jobu.models.job_execution import JobExecutionQuerySet

LOOKED_AT = 20_000
"""How many executions `browse` looks at for one page."""
SCANNED = 50_000
"""How many ids `find_executions` looks at for one page."""
COUNTED = 10_000
_LONGEST_STATEMENT = timedelta(minutes=5)
_LONG = ("params", "result", "errors")


@dataclass(frozen=True, slots=True)
class Page:
    """Some executions, newest first, and the cursors of the pages around them.

    Give `older` as `before` for the next page, `newer` as `after` for the previous one. If it
    `is_cut`, more executions may match that were not looked at.
    """

    executions: list[JobExecution]
    newer: int | None
    older: int | None
    is_cut: bool


@dataclass(frozen=True, slots=True)
class Count:
    """How many match; if it is not exact, at least so many."""

    number: int
    is_exact: bool


def browse(
    executions: JobExecutionQuerySet,
    size: int,
    *,
    among: JobExecutionQuerySet | None = None,
    before: int | None = None,
    after: int | None = None,
) -> Page:
    """Return the page before an id (older), after an id (newer), or the newest page.

    If `executions` has filters that no index serves, give `among`: the same without those filters.
    """
    if after is not None:
        return _newer_than(after, executions, size, among)
    scope = executions if before is None else executions.filter(id__lt=before)
    edge = _edge(among if before is None or among is None else among.filter(id__lt=before), "-id")
    if edge is not None:
        scope = scope.filter(id__gt=edge)
    rows = list(scope.order_by("-id")[: size + 1])
    is_full = len(rows) > size
    return Page(
        executions=rows[:size],
        newer=None if before is None else before - 1,
        older=rows[size - 1].pk if is_full else edge and edge + 1,
        is_cut=not is_full and edge is not None,
    )


def find_executions(
    filters: dict[str, Any],
    *,
    cron_id: int | None,
    start: datetime | None,
    end: datetime | None,
    before: int | None,
    size: int,
) -> Page:
    """Return a page of those that match and were created from `start` to `end`; without `_LONG`.

    Where few executions match, a page may be short, or empty, and still have an older one.
    """
    among = JobExecution.objects.defer(*_LONG)
    if start is not None:
        among = among.filter(id__gte=first_id_since(start))
        filters = {**filters, "created_at__gte": start}
    if end is not None:
        among = among.filter(id__lt=first_id_after(end))
        filters = {**filters, "created_at__lte": end}
    if cron_id is not None:
        among = among.of_job(cron_id)
    elif filters:
        return _scan(among, filters, before, size)
    # An index has these in their order.
    return browse(among.filter(**filters), size, among=among if filters else None, before=before)


def count(executions: JobExecutionQuerySet, among: JobExecutionQuerySet | None = None) -> Count:
    """Count the matching executions, up to `COUNTED` or as far as one page looks."""
    edge = _edge(among, "-id")
    if edge is not None:
        executions = executions.filter(id__gt=edge)
    number = executions.order_by("-id")[: COUNTED + 1].count()
    return Count(min(number, COUNTED), is_exact=edge is None and number <= COUNTED)


def first_id_since(instant: datetime) -> int:
    """Return an id; all executions created at or after the instant have that id or a larger one.

    Found by halving, because no index has `created_at`. `created_at` is the time at which the
    inserting statement began, so ids and times may differ in order by the length of a statement.
    """
    instant -= _LONGEST_STATEMENT
    ends = [
        JobExecution.objects.order_by(order).values_list("id").first() for order in ("id", "-id")
    ]
    if ends[0] is None or ends[1] is None:
        return 0
    low, high = ends[0][0], ends[1][0] + 1
    while low < high:
        middle = (low + high) // 2
        row = (
            JobExecution.objects.filter(id__gte=middle)
            .order_by("id")
            .values_list("id", "created_at")
            .first()
        )
        if row is None or row[1] >= instant:
            high = middle
        else:
            low = row[0] + 1
    return int(low)


def first_id_after(instant: datetime) -> int:
    """Return an id; all executions created up to the instant have a smaller one."""
    return first_id_since(instant + 2 * _LONGEST_STATEMENT)


def _scan(
    among: JobExecutionQuerySet, filters: dict[str, Any], before: int | None, size: int
) -> Page:
    """Look at the ids right below `before`; the next page skips ids that were pruned."""
    ids = among.order_by("-id").values_list("id", flat=True)
    newest = (ids if before is None else ids.filter(id__lt=before)).first()
    if newest is None:
        return Page([], newer=None, older=None, is_cut=False)
    floor = newest - SCANNED
    inside = among.filter(id__lte=newest, id__gt=floor)
    found = list(inside.filter(**filters).order_by("-id")[: size + 1])
    if len(found) > size:
        return Page(found[:size], newer=None, older=found[size - 1].pk, is_cut=False)
    below = ids.filter(id__lte=floor).first()
    older = None if below is None else below + 1
    return Page(found, newer=None, older=older, is_cut=older is not None)


def _newer_than(
    after: int, executions: JobExecutionQuerySet, size: int, among: JobExecutionQuerySet | None
) -> Page:
    scope = executions.filter(id__gt=after)
    edge = _edge(None if among is None else among.filter(id__gt=after), "id")
    if edge is not None:
        scope = scope.filter(id__lt=edge)
    rows = list(scope.order_by("id")[: size + 1])
    is_full = len(rows) > size
    return Page(
        executions=rows[:size][::-1],
        newer=rows[size - 1].pk if is_full else edge and edge - 1,
        older=after + 1,
        is_cut=not is_full and edge is not None,
    )


def _edge(among: JobExecutionQuerySet | None, order: str) -> int | None:
    """Return the first id that is not looked at; None if all are."""
    if among is None:
        return None
    return among.order_by(order).values_list("id", flat=True)[LOOKED_AT : LOOKED_AT + 1].first()
