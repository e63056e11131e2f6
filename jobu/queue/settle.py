"""Settle outcomes: what runs came to, written in batches and fenced."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from django.db import DataError, IntegrityError, connections

from jobu import logs
from jobu.conf import settings
from jobu.dialects import dialect_for
from jobu.exceptions import LateOutcomesError
from jobu.jsonable import json_arrays
from jobu.models import JobExecution
from jobu.outcomes import Status, unsettleable
from jobu.queue.settle_statements import statement_for
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from jobu.outcomes import Outcome
    from jobu.queue.settle_statements import SettleStatement

_CHUNK_CHARACTERS = 1_000_000

REFUSED = (LateOutcomesError, DataError, IntegrityError)
"""What `settle` raises because of an outcome, rather than because of the database's state."""


class Settlement:
    """Outcomes in the form in which they are written, which takes a while to make of many."""

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
    """Tell whether an earlier commit, whose answer was lost on the way, did store the outcome."""
    attempt = outcome.attempt
    row = JobExecution.objects.filter(id=attempt.execution_id).first()
    if row is None:
        return False
    if outcome.error is not None:
        # A rescue would have left another error.
        return outcome.error in row.errors
    if not outcome.counted:
        return row.status == Status.PENDING and row.attempt == attempt.number - 1
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


def _sorted_out(outcomes: Sequence[Outcome]) -> dict[tuple[int, SettleStatement], list[Outcome]]:
    """Return the outcomes by the process that held them and the statement that writes them."""
    sorted_out: dict[tuple[int, SettleStatement], list[Outcome]] = {}
    for outcome in outcomes:
        key = outcome.attempt.claimed_by.int, statement_for(outcome)
        if key not in sorted_out:
            sorted_out[key] = []
        sorted_out[key].append(outcome)
    return sorted_out
