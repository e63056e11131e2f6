"""Claim executions: PENDING → RUNNING, each by exactly one process.

Within a lane (see `jobu.queue.lanes`) the index has the executions in the order in which they are
due. So a claim reads exactly the rows that it takes: it sorts nothing and reads no row that is not
due yet, even if millions wait or are finished.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from django.db import connections
from django.db.models import BooleanField, TextField
from django.db.models.expressions import RawSQL
from django.db.models.functions import Cast

from jobu.attempts import Attempt
from jobu.conf import settings
from jobu.dialects import dialect_for
from jobu.exceptions import JobuError
from jobu.models import JobExecution
from jobu.outcomes import FINISHED, Status

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from django.db.backends.utils import CursorWrapper
    from django.db.models import QuerySet

    from jobu.models.job_execution import JobExecutionQuerySet
    from jobu.queue.lanes import Lane

    _Query = tuple[str, Sequence[Any]]

_TIME = Cast("available_at", TextField())
"""As text, because only the database uses it."""
_COLUMNS = (
    "id",
    "attempt",
    "handler_name",
    "params",
    "retry_count",
    "max_retry",
    "timeout_seconds",
    _TIME,
)
_RETURNED = (
    "id, attempt - 1, handler_name, params, retry_count, max_retry, timeout_seconds, available_at"
)
"""The same columns of a row that the statement itself has marked."""
_LIMIT = 999_999_999
"""The placeholder of the limit in a compiled query."""
_MARKS: dict[str, str | int] = {
    "queue": "jobu: the queue of the lane",
    # A number, as the field wants one; no other parameter is 0.
    "priority": 0,
    "available_at": "jobu: the time up to which was claimed",
    "id": "jobu: the id up to which was claimed",
}
"""The placeholders of the values of a `Lane` in it."""
_NOT_PENDING = ", ".join(f"'{status}'" for status in (Status.RUNNING, *FINISHED))
_IS_PENDING = f"status NOT IN ({_NOT_PENDING})"
"""Not `= 'PENDING'`: for that PostgreSQL may read the whole index of pending rows."""


def claim(
    lanes: Sequence[Lane], limit: int, process_id: UUID, *, free: int | None = None
) -> list[Attempt]:
    """Claim up to `limit` due executions. Call it inside a `write_transaction`.

    Only the first `free` of them (all, if not given) start at once, and the others wait for a slot.
    When this process dies, nobody can tell which of them had started, and each loses a run. So an
    execution that would have to wait is claimed only for its first run, and only if it may run
    again. A job that kills its worker again and again then costs only the jobs that run beside it.
    """
    attempts: list[Attempt] = []
    with connections[settings.DATABASE].cursor() as cursor:
        for lane in lanes:
            left = limit - len(attempts)
            if left <= 0:
                break
            if lane.due_in <= 0:
                starting = left if free is None else max(0, free - len(attempts))
                rows = _lock_in(lane, left, starting, cursor)
                attempts += _attempts(rows, lane, process_id)
        if attempts:
            _mark([attempt.execution_id for attempt in attempts], process_id, cursor)
    return attempts


def claim_in_one_statement(lane: Lane, limit: int, process_id: UUID) -> list[Attempt]:
    """Claim up to `limit` due executions, which all start at once, with one statement.

    For a dialect that `claims_in_one_statement`, and outside of a transaction.
    """
    connection = connections[settings.DATABASE]
    sql, params = _filled_in(_claim_in_one_statement_query(connection.alias), lane, limit)
    with connection.cursor() as cursor:
        cursor.execute(sql, [_process(process_id), *params])
        rows = cursor.fetchall()
    # An UPDATE returns its rows in any order.
    rows.sort(key=lambda row: (row[-1], row[0]))
    return _attempts(rows, lane, process_id)


def _lock_in(
    lane: Lane, limit: int, starting: int, cursor: CursorWrapper
) -> Sequence[tuple[Any, ...]]:
    """Lock and return rows of `_COLUMNS`; the first ones start, the others are able to wait."""
    query = _select_query(settings.DATABASE, lane.claimed_to is not None)
    cursor.execute(*_filled_in(query, lane, limit))
    found = cursor.fetchall()
    rows = [row for index, row in enumerate(found) if index < starting or _may_wait(row[4], row[5])]
    if rows and len(rows) == len(found):
        lane.claimed_to = {"available_at": rows[-1][-1], "id": rows[-1][0]}
    return rows


def _mark(ids: Sequence[int], process_id: UUID, cursor: CursorWrapper) -> None:
    # The status is checked again, so that correctness does not depend on row locks alone.
    where = f"id IN ({','.join(map(str, ids))}) AND {_IS_PENDING}"
    cursor.execute(f"{_mark_sql(settings.DATABASE)} WHERE {where}", [_process(process_id)])
    if cursor.rowcount != len(ids):
        raise JobuError(f"Claimed {cursor.rowcount} of {len(ids)} locked executions; rolled back.")


def _attempts(rows: Sequence[tuple[Any, ...]], lane: Lane, process_id: UUID) -> list[Attempt]:
    """Make attempts of rows of `_COLUMNS`."""
    if not rows:
        return []
    # One call for all params: most are so short that a call costs more than parsing them.
    params = json.loads(f"[{','.join([row[3] for row in rows])}]")
    queue = lane.queue
    return [
        Attempt(pk, number + 1, process_id, name, own_params, queue, retries, max_retry, timeout)
        for (pk, number, name, _, retries, max_retry, timeout, _), own_params in zip(
            rows, params, strict=True
        )
    ]


def _filled_in(query: _Query, lane: Lane, limit: int) -> _Query:
    """Return a compiled query with the limit and the lane's values instead of placeholders."""
    sql, params = query
    values = {"queue": lane.queue, "priority": lane.priority, **(lane.claimed_to or {})}
    by_mark = {_MARKS[name]: value for name, value in values.items()}
    return sql.replace(str(_LIMIT), str(limit)), [by_mark.get(param, param) for param in params]


