"""Settle outcomes: what runs came to, written in batches and fenced."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from django.db import DataError, IntegrityError, connections

from jobu import logs
from jobu.conf import settings
from jobu.dialects import dialect_for
from jobu.exceptions import LateOutcomesError
from jobu.models import JobExecution
from jobu.outcomes import Status, unsettleable
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from jobu.outcomes import Outcome

_CHUNK_CHARACTERS = 1_000_000

REFUSED = (LateOutcomesError, DataError, IntegrityError)
"""What `settle` raises because of an outcome, rather than because of the database's state."""


def settle(outcomes: Sequence[Outcome]) -> None:
    """Write the outcomes. Call it inside a `write_transaction`.

    Raises one of `REFUSED` if not all of them could be written; then roll back and settle them
    with `settle_one_by_one`.
    """
    if not outcomes:
        return
    connection = connections[settings.DATABASE]
    table = connection.ops.quote_name(JobExecution._meta.db_table)
    sql = dialect_for(settings.DATABASE).settle_sql(table)
    changed = 0
    with connection.cursor() as cursor:
        now = time.monotonic()
        for rows in _chunks([_row(outcome, now) for outcome in outcomes]):
            cursor.execute(sql, [rows])
            changed += cursor.rowcount
    if changed != len(outcomes):
        raise LateOutcomesError(f"{len(outcomes) - changed} attempts are no longer held.")
    given_back = {o.attempt.queue for o in outcomes if o.status is Status.PENDING and not o.delay}
    if given_back:
        dialect_for(settings.DATABASE).announce(connection, sorted(given_back))


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


def _chunks(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the rows as JSON arrays, none much larger than a parameter should be."""
    text = json.dumps(rows)
    if len(text) <= _CHUNK_CHARACTERS or len(rows) == 1:
        yield text
        return
    half = len(rows) // 2
    yield from _chunks(rows[:half])
    yield from _chunks(rows[half:])


def _row(outcome: Outcome, now: float) -> dict[str, Any]:
    """Return the outcome as the dialects' settle statement reads it; times as seconds ago.

    What is None is left out. JSON values travel as text, so that no database's JSON functions
    touch their numbers.
    """
    attempt = outcome.attempt
    row: dict[str, Any] = {
        "id": attempt.execution_id,
        "claimed_by": attempt.claimed_by.hex,
        "attempt": attempt.number,
        "status": outcome.status.value,
        "uncounted": 0 if outcome.counted else 1,
        "retry_count": outcome.retry_count,
        "finished_ago": _ago(outcome.finished, now),
    }
    if outcome.started is not None:
        row["started_ago"] = _ago(outcome.started, now)
    if outcome.delay is not None:
        row["delay"] = outcome.delay
    if outcome.result is not None:
        row["result"] = outcome.result
    if outcome.message is not None:
        row["message"] = outcome.message
    if outcome.error is not None:
        row["error"] = json.dumps(outcome.error)
    if outcome.progress is not None:
        row["progress"] = json.dumps(outcome.progress)
    return row


def _ago(moment: float | None, now: float) -> float:
    return 0.0 if moment is None or moment > now else now - moment
