"""The state of the slots, without threads, event loop or database."""

from __future__ import annotations

import uuid

import pytest

from jobu.attempts import Attempt
from jobu.exceptions import JobReleased
from jobu.outcomes import Outcome, released, succeeded
from jobu.worker.event_loop import EventLoopThread
from jobu.worker.run import Run
from jobu.worker.slots import Slots

pytestmark = pytest.mark.pure


class Bench:
    """Slots whose runs do not run: a test finishes them."""

    def __init__(self, size: int, *, max_wait: float = 60) -> None:
        self.started: list[Run] = []
        self.batches = 0
        self.event_loop = EventLoopThread("event-loop", lambda *_: None)
        self.slots = Slots(
            size, batch_size=3, max_wait=max_wait, start=self._start, on_batch=self._count
        )

    def add(self, *handlers: str) -> None:
        self.slots.add([attempt(number, name) for number, name in enumerate(handlers)])

    def ids(self) -> list[int]:
        return [run.attempt.execution_id for run in self.started]

    def _start(self, run: Run) -> None:
        assert self.slots.lock.locked()
        self.started.append(run)
        run.event_loop = self.event_loop if run.is_async else None

    def _count(self) -> None:
        assert not self.slots.lock.locked()
        self.batches += 1


def attempt(number: int, handler: str) -> Attempt:
    return Attempt(number, 1, uuid.uuid4(), handler, {}, "default", 0, 1, 60)


def success(run: Run) -> Outcome:
    return succeeded(run.attempt, None)


def test_only_as_many_start_as_there_are_slots() -> None:
    bench = Bench(2)
    bench.add("echo", "echo", "echo")
    assert bench.ids() == [0, 1]
    assert bench.slots.has_waiting()
    assert [each.execution_id for each in bench.slots.take_waiting()] == [2]


def test_a_finished_run_is_followed_by_the_next_one_in_the_same_thread() -> None:
    bench = Bench(1)
    bench.add("echo", "echo")
    [first] = bench.started
    following = bench.slots.finish(first, success(first))
    assert following is not None
    assert following.attempt.execution_id == 1
    assert bench.ids() == [0]
    assert bench.slots.finish(following, success(following)) is None
    assert bench.slots.idle_threads == 1


def test_an_async_run_does_not_follow_in_a_thread() -> None:
    bench = Bench(1)
    bench.add("echo", "async_echo")
    [first] = bench.started
    assert bench.slots.finish(first, success(first)) is None
    assert bench.ids() == [0, 1]
    assert bench.slots.idle_threads == 1


def test_nothing_follows_on_an_event_loop_that_was_replaced() -> None:
    bench = Bench(1)
    bench.add("async_echo", "async_echo", "async_echo")
    [first] = bench.started
    second = bench.slots.finish(first, success(first))
    assert second is not None
    bench.event_loop.is_replaced = True
    assert bench.slots.finish(second, success(second)) is None
    assert bench.ids() == [0, 2]


def test_nothing_follows_an_interrupted_run_and_its_thread_is_not_used_again() -> None:
    bench = Bench(1)
    bench.add("echo", "echo")
    [first] = bench.started
    first.interrupt = JobReleased
    assert bench.slots.finish(first, released(first.attempt)) is None
    assert bench.ids() == [0, 1]
    assert bench.slots.idle_threads == 0


def test_an_abandoned_run_is_reported_once_and_counted_until_its_handler_ends() -> None:
    bench = Bench(1)
    bench.add("echo")
    [run] = bench.started
    run.interrupt = JobReleased
    assert bench.slots.report(run, released(run.attempt), abandon=True)
    assert not bench.slots.report(run, released(run.attempt), abandon=True)
    assert (bench.slots.abandoned(), len(bench.slots.take_outcomes())) == (1, 1)
    assert bench.slots.finish(run, success(run)) is None
    assert (bench.slots.abandoned(), bench.slots.take_outcomes()) == (0, [])


def test_a_full_batch_of_outcomes_is_announced_and_so_are_the_last_ones() -> None:
    bench = Bench(1)
    bench.add(*["echo"] * 5)
    run: Run | None = bench.started[0]
    announced = []
    while run is not None:
        run = bench.slots.finish(run, success(run))
        announced.append(bench.batches)
    assert announced == [0, 0, 1, 2, 3]


def test_what_waited_too_long_is_given_back_and_not_started() -> None:
    bench = Bench(1, max_wait=-1)
    bench.add("echo")
    assert bench.started == []
    [outcome] = bench.slots.take_outcomes()
    assert not outcome.counted
