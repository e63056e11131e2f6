"""How much a worker claims ahead of its slots: batches of short jobs, nothing behind long ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.db import connection

from jobu import Worker, enqueue_many
from jobu.models import JobExecution, Status
from jobu.queue.settle import Settlement
from jobu.worker.pace import Pace
from jobu.worker.slots import RightOfWay
from tests.plans import caught
from tests.project.shop.jobs import GATE
from tests.waiting import wait_until

StartWorker = Callable[..., Worker]


@pytest.mark.django_db(transaction=True)
def test_a_thousand_short_jobs_take_few_statements() -> None:
    enqueue_many("echo", ({} for _ in range(1000)))
    worker = Worker()
    try:
        with caught() as statements:
            while JobExecution.objects.filter(status=Status.SUCCESS).count() < 1000:
                worker._wake.clear()
                delay = worker.poll()
                # Not its linger, which on a busy machine comes before a batch is full.
                worker._wake.wait(60 if worker._slots.has_waiting() else delay)
    finally:
        worker._pool.close()
    polls = [s for s in statements if "COUNT(" not in s.sql]
    # A full batch is one statement to settle five hundred and two to claim as many; the first ones
    # are small, until it is known how short the jobs are.
    assert len(polls) <= 40, f"{len(polls)} statements on {connection.vendor}"


@pytest.mark.parametrize("handler", ["echo", "async_echo"])
def test_slots_have_a_batch_to_run_while_another_is_settled(
    start_worker: StartWorker, monkeypatch: pytest.MonkeyPatch, handler: str
) -> None:
    worker: list[Worker] = []
    waiting: list[int] = []

    def write(settlement: Settlement) -> None:
        if worker and len(settlement._outcomes) >= 50:
            waiting.append(len(worker[0]._slots._waiting))
        written(settlement)

    written = Settlement.write
    monkeypatch.setattr(Settlement, "write", write)
    enqueue_many(handler, ({"params": {}} for _ in range(1500)))
    worker.append(start_worker(claim_batch_size=50, drain=True))
    assert worker[0].join(60)
    assert JobExecution.objects.filter(status=Status.SUCCESS).count() == 1500
    # Not at each of them: how often depends on who gets the interpreter, and when.
    assert max(waiting) > 40, waiting


def test_slots_go_on_by_themselves_if_nobody_ends_their_pause(
    start_worker: StartWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RightOfWay, "resume", lambda _: None)
    enqueue_many("echo", ({} for _ in range(50)))
    worker = start_worker(drain=True)
    assert worker.join(60)
    assert JobExecution.objects.filter(status=Status.SUCCESS).count() == 50


def test_a_few_stragglers_do_not_stop_the_claims_ahead() -> None:
    pace = Pace()
    for _ in range(3):
        # The last ones of a batch had to wait for the interpreter, by far longer than they ran.
        pace.observe([0.00001] * 490 + [0.02] * 10)
    assert pace.ahead(slots=5, limit=1000) == 1000
    pace.observe([1.0] * 5)
    assert pace.ahead(slots=5, limit=1000) == 0


def test_no_short_job_waits_behind_long_ones_while_another_worker_is_idle(
    start_worker: StartWorker, closed_gate: None
) -> None:
    # Short jobs let the first worker claim ahead; then long ones take all of its slots.
    enqueue_many("echo", ({} for _ in range(200)))
    enqueue_many("wait_at_gate", ({} for _ in range(5)))
    enqueue_many("echo", ({} for _ in range(300)))
    first = start_worker(pool_size=5)
    wait_until(lambda: gated(first) == 5, "five long jobs in five slots")
    second = start_worker(pool_size=5)
    short = JobExecution.objects.filter(handler_name="echo")
    wait_until(
        lambda: not short.exclude(status=Status.SUCCESS).exists(),
        "the short jobs",
        lambda: str(list(short.values_list("status", "claimed_by").distinct())),
    )
    assert (gated(first), gated(second)) == (5, 0)


def gated(worker: Worker) -> int:
    return sum(job.handler_name == "wait_at_gate" for job in worker.running_jobs)


@pytest.fixture
def closed_gate() -> Iterator[None]:
    GATE.clear()
    yield
    GATE.set()
