"""Find the lanes that have executions to claim.

A lane is one (queue, priority). The index of pending executions has those of a lane next to each
other, in the order in which they are due. A look steps from lane to lane; the number of executions
in a lane does not matter.

Code, messages and the API may choose any queue and priority, so there may be very many lanes. Two
bounds keep a look short. It finds a limited number of lanes, and the next look continues behind
them. If too many lanes are not due yet, their executions are set aside until they are due.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from django.db import connections
from django.db.models import F, TextField

from jobu.conf import settings
from jobu.dialects import DatabaseNow, dialect_for
from jobu.models import JobExecution
from jobu.models.job_execution import IN_LANE
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.backends.utils import CursorWrapper

    from jobu.models.job_execution import JobExecutionQuerySet

MAX_LANES = 500
"""The maximum number of lanes that one look finds."""
_MAX_NOT_DUE = 20
"""How many lanes that are not due a look steps over, because to set one aside is two updates."""
_MAX_MOVED = 1_000
_MAX_AT_ONCE = 256
_BEFORE_ANY_PRIORITY = -40_000

Place = tuple[str, int]
"""A queue and a priority: where a look begins or ends."""


@dataclass(slots=True)
class Lane:
    """A (queue, priority) with pending executions; its first one is due in `due_in` seconds.

    The next claim begins after `claimed_to`, an `available_at`, as text, and an `id`. At first that
    is right before the first execution, later it is the last claimed one. Earlier rows are found
    when the lanes are listed again.
    """

    queue: str
    priority: int
    due_in: float
    claimed_to: dict[str, Any] | None = None
    first_id: int = 0


@dataclass(frozen=True, slots=True)
class Look:
    """The lanes that a look found, in the order to claim from.

    If there may be more lanes, the next look continues behind `end`. The first execution that was
    set aside is due in `aside_in` seconds.
    """

    lanes: list[Lane]
    end: Place | None
    aside_in: float

    @property
    def due(self) -> list[Lane]:
        return [lane for lane in self.lanes if lane.due_in <= 0]

    @property
    def not_due(self) -> list[Lane]:
        """The lanes that are due later, the soonest first."""
        later = (lane for lane in self.lanes if lane.due_in > 0)
        return sorted(later, key=lambda lane: lane.due_in)


def find_lanes(queues: Sequence[str] = (), after: Place | None = None) -> Look:
    """Look; bring back executions that are due, and set aside those that make a look long."""
    found = look(queues, after)
    if found.aside_in <= 0:
        _move(_due_aside(), IN_LANE)
        found = look(queues, after)
    in_the_way = found.not_due[0 if found.end else _MAX_NOT_DUE :]
    if in_the_way:
        # Only the first execution of each lane: nearly all such lanes have no other.
        _move(_in_lane([lane.first_id for lane in in_the_way]), F("available_at"))
    return found


def look(queues: Sequence[str] = (), after: Place | None = None, maximum: int = MAX_LANES) -> Look:
    """Find the first lanes of these queues (none given: all), or the first `after` a place."""
    chains = [after or ("", _BEFORE_ANY_PRIORITY)]
    if queues:
        chains = [(queue, _BEFORE_ANY_PRIORITY) for queue in sorted(queues)]
        if after:
            chains = [after, *(place for place in chains if place[0] > after[0])]
    *rows, (_, _, aside_in, _, _) = _rows(chains, maximum, is_limited=bool(queues))
    lanes = [
        Lane(queue, priority, float(due_in), {"available_at": time, "id": pk - 1}, pk)
        for queue, priority, due_in, time, pk in rows
    ]
    end = (lanes[-1].queue, lanes[-1].priority) if len(lanes) == maximum else None
    lanes.sort(key=lambda lane: (-lane.priority, lane.due_in))
    return Look(lanes, end, float("inf") if aside_in is None else float(aside_in))


def _due_aside() -> JobExecutionQuerySet:
    aside = JobExecution.objects.pending().filter(aside_until__gt=IN_LANE)
    return aside.filter(aside_until__lte=DatabaseNow()).order_by("aside_until")


def _in_lane(ids: Sequence[int]) -> JobExecutionQuerySet:
    return JobExecution.objects.pending().in_lane().filter(id__in=ids).order_by("id")


def _move(executions: JobExecutionQuerySet, aside_until: Any) -> None:
    """Change the `aside_until` of some of the executions; locked ones stay for later."""
    with write_transaction(settings.DATABASE):
        connection = connections[settings.DATABASE]
        dialect_for(settings.DATABASE).reach_rows_by_key(connection, _MAX_MOVED)
        locked = executions.select_for_update(skip_locked=True)
        ids = list(locked.values_list("id", flat=True)[:_MAX_MOVED])
        JobExecution.objects.filter(id__in=ids).update(aside_until=aside_until)


def _rows(chains: Sequence[Place], maximum: int, *, is_limited: bool) -> list[tuple[Any, ...]]:
    """Return a row for each lane behind the start of a chain, and one for what is set aside.

    A chain of a limited look stays in its queue.
    """
    alias = settings.DATABASE
    with connections[alias].cursor() as cursor:
        if not dialect_for(alias).steps_by_index:
            return _rows_in_steps(chains, maximum, cursor, is_limited=is_limited)
        starts: list[str | int] = []
        for queue, priority in chains:
            starts += [queue, priority] if is_limited else [queue, priority, queue]
        cursor.execute(_look_sql(alias, len(chains), is_limited), [*starts, maximum, maximum])
        return list(cursor.fetchall())


def _rows_in_steps(
    chains: Sequence[Place], maximum: int, cursor: CursorWrapper, *, is_limited: bool
) -> list[tuple[Any, ...]]:
    """Do the same with several statements; each reads more executions than the one before.

    So one statement finds many lanes that have few executions, and steps over a long lane.
    """
    sql = _steps_sql(settings.DATABASE, is_limited)
    rows: list[tuple[Any, ...]] = []
    size = 1
    for chain in chains:
        place: Place | None = chain
        while place and len(rows) < maximum:
            queue, priority = place
            start: list[str | int] = [queue, priority, size]
            if not is_limited:
                start += [queue, size]
            cursor.execute(sql, start)
            *found, aside = cursor.fetchall()
            in_queue = [row for row in found if row[0] == place[0]]
            if len(in_queue) == size:
                # The queue may have more lanes, which come before those of other queues.
                found = in_queue
            rows += [next(lane) for _, lane in groupby(found, key=itemgetter(0, 1))]
            place = found[-1][:2] if len(found) >= size else None
            size = min(2 * size, _MAX_AT_ONCE)
    return [*rows[:maximum], aside]


@cache
def _look_sql(alias: str, chains: int, is_limited: bool) -> str:
    """Select all lanes, stepping inside the database."""
    table = _table(alias)
    columns = "f.queue, f.priority, f.available_at, f.id"
    first = _next_id_sql(alias, "%s", "%s", is_limited)
    following = _next_id_sql(alias, "lane.queue", "lane.priority", is_limited)
    starts = " UNION ALL ".join(
        f"SELECT {columns}, {chain}, 1 FROM {table} f WHERE f.id = {first}"  # noqa: S608 - our names
        for chain in range(chains)
    )
    return f"""
        WITH RECURSIVE lane (queue, priority, available_at, id, chain, place) AS (
            {starts}
            UNION ALL
            SELECT {columns}, lane.chain, lane.place + 1
            FROM lane {dialect_for(alias).join_one_by_one_sql(table, "f", f"f.id = {following}")}
            WHERE lane.place < %s
        )
        SELECT * FROM (
            SELECT {_columns_sql(alias, "lane")} FROM lane ORDER BY chain, place LIMIT %s
        ) AS lanes
        UNION ALL
        {_aside_sql(alias)}
    """  # noqa: S608 - our names


@cache
def _steps_sql(alias: str, is_limited: bool) -> str:
    """Select the first executions behind a place."""
    columns = _columns_sql(alias, "n")
    selects = [_in_queue_sql(alias, columns, "%s", "%s", "%s")]
    if not is_limited:
        selects.append(_beyond_sql(alias, columns, "%s", "%s"))
    return " UNION ALL ".join([*(f"({select})" for select in selects), _aside_sql(alias)])


def _next_id_sql(alias: str, queue: str, priority: str, is_limited: bool) -> str:
    """Return SQL for the id of the first execution of the lane that comes after the given one."""
    in_queue = f"({_in_queue_sql(alias, 'n.id', queue, priority, '1')})"
    if is_limited:
        return in_queue
    return f"COALESCE({in_queue}, ({_beyond_sql(alias, 'n.id', queue, '1')}))"


# Two statements, and no column in ORDER BY that the filter fixes: so every database begins at the
# right place in the index, even if the table was never analysed.
def _in_queue_sql(alias: str, columns: str, queue: str, priority: str, limit: str) -> str:
    return f"""
        SELECT {columns} FROM {_table(alias)} n
        WHERE {_in_lane_sql(alias)} AND n.queue = {queue} AND n.priority > {priority}
        ORDER BY n.priority, n.available_at, n.id LIMIT {limit}
    """  # noqa: S608 - our names


def _beyond_sql(alias: str, columns: str, queue: str, limit: str) -> str:
    return f"""
        SELECT {columns} FROM {_table(alias)} n
        WHERE {_in_lane_sql(alias)} AND n.queue > {queue}
        ORDER BY n.queue, n.priority, n.available_at, n.id LIMIT {limit}
    """  # noqa: S608 - our names


def _in_lane_sql(alias: str) -> str:
    return f"n.status = 'PENDING' AND n.aside_until = {dialect_for(alias).epoch_sql}"


def _aside_sql(alias: str) -> str:
    """Select how soon the first execution that was set aside is due, in the columns of a lane."""
    dialect = dialect_for(alias)
    return f"""
        SELECT NULL, NULL, (
            SELECT {dialect.seconds_until_sql("n.aside_until")} FROM {_table(alias)} n
            WHERE n.status = 'PENDING' AND n.aside_until > {dialect.epoch_sql}
            ORDER BY n.aside_until LIMIT 1
        ), NULL, NULL
    """  # noqa: S608 - our names


def _columns_sql(alias: str, row: str) -> str:
    due_in = dialect_for(alias).seconds_until_sql(f"{row}.available_at")
    # As text, because only the database uses it.
    time = f"CAST({row}.available_at AS {TextField().cast_db_type(connections[alias])})"
    return f"{row}.queue, {row}.priority, {due_in} AS due_in, {time} AS time, {row}.id"


def _table(alias: str) -> str:
    return connections[alias].ops.quote_name(JobExecution._meta.db_table)
