"""Retry, by hand, what is out of attempts."""

from __future__ import annotations

import pytest

from jobu import retry
from jobu.models import JobExecution, Status
from tests.builders import (
    attempt_of,
    claim_now,
    database_now,
    failure,
    finished,
    pending,
    row_of,
    running,
    settle_now,
    snapshot,
)
from tests.connections import patiently, rolled_back, together

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("status", [Status.FAILED, Status.TIMEOUT, Status.CANCELLED])
def test_a_dead_execution_goes_back_with_all_its_attempts(status: Status) -> None:
    execution = finished(
        status,
        attempt=3,
        retry_count=3,
        max_retry=3,
        cancel_requested=True,
        progress={"done": 1},
        errors=[{"attempt": 3, "message": "no luck"}],
        error_message="no luck",
    )
    before = database_now()
    assert retry(execution) is True
    execution.refresh_from_db()
    assert (execution.status, execution.retry_count, execution.attempt) == ("PENDING", 0, 3)
    assert (execution.claimed_by, execution.started_at, execution.finished_at) == (None,) * 3
    assert (execution.cancel_requested, execution.progress) == (False, None)
    assert execution.errors == [{"attempt": 3, "message": "no luck"}]
    assert before <= execution.available_at <= database_now()
    [attempt] = claim_now()
    assert (attempt.number, attempt.retry_count, attempt.max_retry) == (4, 0, 3)


def test_a_retried_execution_may_fail_as_often_as_a_new_one() -> None:
    execution = running(max_retry=2, retry_count=1)
    settle_now(failure(attempt_of(execution), delay=0))
    assert retry(execution)
    [first] = claim_now()
    settle_now(failure(first, delay=0))
    [second] = claim_now()
    settle_now(failure(second, delay=0))
    final = row_of(second)
    assert (final.status, final.retry_count, final.attempt) == (Status.FAILED, 2, 3)
    assert [error["attempt"] for error in final.errors] == [1, 2, 3]


@pytest.mark.parametrize("make", [pending, running, finished])
def test_what_waits_runs_or_succeeded_stays_as_it_is(make: object) -> None:
    execution = make()  # type: ignore[operator]
    before = snapshot()
    assert retry(execution) is False
    assert snapshot() == before


def test_an_execution_can_be_named_by_its_id() -> None:
    execution = finished(Status.FAILED)
    assert retry(execution.pk + 1) is False
    assert retry(execution.pk) is True
    assert JobExecution.objects.get().status == Status.PENDING


def test_only_the_one_is_retried() -> None:
    execution, other = finished(Status.FAILED), finished(Status.FAILED)
    retry(execution)
    other.refresh_from_db()
    assert other.status == Status.FAILED


def test_a_rollback_takes_the_retry_back() -> None:
    execution = finished(Status.FAILED)
    before = snapshot()
    with rolled_back():
        assert retry(execution)
    assert snapshot() == before


@pytest.mark.django_db(transaction=True)
def test_two_who_retry_at_the_same_moment_retry_once() -> None:
    for _ in range(10):
        execution = finished(Status.FAILED)
        answers = together(*[lambda e=execution: patiently(lambda: retry(e))] * 2)
        assert sorted(answers) == [False, True]
    assert len(claim_now()) == 10
