"""When a batch is refused: each outcome for itself, the late ones dropped."""

from __future__ import annotations

import logging
import uuid
from typing import Any

import pytest

from jobu import outcomes
from jobu.attempts import Attempt
from jobu.dialects import DatabaseNow
from jobu.models import JobExecution, Status
from jobu.outcomes import Outcome
from jobu.queue.actions import cancel
from jobu.queue.rescue import rescue
from jobu.queue.settle import settle_one_by_one
from tests.builders import claim_now, claimed, failure, row_of, settle_now, snapshot

pytestmark = pytest.mark.django_db


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]


def success(attempt: Attempt) -> Outcome:
    return outcomes.succeeded(attempt, '"done"')


def retry(attempt: Attempt) -> Outcome:
    return failure(attempt, delay=600)


def timeout(attempt: Attempt) -> Outcome:
    return outcomes.timed_out(attempt, "Traceback: …", retry_delay=None)


def test_each_outcome_is_stored_and_returned_in_its_order() -> None:
    attempts = claimed(5)
    kinds = (success, retry, failure, timeout, outcomes.released)
    given = [kind(attempt) for kind, attempt in zip(kinds, attempts, strict=True)]
    assert settle_one_by_one(given) == given
    assert [row_of(attempt).status for attempt in attempts] == [
        Status.SUCCESS,
        Status.PENDING,
        Status.FAILED,
        Status.TIMEOUT,
        Status.PENDING,
    ]


def test_nothing_to_settle_is_nothing() -> None:
    assert settle_one_by_one([]) == []


@pytest.mark.parametrize("kind", [success, retry, failure, timeout, outcomes.released])
def test_a_late_outcome_is_dropped_with_a_line_in_the_log(
    kind: Any, caplog: pytest.LogCaptureFixture
) -> None:
    [lost] = claimed()
    rescue()
    JobExecution.objects.update(available_at=DatabaseNow(-1))
    [again] = claim_now()
    settle_now(outcomes.succeeded(again, '"of the second run"'))
    before = snapshot()
    caplog.clear()
    assert settle_one_by_one([kind(lost)]) == []
    assert snapshot() == before
    [line] = warnings(caplog)
    assert f"execution {lost.execution_id} (echo, attempt 1): late result" in line


def test_the_others_of_the_batch_are_kept() -> None:
    first, lost, last = claimed(3)
    given = [success(first), success(lost._replace(claimed_by=uuid.uuid4())), retry(last)]
    assert settle_one_by_one(given) == [given[0], given[2]]
    assert [row_of(attempt).status for attempt in (first, lost, last)] == [
        Status.SUCCESS,
        Status.RUNNING,
        Status.PENDING,
    ]


@pytest.mark.parametrize("kind", [success, retry, failure, timeout, outcomes.cancelled])
def test_an_outcome_that_an_unanswered_commit_stored_is_not_late(
    kind: Any, caplog: pytest.LogCaptureFixture
) -> None:
    [attempt] = claimed()
    outcome = kind(attempt)
    settle_now(outcome)
    before = snapshot()
    assert settle_one_by_one([outcome]) == [outcome]
    assert snapshot() == before
    assert warnings(caplog) == []


def test_a_retry_that_an_unanswered_commit_stored_as_cancelled_is_not_late(
    caplog: pytest.LogCaptureFixture,
) -> None:
    [attempt] = claimed()
    cancel(attempt.execution_id)
    outcome = retry(attempt)
    settle_now(outcome)
    assert row_of(attempt).status == Status.CANCELLED
    assert settle_one_by_one([outcome]) == [outcome]
    assert warnings(caplog) == []


def test_what_an_atomic_run_stored_itself_is_not_late(caplog: pytest.LogCaptureFixture) -> None:
    stored, other = claimed(2)
    settle_now(success(stored))
    given = [success(stored)._replace(is_stored=True), success(other)]
    assert settle_one_by_one(given) == given
    assert warnings(caplog) == []


def test_a_failure_is_late_if_the_rescue_was_first_to_fail_its_last_attempt(
    caplog: pytest.LogCaptureFixture,
) -> None:
    [attempt] = claimed(max_retry=1)
    [rescued] = rescue()
    caplog.clear()
    assert settle_one_by_one([failure(attempt)]) == []
    assert row_of(attempt).error_message == rescued.message
    assert "late result FAILED dropped" in warnings(caplog)[0]
