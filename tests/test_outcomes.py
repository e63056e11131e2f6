"""What a run came to, and what that makes of its execution."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from jobu import outcomes
from jobu.attempts import Attempt
from jobu.outcomes import DEAD, FINISHED, Status

if TYPE_CHECKING:
    from collections.abc import Callable

PROCESS = uuid.UUID("12345678-1234-5678-1234-567812345678")


def make_attempt(*, retry_count: int = 0, max_retry: int = 3) -> Attempt:
    return Attempt(
        execution_id=42,
        number=retry_count + 1,
        claimed_by=PROCESS,
        handler_name="mail",
        params={},
        queue="default",
        retry_count=retry_count,
        max_retry=max_retry,
        timeout_seconds=60,
    )


def ten_seconds_each(failures: int) -> float:
    return failures * 10.0


def test_a_success_keeps_the_retry_count_and_clears_the_message() -> None:
    outcome = outcomes.succeeded(make_attempt(retry_count=2), '{"sent": true}')
    assert outcome.status is Status.SUCCESS
    assert (outcome.retry_count, outcome.result, outcome.message) == (2, '{"sent": true}', "")
    assert outcome.counted
    assert outcome.error is None
    assert outcome.delay is None


@pytest.mark.parametrize(
    ("retry_count", "max_retry", "retries"),
    [(0, 3, True), (1, 3, True), (2, 3, False), (3, 3, False), (0, 1, False), (0, 0, False)],
)
@pytest.mark.parametrize("status", [Status.FAILED, Status.TIMEOUT])
def test_max_retry_is_how_often_an_execution_runs_at_most(
    retry_count: int, max_retry: int, retries: bool, status: Status
) -> None:
    attempt = make_attempt(retry_count=retry_count, max_retry=max_retry)
    if status is Status.FAILED:
        outcome = outcomes.failed(attempt, "no luck", "", retry_delay=ten_seconds_each)
    else:
        outcome = outcomes.timed_out(attempt, "", retry_delay=ten_seconds_each)
    assert outcome.retry_count == retry_count + 1
    assert outcome.status is (Status.PENDING if retries else status)
    assert outcome.delay == (10.0 * (retry_count + 1) if retries else None)
    assert outcome.error is not None
    assert outcome.error["status"] == status.value


def test_a_failure_that_must_not_be_retried_is_final_at_once() -> None:
    outcome = outcomes.failed(make_attempt(max_retry=100), "no luck", "", retry_delay=None)
    assert (outcome.status, outcome.retry_count, outcome.delay) == (Status.FAILED, 1, None)


def test_a_failure_tells_what_happened_in_which_attempt() -> None:
    attempt = make_attempt(retry_count=1)
    outcome = outcomes.failed(attempt, "no luck", "Traceback …", retry_delay=None)
    assert outcome.message == "no luck"
    assert outcome.error is not None
    at = datetime.fromisoformat(outcome.error.pop("at"))
    assert at.utcoffset() is not None
    assert outcome.error == {
        "attempt": 2,
        "process": str(PROCESS),
        "status": "FAILED",
        "message": "no luck",
        "traceback": "Traceback …",
    }


def test_a_long_traceback_is_shortened_and_keeps_its_end() -> None:
    outcome = outcomes.failed(make_attempt(), "no luck", "x" * 50_000 + "\0end", retry_delay=None)
    assert outcome.error is not None
    assert len(outcome.error["traceback"]) <= outcomes.MAX_TRACEBACK_LENGTH
    assert outcome.error["traceback"].endswith("x\\x00end")


def test_a_timeout_names_the_timeout() -> None:
    outcome = outcomes.timed_out(make_attempt(max_retry=1), "", retry_delay=ten_seconds_each)
    assert outcome.status is Status.TIMEOUT
    assert outcome.message == "The handler ran longer than its timeout of 60 s."


def test_a_cancelled_run_is_no_failure() -> None:
    outcome = outcomes.cancelled(make_attempt(retry_count=1))
    assert (outcome.status, outcome.retry_count) == (Status.CANCELLED, 1)
    assert outcome.message == "Cancelled while it ran."
    assert outcome.error is None


def test_a_released_run_is_as_if_it_had_never_been_claimed() -> None:
    outcome = outcomes.released(make_attempt(retry_count=1))
    assert (outcome.status, outcome.retry_count) == (Status.PENDING, 1)
    assert not outcome.counted
    assert (outcome.message, outcome.error, outcome.delay) == (None, None, None)


def test_an_outcome_that_cannot_be_stored_becomes_a_final_failure() -> None:
    done = outcomes.succeeded(make_attempt(), '"too odd"')
    success = done._replace(started=5.0, finished=7.5)
    outcome = outcomes.unsettleable(success, ValueError("no such character"))
    assert outcome.status is Status.FAILED
    assert outcome.result is None
    assert outcome.message == (
        "The outcome SUCCESS could not be stored: ValueError: no such character"
    )
    assert outcome.seconds == 2.5


def test_a_run_that_never_started_took_no_time() -> None:
    assert outcomes.released(make_attempt()).seconds == 0.0


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even this")


@pytest.mark.parametrize(
    ("error", "start"),
    [
        (ValueError("no such user"), "ValueError: no such user"),
        (ValueError(), "ValueError"),
        (KeyError("id"), "KeyError: 'id'"),
        (SystemExit(3), "SystemExit: 3"),
        (ValueError("a\0b \ud800"), "ValueError: a\\x00b \\ud800"),
        (Unspeakable(), f"{__name__}.Unspeakable: <exception str() failed>"),
    ],
)
def test_an_error_is_described_in_one_storable_message(error: BaseException, start: str) -> None:
    message = outcomes.describe(error)
    assert outcomes.failed(make_attempt(), message, "", retry_delay=None).message == start


def test_a_note_on_an_error_is_part_of_its_description() -> None:
    error = ValueError("no such user")
    error.add_note("while importing line 5")
    assert outcomes.describe(error) == "ValueError: no such user\nwhile importing line 5"


def test_a_long_description_is_shortened() -> None:
    message = outcomes.describe(ValueError("x" * 10_000))
    outcome = outcomes.failed(make_attempt(), message, "", retry_delay=None)
    assert outcome.message is not None and outcome.error is not None
    assert len(outcome.message) <= outcomes.MAX_MESSAGE_LENGTH
    assert outcome.message == outcome.error["message"]
    assert outcome.message.startswith("ValueError: xxx")


def test_the_reprs_leave_out_what_went_in_and_what_came_out() -> None:
    attempt = make_attempt()._replace(params={"password": "sesame"})
    outcome = outcomes.succeeded(attempt, '{"token": "sesame"}')
    assert repr(attempt) == "<Attempt 1 of execution 42 (mail)>"
    assert repr(outcome) == "<Outcome SUCCESS of <Attempt 1 of execution 42 (mail)>: ''>"


def test_of_a_database_that_refuses_an_outcome_only_the_summary_is_kept() -> None:
    error = ValueError('violates a constraint\nDETAIL: Failing row contains {"password": "sesame"}')
    outcome = outcomes.unsettleable(outcomes.succeeded(make_attempt(), None), error)
    assert outcome.message == (
        "The outcome SUCCESS could not be stored: ValueError: violates a constraint"
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda attempt: outcomes.succeeded(attempt, None),
        lambda attempt: outcomes.failed(attempt, "", "", retry_delay=None),
        lambda attempt: outcomes.timed_out(attempt, "", retry_delay=None),
        outcomes.cancelled,
    ],
)
def test_only_finished_statuses_end_an_execution(make: Callable[[Attempt], Any]) -> None:
    assert make(make_attempt()).status in FINISHED
    assert set(DEAD) < set(FINISHED)
    assert {Status.PENDING, Status.RUNNING}.isdisjoint(FINISHED)


def test_an_outcome_cannot_be_changed_afterwards() -> None:
    outcome = outcomes.cancelled(make_attempt())
    with pytest.raises(AttributeError):
        outcome.status = Status.SUCCESS  # type: ignore[misc]