@cache
def _select_query(alias: str, goes_on: bool) -> _Query:
    executions = _to_claim(alias)
    after = dialect_for(alias).after_claimed_sql
    if after and goes_on:
        marks = [_MARKS[column] for column in after[1:]]
        after_claimed = RawSQL(after[0], marks, output_field=BooleanField())  # noqa: S611 - ours
        executions = executions.filter(after_claimed)
    locked = executions.select_for_update(skip_locked=True)
    return _compiled(locked.values_list(*_COLUMNS)[:_LIMIT], alias)


@cache
def _claim_in_one_statement_query(alias: str) -> _Query:
    ids, params = _compiled(_to_claim(alias).values_list("id")[:_LIMIT], alias)
    dialect = dialect_for(alias)
    return dialect.claim_in_one_statement_sql(_mark_sql(alias), ids, _IS_PENDING, _RETURNED), params


def _to_claim(alias: str) -> JobExecutionQuerySet:
    executions = JobExecution.objects.using(alias).claimable().in_lane()
    in_lane = executions.filter(queue=_MARKS["queue"], priority=_MARKS["priority"])
    return in_lane.order_by("available_at", "id")


@cache
def _mark_sql(alias: str) -> str:
    table = connections[alias].ops.quote_name(JobExecution._meta.db_table)
    return (
        f"UPDATE {table} SET status = '{Status.RUNNING}', claimed_by = %s, "  # noqa: S608 - ours
        f"attempt = attempt + 1, started_at = {dialect_for(alias).now_sql()}"
    )


def _process(process_id: UUID) -> Any:
    """Return the process's id in the form the database needs."""
    field = JobExecution._meta.get_field("claimed_by")
    return field.get_db_prep_value(process_id, connections[settings.DATABASE])


def _may_wait(retry_count: int, max_retry: int) -> bool:
    return retry_count == 0 and max_retry > 1


def _compiled(executions: QuerySet[Any, Any], alias: str) -> _Query:
    """Return the query's SQL and params; cache them, because building takes longer than running."""
    sql, params = executions.query.get_compiler(using=alias).as_sql()
    return sql, params
