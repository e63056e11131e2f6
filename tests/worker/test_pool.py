"""The slots by themselves, without a database."""

from __future__ import annotations

import gc
import threading
import uuid

from asgiref.sync import SyncToAsync

from jobu.attempts import Attempt
from jobu.exceptions import JobReleased
from jobu.handlers.context import find_current_job
from jobu.outcomes import Status
from jobu.worker.pool import Pool
from tests.project.shop.jobs import AT_GATE, GATE, ORM_CONTEXTS, TURNS
from tests.waiting import wait_until


def test_async_handlers_that_never_await_let_others_have_their_turn() -> None:
    TURNS.clear()
    handlers = ["async_wants_a_turn", *["async_never_awaits"] * 20]
    pool = Pool(2, name="pool", batch_size=100, max_wait=60, on_batch=lambda: None)
    pool.slots.add([attempt(number, handler) for number, handler in enumerate(handlers)])
    wait_until(
        lambda: not (pool.slots.has_waiting() or pool.slots.runs()), "the end of all handlers"
    )
    pool.close()
    assert {outcome.status for outcome in pool.slots.take_outcomes()} == {Status.SUCCESS}
    assert TURNS.index("had its turn") < 10


def test_what_follows_an_interrupted_async_handler_does_not_share_its_thread() -> None:
    ORM_CONTEXTS.clear()
    pool = Pool(1, name="pool", batch_size=100, max_wait=60, on_batch=lambda: None)
    pool.slots.add(
        [
            attempt(1, "async_notes_its_context", seconds=60),
            attempt(2, "async_notes_its_context"),
            attempt(3, "async_notes_its_context"),
        ]
    )
    wait_until(lambda: len(ORM_CONTEXTS) == 1, "the first handler")
    [run] = pool.slots.runs()
    assert run.ask_to_stop(JobReleased)
    wait_until(
        lambda: not (pool.slots.has_waiting() or pool.slots.runs()), "the end of all handlers"
    )
    pool.close()
    interrupted, second, third = ORM_CONTEXTS
    assert second is not interrupted
    # One thread for all jobs of a slot, as long as it goes on.
    assert third is second


def test_what_is_disowned_neither_starts_nor_reports() -> None:
    GATE.clear()
    pool = Pool(1, name="pool", batch_size=100, max_wait=60, on_batch=lambda: None)
    pool.slots.add([attempt(1, "echo")])
    wait_until(lambda: not pool.slots.runs(), "the first handler")
    pool.slots.add([attempt(2, "wait_at_gate"), attempt(3, "echo"), attempt(4, "echo")])
    pool.slots.disown({(1, 1), (2, 1), (3, 1)})
    GATE.set()
    wait_until(
        lambda: not (pool.slots.has_waiting() or pool.slots.runs()), "the end of all handlers"
    )
    pool.close()
    assert [outcome.attempt.execution_id for outcome in pool.slots.take_outcomes()] == [4]


def test_an_abandoned_async_handler_does_not_become_the_current_job_of_another_thread() -> None:
    GATE.clear()
    AT_GATE.clear()
    pool = Pool(1, name="pool", batch_size=100, max_wait=60, on_batch=lambda: None)
    pool.slots.add([attempt(1, "async_wait_at_gate")])
    assert AT_GATE.wait(60)
    [orm] = SyncToAsync.context_to_thread_executor.values()
    pool.close()
    GATE.set()
    orm.shutdown()
    del pool, orm
    gc.collect()
    assert find_current_job() is None


def test_a_pool_is_closed_although_a_task_was_idle_on_a_loop_that_broke() -> None:
    pool = Pool(1, name="pool", batch_size=100, max_wait=60, on_batch=lambda: None)
    pool.slots.add([attempt(1, "async_session_id")])
    wait_until(lambda: bool(pool._idle_tasks), "the idle task")
    [idle] = pool._idle_tasks
    pool.replace_event_loop(idle.event_loop)
    assert idle.event_loop._loop is not None
    idle.event_loop.stop([])
    assert idle.event_loop._loop.is_closed()
    pool._idle_tasks.append(idle)
    pool.close()


def test_idle_threads_end_when_the_pool_is_closed() -> None:
    GATE.clear()
    before = set(threading.enumerate())
    pool = Pool(3, name="pool", batch_size=100, max_wait=60, on_batch=lambda: None)
    pool.slots.add([attempt(number, "wait_at_gate") for number in range(3)])
    wait_until(lambda: len(pool.slots.runs()) == 3, "three handlers")
    threads = set(threading.enumerate()) - before
    assert len(threads) == 3
    GATE.set()
    wait_until(lambda: pool.slots.idle_threads == 3, "their end")
    pool.close()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)


def attempt(number: int, handler: str, **params: object) -> Attempt:
    return Attempt(number, 1, uuid.uuid4(), handler, params, "default", 0, 1, 60)
