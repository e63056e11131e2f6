"""A handler that says itself when it should be run again."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F

from jobu import JobTimeout, RetryLater, Worker, current_job, enqueue, handler
from jobu.dialects import DatabaseNow
from jobu.exceptions import JobuError, OptionError
from jobu.models import JobExecution, Status
from jobu.testing import run_pending
from tests.builders import database_now
from tests.waiting import wait_for_end, wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("temporary_handlers"),
]


def asking(*, atomic: bool = False, **asked: Any) -> JobExecution:
    @handler("asking", max_retry=2, backoff=0, no_retry_on=(JobuError,), atomic=atomic)
    def ask() -> None:
        raise RetryLater("the service is busy", **asked)

    return ask.enqueue()


def after_a_run(execution: JobExecution) -> JobExecution:
    assert run_pending() == [execution]
    execution.refresh_from_db()
    return execution


@pytest.mark.parametrize("atomic", [False, True])
def test_it_is_run_again_when_it_asks_for_it_and_that_counts(atomic: bool) -> None:
    began = database_now()
    execution = after_a_run(asking(seconds=90, atomic=atomic))
    assert (execution.status, execution.retry_count) == (Status.PENDING, 1)
    assert execution.available_at - began >= timedelta(seconds=89)
    assert execution.available_at - database_now() <= timedelta(seconds=90)
    assert execution.error_message == "jobu.exceptions.RetryLater: the service is busy"
    assert [error["message"] for error in execution.errors] == [execution.error_message]
    JobExecution.objects.update(available_at=DatabaseNow())
    assert after_a_run(execution).status == Status.FAILED
    assert execution.retry_count == 2


def test_a_wait_that_does_not_count_loses_no_attempt_and_says_why_it_waits(
    caplog: pytest.LogCaptureFixture,
) -> None:
    execution = asking(seconds=90, counted=False)
    for run in range(1, 5):
        with caplog.at_level(logging.INFO, "jobu"):
            after_a_run(execution)
        assert (execution.status, execution.retry_count, execution.attempt) == (
            Status.PENDING,
            0,
            run,
        )
        assert execution.available_at - database_now() > timedelta(seconds=80)
        assert execution.error_message == "jobu.exceptions.RetryLater: the service is busy"
        assert (execution.errors, execution.claimed_by, execution.started_at) == ([], None, None)
        JobExecution.objects.update(available_at=DatabaseNow())
    assert "will be run again in 90.0 s, as it asks: jobu.exceptions.RetryLater: " in caplog.text
    assert "ERROR" not in {record.levelname for record in caplog.records}


def test_waits_that_do_not_count_leave_time_for_others() -> None:
    execution = after_a_run(asking(seconds=0, counted=False))
    assert execution.available_at - database_now() > timedelta(seconds=0.5)
    assert run_pending() == []


def test_a_test_that_runs_what_is_delayed_does_not_run_it_for_ever() -> None:
    execution = asking(seconds=60, counted=False)
    assert run_pending(include_delayed=True) == [execution]
    assert run_pending(include_delayed=True) == [execution]


def test_a_cancel_ends_the_waiting() -> None:
    execution = asking(seconds=60, counted=False)

    @handler("cancelling", aliases=("asking2",))
    def cancelling() -> None:
        JobExecution.objects.filter(pk=current_job().id).update(cancel_requested=True)
        raise RetryLater(seconds=60, counted=False)

    JobExecution.objects.filter(pk=execution.pk).update(handler_name="asking2")
    assert after_a_run(execution).status == Status.CANCELLED


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf"), True, "5", None])
def test_a_wait_that_cannot_be_is_refused_in_words(seconds: Any) -> None:
    with pytest.raises(OptionError, match="seconds of RetryLater must be zero or more, not "):
        RetryLater(seconds=seconds)


def test_a_worker_runs_it_again_when_it_is_due(
    start_worker: Callable[..., Worker],
) -> None:
    @handler("twice_async", max_retry=1)
    async def twice_async() -> int:
        if current_job().attempt < 2:
            raise RetryLater(seconds=60, counted=False)
        return current_job().attempt

    execution = enqueue("twice_async")
    worker = start_worker()
    waiting = JobExecution.objects.filter(attempt=1, available_at__gt=F("created_at"))
    wait_until(waiting.exists, "the first run")
    JobExecution.objects.filter(status=Status.PENDING).update(available_at=DatabaseNow())
    worker.wake()
    assert wait_for_end(execution).status == Status.SUCCESS
    assert (execution.result, execution.retry_count, execution.error_message) == (2, 0, "")


def test_an_exact_backoff_is_the_bound_itself(settings: Any) -> None:
    settings.JOBU_BACKOFF_JITTER = False
    settings.JOBU_BACKOFF_BASE_SECONDS = 100

    @handler("failing", max_retry=4)
    def failing() -> None:
        raise JobTimeout if current_job().attempt == 2 else ValueError

    execution = failing.enqueue()
    for expected in (100, 200, 400):
        after_a_run(execution)
        waits = (execution.available_at - database_now()).total_seconds()
        assert expected - 30 < waits <= expected
        JobExecution.objects.update(available_at=DatabaseNow())
