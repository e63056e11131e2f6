"""Cancelling what runs, and seeing how far it is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jobu import Worker, cancel, enqueue
from jobu.models import JobExecution, Status
from tests.project.shop.jobs import HAS_WRITTEN
from tests.project.shop.models import Effect
from tests.waiting import wait_for_end, wait_until

StartWorker = Callable[..., Worker]


@pytest.mark.parametrize(
    ("handler", "params"),
    [
        ("spin", {}),
        ("sleep", {"seconds": 30}),
        ("async_sleep", {"seconds": 600}),
        ("swallow", {}),
    ],
)
def test_a_running_execution_is_cancelled(
    start_worker: StartWorker, handler: str, params: dict[str, float]
) -> None:
    execution = enqueue(handler, params, max_retry=5)
    start_worker()
    wait_until(lambda: JobExecution.objects.running().exists(), "the claim")
    assert cancel(execution)
    assert wait_for_end(execution).status == Status.CANCELLED
    assert (execution.attempt, execution.retry_count) == (1, 0)


def test_a_running_atomic_execution_is_cancelled_and_rolled_back(
    start_worker: StartWorker, vendor: str
) -> None:
    HAS_WRITTEN.clear()
    execution = enqueue("stubborn_atomic", {"seconds": 3})
    start_worker()
    assert HAS_WRITTEN.wait(60)
    if vendor == "sqlite":
        # It holds the write lock: whoever wants to cancel waits for its end.
        wait_until(lambda: not cancel(execution), "its end")
        assert wait_for_end(execution).status == Status.SUCCESS
    else:
        assert cancel(execution)
        assert wait_for_end(execution).status == Status.CANCELLED
        assert not Effect.objects.exists()


def test_a_retry_that_was_cancelled_meanwhile_does_not_come(start_worker: StartWorker) -> None:
    execution = enqueue("fail", max_retry=100)
    start_worker()
    wait_until(lambda: JobExecution.objects.filter(retry_count__gt=0).exists(), "a first failure")
    assert cancel(execution)
    assert wait_for_end(execution).status == Status.CANCELLED


def test_progress_is_seen_while_the_job_runs_and_after_it(start_worker: StartWorker) -> None:
    execution = enqueue("progress", {"seconds": 2})
    start_worker()
    wait_until(
        lambda: JobExecution.objects.running().filter(progress__done=1).exists(), "the progress"
    )
    assert JobExecution.objects.get().progress == {"done": 1, "total": 4, "note": "one of four"}
    assert wait_for_end(execution).progress == {"done": 4, "total": 4, "note": ""}
