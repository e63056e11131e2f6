"""Where a worker claims next: its guess saves time, and no lane waits longer because of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from jobu import Worker, enqueue
from jobu.conf import settings
from jobu.dialects import DatabaseNow, dialect_for
from jobu.models import JobExecution, Status
from jobu.queue.lanes import Look, Place, find_lanes, look
from jobu.worker.known_lanes import KnownLanes
from tests.builders import claim_now
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def lanes() -> KnownLanes:
    """Lanes that were seen once, and are empty."""
    enqueue("echo")
    lanes = KnownLanes(())
    assert len(lanes.due()) == 1
    assert len(claim_now()) == 1
    lanes.forget()
    assert lanes.due() == []
    return lanes


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    """A worker that is called by new executions, has run one in the queue `usual` and is idle."""
    worker = Worker()
    monkeypatch.setattr(type(worker._listener), "hears_executions", True)
    enqueue("echo", queue="usual")
    run_until_idle(worker)
    yield worker
    worker._pool.close()


def run_until_idle(worker: Worker) -> None:
    def is_idle() -> bool:
        worker.poll()
        return worker._slots.is_empty() and not worker._lanes.must_look

    wait_until(is_idle, "the worker to be idle")


def pending() -> set[str]:
    return set(JobExecution.objects.filter(status=Status.PENDING).values_list("queue", flat=True))


def test_a_guess_is_the_last_lane_and_costs_no_statement(lanes: KnownLanes) -> None:
    lanes.note_change(is_new_execution=True)
    with CaptureQueriesContext(connection) as queries:
        [lane] = lanes.guess()
    assert (lane.queue, lane.priority, len(queries)) == ("default", 0, 0)
    assert lanes.must_look


def test_one_call_is_worth_one_guess(lanes: KnownLanes) -> None:
    lanes.note_change(is_new_execution=True)
    assert lanes.guess()
    assert not lanes.guess()


def test_nothing_is_guessed_from_a_call_that_may_mean_anything(lanes: KnownLanes) -> None:
    lanes.note_change(is_new_execution=False)
    assert not lanes.guess()


def test_nothing_is_guessed_while_lanes_are_known_to_have_executions(lanes: KnownLanes) -> None:
    enqueue("echo", priority=5)
    lanes.note_change(is_new_execution=True)
    assert [lane.priority for lane in lanes.due()] == [5]
    lanes.note_change(is_new_execution=True)
    assert not lanes.guess()


def test_nothing_is_guessed_before_anything_was_found() -> None:
    lanes = KnownLanes(())
    lanes.note_change(is_new_execution=True)
    assert not lanes.guess()


def test_a_worker_that_is_called_claims_without_a_look(worker: Worker) -> None:
    enqueue("echo", queue="usual")
    worker.wake()
    with CaptureQueriesContext(connection) as queries:
        worker.poll()
    assert pending() == set()
    selects = [query["sql"] for query in queries if query["sql"].startswith("SELECT")]
    if dialect_for(settings.DATABASE).claims_in_one_statement:
        assert (len(queries), selects) == (1, [])
    else:
        assert len(selects) == 1


def test_after_a_wrong_guess_the_worker_looks_at_once(worker: Worker) -> None:
    enqueue("echo", queue="another")
    worker.wake()
    assert worker.poll() == 0
    assert pending() == {"another"}
    worker.poll()
    assert pending() == set()


def test_calls_without_end_do_not_keep_a_worker_from_the_other_lanes(worker: Worker) -> None:
    enqueue("echo", queue="another")
    for _ in range(2):
        enqueue("echo", queue="usual")
        worker.wake()
        worker.poll()
    assert pending() == set()


def test_a_guess_fills_the_free_slots_and_no_more(worker: Worker) -> None:
    for _ in range(20):
        enqueue("echo", queue="usual")
    worker.wake()
    worker.poll()
    assert JobExecution.objects.filter(status=Status.PENDING).count() == 15


class SlowLooks:
    """A clock that stands still but for looks, each of which takes `seconds`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
        self.now = 1000.0
        self.looks = 0
        self._seconds = seconds
        monkeypatch.setattr("jobu.worker.known_lanes.find_lanes", self._look)
        monkeypatch.setattr("jobu.worker.known_lanes.time.monotonic", lambda: self.now)

    def _look(self, queues: Sequence[str], after: Place | None) -> Look:
        self.looks += 1
        self.now += self._seconds
        return find_lanes(queues, after)


