"""Handlers that run too long, in every way a handler can."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jobu import Worker, enqueue, enqueue_many
from jobu.models import JobExecution, Status
from tests.project.shop.models import Effect
from tests.waiting import wait_for_end, wait_until

StartWorker = Callable[..., Worker]


@pytest.mark.parametrize(
    ("handler", "params"),
    [
        ("spin", {}),
        ("sleep", {"seconds": 600}),
        ("async_sleep", {"seconds": 600}),
        ("async_blocks", {}),
        ("async_blocks", {"seconds": 6}),
        ("swallow", {}),
        ("stubborn_atomic", {"seconds": 6}),
    ],
)
def test_it_ends_as_timeout_while_the_other_slots_go_on(
    start_worker: StartWorker, handler: str, params: dict[str, float]
) -> None:
    execution = enqueue(handler, params, timeout_seconds=1, max_retry=1)
    start_worker(pool_size=2)
    wait_until(lambda: JobExecution.objects.running().exists(), "the claim")
    # The other slot writes all the while, also where the stubborn one holds SQLite's lock.
    enqueue_many("effect", ({"note": "meanwhile"} for _ in range(20)))
    assert wait_for_end(execution).status == Status.TIMEOUT
    assert execution.started_at and execution.finished_at
    assert (execution.finished_at - execution.started_at).total_seconds() < 1 + 2
    assert "timeout of 1 s" in execution.error_message
    assert [error["attempt"] for error in execution.errors] == [1]
    assert "jobs.py" in execution.errors[0]["traceback"] or handler == "swallow"
    wait_until(
        lambda: JobExecution.objects.filter(status=Status.SUCCESS).count() == 20,
        "the other slot's work",
    )
    assert not Effect.objects.filter(note="stubborn").exists()


def test_async_handlers_go_on_after_one_has_blocked_their_event_loop(
    start_worker: StartWorker,
) -> None:
    blocking = enqueue("async_blocks", {"seconds": 6}, timeout_seconds=1)
    worker = start_worker(pool_size=3)
    wait_until(lambda: JobExecution.objects.running().exists(), "the claim")
    assert wait_for_end(blocking).status == Status.TIMEOUT
    assert worker._slots.abandoned() == 1
    assert wait_for_end(enqueue("async_orm")).status == Status.SUCCESS
    wait_until(lambda: not worker._slots.abandoned(), "the end of the handler that blocked")


def test_what_shared_a_blocked_event_loop_is_given_back_and_runs_again(
    start_worker: StartWorker,
) -> None:
    victim = enqueue("async_sleep", {"seconds": 1.5}, priority=1)
    enqueue("async_blocks", {"seconds": 8}, timeout_seconds=1)
    start_worker(pool_size=3)
    wait_for_end(victim)
    assert (victim.status, victim.attempt, victim.errors) == (Status.SUCCESS, 1, [])
    assert JobExecution.objects.get(handler_name="async_blocks").status == Status.TIMEOUT


def test_a_timeout_is_retried_like_a_failure(start_worker: StartWorker) -> None:
    execution = enqueue("async_sleep", {"seconds": 600}, timeout_seconds=1, max_retry=2)
    start_worker()
    wait_for_end(execution)
    assert (execution.status, execution.attempt, execution.retry_count) == (Status.TIMEOUT, 2, 2)
    assert [error["status"] for error in execution.errors] == ["TIMEOUT", "TIMEOUT"]


def test_a_worker_whose_handlers_all_ignore_their_interrupt_drains_and_exits(
    start_worker: StartWorker,
) -> None:
    execution = enqueue("sleep", {"seconds": 30}, timeout_seconds=1, max_retry=1)
    worker = start_worker(pool_size=1)
    assert wait_for_end(execution).status == Status.TIMEOUT
    assert worker.join(10)
    assert worker.exit_code == 1
