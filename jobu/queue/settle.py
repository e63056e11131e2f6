"""Settle outcomes: the results of runs, written in batches and fenced.

There are three statements: one for a plain success, one for a success with a result, and one that
can write any outcome. Nearly all outcomes are plain successes, and their statement takes half the
time of the last one, because it sends less.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from django.db import DataError, IntegrityError, connections

from jobu import logs
from jobu.conf import settings
from jobu.dialects import dialect_for
from jobu.exceptions import LateOutcomesError
from jobu.jsonable import ExactEncoder, json_arrays
from jobu.models import JobExecution
from jobu.outcomes import Status, unsettleable
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from jobu.dialects.base import Dialect
    from jobu.outcomes import Outcome

_CHUNK_CHARACTERS = 1_000_000
_LATEST_DEATH_SECONDS = 1.0
"""How long before its settle an execution can have died."""

REFUSED = (LateOutcomesError, DataError, IntegrityError)
"""The errors of `settle` that an outcome causes, not the state of the database."""


class Settlement:
    """Outcomes as statements, which may be made before the transaction: it takes a while."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        self._outcomes = outcomes
        self._statements = list(_statements(outcomes))

    def write(self) -> None:
        """Write the outcomes. Call it inside a `write_transaction`.

        Raises one of `REFUSED` if not all of them could be written; then roll back and settle them
        with `settle_one_by_one`.
        """
        if not self._outcomes:
            return
        connection = connections[settings.DATABASE]
        changed = 0
        with connection.cursor() as cursor:
            for sql, params in self._statements:
                cursor.execute(sql, params)
                changed += cursor.rowcount
        if changed != len(self._outcomes):
            raise LateOutcomesError(f"{len(self._outcomes) - changed} attempts are no longer held.")
        given_back = {
            outcome.attempt.queue
            for outcome in self._outcomes
            if outcome.status is Status.PENDING and not outcome.delay
        }
        if given_back:
            dialect_for(settings.DATABASE).announce(connection, sorted(given_back))


def settle(outcomes: Sequence[Outcome]) -> None:
    """Write the outcomes, as `Settlement.write` does."""
    Settlement(outcomes).write()


def settle_one_by_one(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Settle each outcome by itself and return those that were written.

    A late one is dropped; one that the database refuses to store becomes a failure.
    """
    settled: list[Outcome] = []
    for outcome in outcomes:
        try:
            settled.append(_settle_alone(outcome))
        except LateOutcomesError:
            if _is_stored(outcome):
                settled.append(outcome)
            else:
                logs.late(outcome)
    return settled


def _settle_alone(outcome: Outcome) -> Outcome:
    try:
        with write_transaction(settings.DATABASE):
            settle([outcome])
    except (DataError, IntegrityError) as error:
        logs.unsettleable(outcome.attempt, error)
        outcome = unsettleable(outcome, error)
        with write_transaction(settings.DATABASE):
            settle([outcome])
    return outcome


def _is_stored(outcome: Outcome) -> bool:
    """Tell whether the outcome is stored, by a commit whose answer was lost."""
    attempt = outcome.attempt
    row = JobExecution.objects.filter(id=attempt.execution_id).first()
    if row is None:
        return False
    if outcome.error is not None:
        # A rescue would have left another error.
        return outcome.error in row.errors
    if outcome.status is Status.PENDING:
        number = attempt.number if outcome.counted else attempt.number - 1
        return row.status == Status.PENDING and row.attempt == number
    return (row.claimed_by, row.attempt, row.status) == (
        attempt.claimed_by,
        attempt.number,
        outcome.status,
    )


def _statements(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, list[Any]]]:
    connection = connections[settings.DATABASE]
    process_field = JobExecution._meta.get_field("claimed_by")
    now = time.monotonic()
    for (_, statement), alike in _sorted_out(outcomes).items():
        holder = process_field.get_db_prep_value(alike[0].attempt.claimed_by, connection)
        rows = [statement.row(outcome, now) for outcome in alike]
        for chunk in json_arrays(rows, _CHUNK_CHARACTERS):
            yield statement.sql(settings.DATABASE), [chunk, holder]


def _sorted_out(outcomes: Sequence[Outcome]) -> dict[tuple[int, _Statement], list[Outcome]]:
    """Return the outcomes by the process that held them and the statement that writes them."""
    sorted_out: dict[tuple[int, _Statement], list[Outcome]] = {}
    for outcome in outcomes:
        key = outcome.attempt.claimed_by.int, _statement_for(outcome)
        if key not in sorted_out:
            sorted_out[key] = []
        sorted_out[key].append(outcome)
    return sorted_out


@dataclass(frozen=True, eq=False)
class _Statement:
    """The columns of an outcome's row, the assignments made of them, and the row as JSON.

    Times are sent as seconds ago. JSON values are sent as text, so that no database's JSON
    functions change their numbers.
    """

    columns: Mapping[str, str]
    assignments: Callable[[Dialect], Mapping[str, str]]
    row: Callable[[Outcome, float], str]

    @cache  # noqa: B019 - there are three of them, for ever
    def sql(self, alias: str) -> str:
        dialect = dialect_for(alias)
        table = connections[alias].ops.quote_name(JobExecution._meta.db_table)
        return dialect.settle_sql(table, self.columns, self.assignments(dialect))


def _statement_for(outcome: Outcome) -> _Statement:
    """Return the shortest statement that can write the outcome."""
    if (
        outcome.status is not Status.SUCCESS
        or outcome.started is None
        or outcome.progress is not None
    ):
        return _ANY_OUTCOME
    return _SUCCESS if outcome.result is None else _SUCCESS_WITH_RESULT


def _row(outcome: Outcome, now: float, *rest: Any) -> str:
    # Not by `json.dumps`, which is slower: the worker's loop waits for each row. In microseconds:
    # no database keeps more digits, and a shorter text is read faster.
    attempt, started, finished = outcome.attempt, outcome.started, outcome.finished
    started_ago = "null" if started is None else f"{now - started if started < now else 0:.6f}"
    finished_ago = f"{now - finished if finished and finished < now else 0:.6f}"
    row = f"[{attempt.execution_id},{attempt.number},{started_ago},{finished_ago}]"
    return f"{row[:-1]},{json.dumps(rest)[1:]}" if rest else row


def _row_with_result(outcome: Outcome, now: float) -> str:
    return _row(outcome, now, outcome.result)


def _row_with_everything(outcome: Outcome, now: float) -> str:
    if outcome.is_dead and outcome.finished is not None:
        # After an outage the run may be long over, but nobody could see it die before. Who looks
        # for what died since the last look must not have looked beyond that time already.
        outcome = outcome._replace(finished=max(outcome.finished, now - _LATEST_DEATH_SECONDS))
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
_SUCCESS = _Statement(_SUCCESS_COLUMNS, lambda dialect: dialect.success_assignments("NULL"), _row)
_SUCCESS_WITH_RESULT = _Statement(
    _RESULT_COLUMNS,
    lambda dialect: dialect.success_assignments(dialect.json_sql("o.result")),
    _row_with_result,
)
_ANY_OUTCOME = _Statement(
    _ALL_COLUMNS, lambda dialect: dialect.outcome_assignments(), _row_with_everything
)