def test_looks_that_take_long_are_rare_while_there_is_something_to_claim(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    enqueue("echo")
    lanes, clock = KnownLanes(()), SlowLooks(monkeypatch, seconds=0.2)
    for _ in range(40):
        lanes.note_change(is_new_execution=True)
        assert [lane.queue for lane in lanes.due()] == ["default"]
        clock.now += 0.1
    assert clock.looks == 1
    clock.now += 0.1
    lanes.due()
    assert clock.looks == 2


def test_who_has_nothing_to_claim_looks_at_each_call(
    lanes: KnownLanes, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SlowLooks(monkeypatch, seconds=5)
    for _ in range(3):
        lanes.note_change(is_new_execution=False)
        assert lanes.due() == []
    assert clock.looks == 3


def test_who_came_up_short_looks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    enqueue("echo")
    lanes, clock = KnownLanes(()), SlowLooks(monkeypatch, seconds=5)
    assert len(lanes.due()) == 1
    assert len(claim_now()) == 1
    lanes.forget()
    assert lanes.due() == []
    assert clock.looks == 2


def test_after_a_claim_that_failed_the_lanes_are_looked_at_again(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    enqueue("echo", queue="usual")

    def fail(*_: object, **__: object) -> None:
        raise OperationalError("the connection broke")

    with monkeypatch.context() as broken:
        broken.setattr("jobu.worker.exchange.claim", fail)
        worker._lanes.must_look = True
        with pytest.raises(OperationalError):
            worker.poll()
    assert not worker._lanes.must_look
    worker._exchange.give_back_unknown()
    assert worker._lanes.must_look
    worker.poll()
    assert pending() == set()


@pytest.fixture
def _ten_lanes_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "__defaults__", ((), None, 10))


def make_lanes(count: int, **fields: Any) -> None:
    JobExecution.objects.bulk_create(
        JobExecution(handler_name="echo", queue=f"lane{number:03}", **fields)
        for number in range(count)
    )


@pytest.mark.usefixtures("_ten_lanes_a_look")
@pytest.mark.parametrize("aside", [{}, {"aside_until": DatabaseNow(-1)}], ids=["due", "aside"])
def test_a_worker_drains_more_lanes_than_it_finds_at_once(aside: dict[str, Any]) -> None:
    make_lanes(57, available_at=DatabaseNow(-1), **aside)
    worker = Worker(drain=True)
    worker.start()
    assert worker.join(30)
    assert JobExecution.objects.filter(status=Status.SUCCESS).count() == 57


@pytest.mark.usefixtures("_ten_lanes_a_look")
def test_lanes_that_are_not_due_do_not_hide_one_that_is() -> None:
    make_lanes(57, available_at=DatabaseNow(86_400))
    enqueue("echo", queue="zebra")
    worker = Worker(drain=True)
    worker.start()
    assert worker.join(30)
    assert pending() == {f"lane{number:03}" for number in range(57)}
    assert JobExecution.objects.filter(status=Status.SUCCESS).count() == 1


@pytest.mark.usefixtures("_ten_lanes_a_look")
def test_lanes_that_never_end_keep_no_other_from_its_turn() -> None:
    make_lanes(25)
    lanes = KnownLanes(())
    found = set()
    for _ in range(3):
        found |= {lane.queue for lane in lanes.due()}
        lanes.forget()
    assert len(found) == 25


def test_a_worker_sleeps_until_the_first_that_was_set_aside_is_due() -> None:
    make_lanes(1, available_at=DatabaseNow(100), aside_until=DatabaseNow(100))
    lanes = KnownLanes(("another",))
    assert lanes.due() == []
    assert 40 < lanes.next_due - time.monotonic() <= 100


def test_an_idle_worker_looks_as_often_as_its_poll_interval_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[Look] = []

    def counted(*arguments: Any) -> Look:
        looks.append(find_lanes(*arguments))
        return looks[-1]

    monkeypatch.setattr("jobu.worker.known_lanes.find_lanes", counted)
    with Worker(poll_interval=0.01, max_poll_interval=0.01):
        # With a look each second it would take half a minute.
        wait_until(lambda: len(looks) >= 30, "thirty looks", timeout=20)
