"""The statements that write outcomes: a lean one for plain successes, one that can write anything.

Nearly all outcomes are plain successes, and what is not sent need not be read: their statement
takes half the time of the other.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from django.db import connections

from jobu.dialects import dialect_for
from jobu.jsonable import ExactEncoder
from jobu.models import JobExecution
from jobu.outcomes import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jobu.dialects.base import Dialect
    from jobu.outcomes import Outcome


@dataclass(frozen=True, eq=False)
class SettleStatement:
    """Which columns an outcome's row has, what is made of them, and how to make the row's JSON.

    Times are sent as seconds ago. JSON values travel as text, so that no database's JSON
    functions touch their numbers.
    """

    columns: Mapping[str, str]
    assignments: Callable[[Dialect], Mapping[str, str]]
    row: Callable[[Outcome, float], str]

    @cache  # noqa: B019 - there are three of them, for ever
    def sql(self, alias: str) -> str:
        dialect = dialect_for(alias)
        table = connections[alias].ops.quote_name(JobExecution._meta.db_table)
        return dialect.settle_sql(table, self.columns, self.assignments(dialect))


def statement_for(outcome: Outcome) -> SettleStatement:
    """Return the leanest statement that can write the outcome."""
    if (
        outcome.status is not Status.SUCCESS
        or outcome.started is None
        or outcome.progress is not None
    ):
        return _ANY_OUTCOME
    return _SUCCESS if outcome.result is None else _SUCCESS_WITH_RESULT


def _row(outcome: Outcome, now: float, *rest: Any) -> str:
    # Written by hand, because the worker's loop, and with it the database, waits for each; in
    # microseconds, because no database keeps less and what is shorter is sooner read.
    attempt, started, finished = outcome.attempt, outcome.started, outcome.finished
    started_ago = "null" if started is None else f"{now - started if started < now else 0:.6f}"
    finished_ago = f"{now - finished if finished and finished < now else 0:.6f}"
    row = f"[{attempt.execution_id},{attempt.number},{started_ago},{finished_ago}]"
    return f"{row[:-1]},{json.dumps(rest)[1:]}" if rest else row


def _row_with_result(outcome: Outcome, now: float) -> str:
    return _row(outcome, now, outcome.result)


def _row_with_everything(outcome: Outcome, now: float) -> str:
    return _row(
        outcome,
        now,
        outcome.result,
        outcome.status.value,
        0 if outcome.counted else 1,
        outcome.retry_count,
        outcome.delay,
        outcome.message,
        None if outcome.error is None else json.dumps(outcome.error),
        None if outcome.progress is None else json.dumps(outcome.progress, cls=ExactEncoder),
    )


_SUCCESS_COLUMNS = {
    "id": "bigint",
    "attempt": "int",
    "started_ago": "float",
    "finished_ago": "float",
}
_RESULT_COLUMNS = {**_SUCCESS_COLUMNS, "result": "text"}
_ALL_COLUMNS = {
    **_RESULT_COLUMNS,
    "status": "text",
    "uncounted": "int",
    "retry_count": "int",
    "delay": "float",
    "message": "text",
    "error": "text",
    "progress": "text",
}
_SUCCESS = SettleStatement(
    _SUCCESS_COLUMNS, lambda dialect: dialect.success_assignments("NULL"), _row
)
_SUCCESS_WITH_RESULT = SettleStatement(
    _RESULT_COLUMNS,
    lambda dialect: dialect.success_assignments(dialect.json_sql("o.result")),
    _row_with_result,
)
_ANY_OUTCOME = SettleStatement(
    _ALL_COLUMNS, lambda dialect: dialect.outcome_assignments(), _row_with_everything
)
