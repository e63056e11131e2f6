"""Whatever a handler returns or raises, each database gives back as it was, or says why not."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import connection

from jobu import handler, outcomes
from jobu.attempts import Attempt
from jobu.handlers.registry import handlers
from jobu.jsonable import encode
from jobu.models import Status
from jobu.outcomes import Outcome
from jobu.queue.lanes import find_lanes
from jobu.queue.settle import REFUSED, settle, settle_one_by_one
from tests.builders import claim_now, claimed, failure, row_of, settle_now, snapshot
from tests.plans import caught

pytestmark = pytest.mark.django_db

Succeeded = Callable[[Attempt, str | None], Outcome]

TRICKY = "ü 😀 \\u0000 \\ud83d \\ / ' \" `q` % %s %% %(x)s \r\n\t\x7f\u2028 <b>&amp; {} [] $.id"


@pytest.fixture(params=[None, 100.0], ids=["any-outcome", "plain-success"])
def succeeded(request: pytest.FixtureRequest) -> Succeeded:
    """Make successes for each of the statements that write them."""
    return partial(outcomes.succeeded, started=request.param)


def test_a_failure_keeps_its_message_and_traceback_letter_by_letter() -> None:
    [attempt] = claimed()
    settle_now(outcomes.failed(attempt, TRICKY, TRICKY * 10, retry_delay=None))
    execution = row_of(attempt)
    assert execution.error_message == TRICKY
    [error] = execution.errors
    assert (error["message"], error["traceback"]) == (TRICKY, TRICKY * 10)
    assert (error["attempt"], error["process"]) == (1, str(attempt.claimed_by))
    assert set(error) == {"attempt", "at", "process", "status", "message", "traceback"}


@pytest.mark.parametrize(
    "result",
    [
        0,
        -1,
        False,
        "",
        "null",
        [],
        {},
        2**31,
        2**63,
        -(2**64) - 1,
        10**300,
        0.1,
        0.1 + 0.2,
        1e-300,
        5e-324,
        1.5e15,
        123456789.12345679,
        -6.02e23,
        1.7976931348623157e308,
        TRICKY,
        {TRICKY: [TRICKY, {TRICKY: None}]},
        {"": [None, True, [[[]]], {"id": 1, "status": "FAILED", "delay": 5}]},
        ["😀" * 1000, "\\" * 1000, '"' * 1000, "%" * 1000],
        {str(n): n for n in range(1000)},
    ],
    ids=lambda result: ascii(result)[:20],
)
def test_a_result_comes_back_as_it_went_in(result: Any, succeeded: Succeeded) -> None:
    [attempt] = claimed()
    settle_now(succeeded(attempt, encode(result, "It")))
    stored = row_of(attempt).result
    assert stored == result
    assert type(stored) is type(result)


def test_progress_is_kept_when_a_later_outcome_has_none(succeeded: Succeeded) -> None:
    [attempt] = claimed()
    progress = {"done": 6.02e23, "total": 2.5, "note": TRICKY}
    settle_now(failure(attempt, delay=0)._replace(progress=progress))
    assert row_of(attempt).progress == progress
    [again] = claim_now()
    settle_now(succeeded(again, None))
    assert row_of(again).progress == progress


def test_a_success_of_a_later_attempt_leaves_nothing_of_the_failure_before(
    succeeded: Succeeded,
) -> None:
    [attempt] = claimed()
    settle_now(failure(attempt, delay=0)._replace(result="1"))
    [again] = claim_now()
    settle_now(succeeded(again, None))
    execution = row_of(again)
    assert (execution.status, execution.result) == (Status.SUCCESS, None)
    assert (execution.error_message, execution.retry_count, execution.attempt) == ("", 1, 2)
    assert len(execution.errors) == 1
    assert execution.claimed_by == again.claimed_by


def test_large_outcomes_go_in_several_statements(succeeded: Succeeded) -> None:
    attempts = claimed(5)
    with caught() as statements:
        settle([succeeded(a, json.dumps("x" * 400_000)) for a in attempts])
    assert [len(s.params[0]) // 400_000 for s in statements if "UPDATE" in s.sql] == [2, 2, 1]
    assert {row_of(attempt).result for attempt in attempts} == {"x" * 400_000}


def test_a_result_of_the_largest_size_is_stored(succeeded: Succeeded) -> None:
    [attempt] = claimed()
    # Two escapes for each character: one in the result, one in what carries it.
    settle_now(succeeded(attempt, json.dumps('"' * (500 * 1024))))
    assert row_of(attempt).result == '"' * (500 * 1024)


def refused_result() -> str:
    """Return what is JSON, but not to this database."""
    return {
        "mysql": "[" * 101 + "]" * 101,
        "postgresql": "1e999999",
        "sqlite": "[" * 2001 + "]" * 2001,
    }[connection.vendor]


def test_a_batch_with_an_outcome_that_the_database_refuses_changes_nothing(
    succeeded: Succeeded,
) -> None:
    good, bad = claimed(2)
    before = snapshot()
    with pytest.raises(REFUSED):
        settle_now(succeeded(good, "1"), succeeded(bad, refused_result()))
    assert snapshot() == before


def test_an_outcome_that_the_database_refuses_fails_alone_and_says_why(
    caplog: pytest.LogCaptureFixture,
) -> None:
    first, bad, last = claimed(3)
    now = time.monotonic()
    outcome = outcomes.succeeded(bad, refused_result(), started=now - 1, finished=now)
    settled = settle_one_by_one(
        [outcomes.succeeded(first, "1"), outcome, outcomes.succeeded(last, "3")]
    )
    assert [each.status for each in settled] == [Status.SUCCESS, Status.FAILED, Status.SUCCESS]
    assert [row_of(attempt).result for attempt in (first, bad, last)] == [1, None, 3]
    execution = row_of(bad)
    assert (execution.status, execution.retry_count) == (Status.FAILED, 1)
    assert "The outcome SUCCESS could not be stored: " in execution.error_message
    assert execution.errors[0]["message"] == execution.error_message
    assert execution.finished_at is not None
    assert execution.started_at is not None
    assert round((execution.finished_at - execution.started_at).total_seconds(), 2) == 1.0
    [record] = [r for r in caplog.records if r.levelno == logging.ERROR]
    text = f"execution {bad.execution_id} (echo, attempt 1): its outcome cannot be stored"
    assert text in record.getMessage()


@pytest.mark.usefixtures("temporary_handlers")
@pytest.mark.parametrize("delay", [1e12, 3e11, 1e300])
def test_a_backoff_beyond_the_calendar_does_not_make_the_queue_unreadable(delay: float) -> None:
    @handler("own", backoff=lambda _failures: delay)
    def own() -> None: ...

    [attempt] = claimed(handler_name="own")
    retry_delay = partial(handlers.options_of("own").retry_delay, attempt)
    outcome = outcomes.failed(attempt, "no luck", "", retry_delay=retry_delay)
    assert len(settle_one_by_one([outcome])) == 1
    assert row_of(attempt).status in (Status.PENDING, Status.FAILED)
    assert all(lane.due_in > 0 for lane in find_lanes().lanes)
    assert len(claimed(queue="other")) == 1
