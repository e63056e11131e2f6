"""What a run came to, as the execution's row shows it."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from jobu import outcomes
from jobu.exceptions import LateOutcomesError
from jobu.models import JobExecution, Status
from jobu.queue.actions import cancel
from jobu.queue.settle import settle
from tests.builders import (
    attempt_of,
    claim_now,
    claimed,
    column,
    database_now,
    failure,
    finished,
    pending,
    row_of,
    running,
    settle_now,
    snapshot,
)
from tests.connections import locked_elsewhere
from tests.plans import caught

pytestmark = pytest.mark.django_db

MILLISECOND = timedelta(milliseconds=1)


def test_a_success_is_stored_with_its_result() -> None:
    [attempt] = claimed()
    settle_now(outcomes.succeeded(attempt, '{"sent": true}'))
    execution = row_of(attempt)
    assert (execution.status, execution.result) == (Status.SUCCESS, {"sent": True})
    assert (execution.claimed_by, execution.attempt) == (attempt.claimed_by, 1)
    assert (execution.retry_count, execution.error_message, execution.errors) == (0, "", [])
    assert execution.finished_at is not None


def test_a_success_without_a_result_has_none() -> None:
    [attempt] = claimed()
    settle_now(outcomes.succeeded(attempt, None))
    assert (row_of(attempt).status, row_of(attempt).result) == (Status.SUCCESS, None)
    assert JobExecution.objects.filter(result__isnull=True).count() == 1


def test_a_failure_with_attempts_left_goes_back_to_the_queue() -> None:
    [attempt] = claimed()
    before = database_now()
    settle_now(failure(attempt, delay=600))
    after = database_now()
    execution = row_of(attempt)
    assert (execution.status, execution.retry_count) == (Status.PENDING, 1)
    assert (execution.claimed_by, execution.started_at, execution.finished_at) == (None,) * 3
    assert (execution.attempt, execution.error_message) == (1, "no luck")
    late = execution.available_at - timedelta(seconds=600)
    assert before - MILLISECOND <= late <= after + MILLISECOND


def test_a_failure_without_delay_is_claimable_at_once() -> None:
    [attempt] = claimed()
    settle_now(failure(attempt, delay=0))
    [again] = claim_now()
    assert (again.number, again.retry_count) == (2, 1)


@pytest.mark.parametrize("max_retry", [0, 1])
def test_the_last_failure_is_the_end(max_retry: int) -> None:
    [attempt] = claimed(max_retry=max_retry)
    settle_now(failure(attempt, delay=600))
    execution = row_of(attempt)
    assert (execution.status, execution.retry_count) == (Status.FAILED, 1)
    assert (execution.claimed_by, execution.result) == (attempt.claimed_by, None)
    assert execution.finished_at is not None


def test_a_timeout_says_how_long_it_would_have_had() -> None:
    [attempt] = claimed(max_retry=1, timeout_seconds=7)
    settle_now(outcomes.timed_out(attempt, "Traceback: …", retry_delay=lambda _failures: 0))
    execution = row_of(attempt)
    assert execution.status == Status.TIMEOUT
    assert "timeout of 7 s" in execution.error_message
    assert execution.errors[0]["status"] == "TIMEOUT"


def test_a_cancelled_run_is_the_end_and_no_failure() -> None:
    [attempt] = claimed()
    settle_now(outcomes.cancelled(attempt))
    execution = row_of(attempt)
    assert (execution.status, execution.retry_count) == (Status.CANCELLED, 0)
    assert (execution.errors, execution.error_message) == ([], "Cancelled while it ran.")


def test_what_is_given_back_is_as_if_it_had_never_been_claimed() -> None:
    [attempt] = claimed()
    settle_now(failure(attempt, delay=0))
    [before] = snapshot()
    [again] = claim_now()
    settle_now(outcomes.released(again))
    assert snapshot() == [before]
    assert (before["attempt"], before["retry_count"]) == (1, 1)


def test_a_success_after_failures_clears_the_message_and_keeps_the_errors() -> None:
    [first] = claimed()
    settle_now(failure(first, delay=0, message="first"))
    [second] = claim_now()
    settle_now(failure(second, delay=0, message="second"))
    [third] = claim_now()
    settle_now(outcomes.succeeded(third, "3"))
    execution = row_of(third)
    assert (execution.status, execution.result, execution.error_message) == ("SUCCESS", 3, "")
    assert (execution.attempt, execution.retry_count) == (3, 2)
    assert [(e["attempt"], e["message"]) for e in execution.errors] == [(1, "first"), (2, "second")]
    assert [e["process"] for e in execution.errors] == [
        str(first.claimed_by),
        str(second.claimed_by),
    ]


def test_times_are_the_databases_even_when_an_outcome_waits_to_be_stored() -> None:
    [attempt] = claimed()
    now = time.monotonic()
    before = database_now()
    settle_now(outcomes.succeeded(attempt, None)._replace(started=now - 100, finished=now - 40))
    after = database_now()
    execution = row_of(attempt)
    assert execution.started_at is not None
    assert execution.finished_at is not None
    for moment, seconds in ((execution.started_at, 100), (execution.finished_at, 40)):
        # Between reading the monotonic clock and storing, time goes by on both clocks.
        lag = moment + timedelta(seconds=seconds) - before
        assert -(after - before) - MILLISECOND <= lag <= after - before + MILLISECOND


def test_an_outcome_without_a_start_keeps_the_time_of_the_claim() -> None:
    [attempt] = claimed()
    claimed_at = column(attempt.execution_id, "started_at")
    settle_now(failure(attempt))
    assert row_of(attempt).started_at == claimed_at


def test_an_outcome_of_the_future_is_finished_now() -> None:
    [attempt] = claimed()
    settle_now(outcomes.succeeded(attempt, None)._replace(finished=time.monotonic() + 1000))
    assert column(attempt.execution_id, "finished_at") <= database_now()


@pytest.mark.parametrize("status", [Status.PENDING, Status.SUCCESS, Status.FAILED])
def test_a_wish_to_cancel_turns_only_a_retry_into_the_end(status: Status) -> None:
    [attempt] = claimed()
    assert cancel(attempt.execution_id)
    settle_now(
        {
            Status.PENDING: failure(attempt, delay=0),
            Status.SUCCESS: outcomes.succeeded(attempt, "1"),
            Status.FAILED: failure(attempt),
        }[status]
    )
    execution = row_of(attempt)
    assert execution.status == (Status.CANCELLED if status is Status.PENDING else status)
    assert execution.finished_at is not None
    assert execution.claimed_by == attempt.claimed_by
    assert claim_now() == []


def test_what_is_given_back_is_cancelled_if_somebody_wished_so() -> None:
    [attempt] = claimed()
    cancel(attempt.execution_id)
    settle_now(outcomes.released(attempt))
    assert (row_of(attempt).status, row_of(attempt).attempt) == (Status.CANCELLED, 0)
    assert row_of(attempt).finished_at is not None


def test_a_batch_of_many_kinds_is_stored_as_if_one_by_one() -> None:
    attempts = claimed(200)
    kinds: Sequence[Any] = (
        lambda a: outcomes.succeeded(a, json.dumps({"id": a.execution_id})),
        lambda a: failure(a, delay=600),
        lambda a: failure(a, message=f"of {a.execution_id}"),
        outcomes.cancelled,
        outcomes.released,
    )
    settle_now(*(kinds[number % 5](attempt) for number, attempt in enumerate(attempts)))
    rows = [row_of(attempt) for attempt in attempts]
    expected = (Status.SUCCESS, Status.PENDING, Status.FAILED, Status.CANCELLED, Status.PENDING)
    assert [execution.status for execution in rows] == [*expected] * 40
    assert [execution.result for execution in rows[::5]] == [{"id": e.pk} for e in rows[::5]]
    assert [execution.error_message for execution in rows[2::5]] == [
        f"of {e.pk}" for e in rows[2::5]
    ]
    assert {execution.attempt for execution in rows[4::5]} == {0}


def test_no_outcomes_are_no_work() -> None:
    claimed()
    before = snapshot()
    with caught() as statements:
        settle([])
    assert statements == []
    assert snapshot() == before


@pytest.mark.parametrize("stale", ["claimed_by", "number", "finished", "pending", "gone"])
def test_an_attempt_that_is_no_longer_held_changes_nothing(stale: str) -> None:
    attempt, other = claimed(2)
    late = {
        "claimed_by": attempt._replace(claimed_by=uuid.uuid4()),
        "number": attempt._replace(number=2),
    }.get(stale, attempt)
    if stale == "finished":
        settle_now(outcomes.succeeded(attempt, '"first"'))
    if stale == "pending":
        settle_now(failure(attempt, delay=600))
    if stale == "gone":
        JobExecution.objects.filter(pk=attempt.execution_id).delete()
    before = snapshot()
    with pytest.raises(LateOutcomesError, match="1 attempts are no longer held"):
        settle_now(outcomes.succeeded(other, "1"), outcomes.succeeded(late, '"second"'))
    assert snapshot() == before


@pytest.mark.row_locks
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("count", [1, 3, 20])
def test_settling_waits_for_nobody_who_locks_other_executions(count: int) -> None:
    others = [*(running() for _ in range(count)), pending(), finished()]
    ours = running()
    with locked_elsewhere(*others):
        settle_now(outcomes.succeeded(attempt_of(ours), "1"))
    assert column(ours, "status") == Status.SUCCESS


def test_a_death_that_is_stored_late_is_found_by_those_who_look_for_new_ones() -> None:
    [attempt] = claimed()
    before = database_now()
    ran = {"started": time.monotonic() - 660, "finished": time.monotonic() - 600}
    settle_now(failure(attempt)._replace(**ran))
    execution = row_of(attempt)
    assert execution.status == Status.FAILED
    assert execution.finished_at is not None and execution.started_at is not None
    assert execution.finished_at > before - timedelta(seconds=2)
    assert execution.finished_at - execution.started_at > timedelta(seconds=600)
