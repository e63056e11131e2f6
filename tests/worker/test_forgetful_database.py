"""A fail-over to a standby that lagged: the database forgets what it had told the worker."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest

from jobu import Worker, current_job, enqueue, handler
from jobu.models import JobExecution, Status
from tests.project.shop.models import Effect
from tests.waiting import wait_for_end, wait_until

StartWorker = Callable[..., Worker]


class Gates:
    """A gate for each name, at which the handler with that name waits."""

    def __init__(self) -> None:
        self.waiting: list[str] = []
        self._gates: dict[str, threading.Event] = defaultdict(threading.Event)

    def open(self, name: str) -> None:
        self._gates[name].set()

    def wait(self, name: str) -> str:
        self.waiting.append(name)
        assert self._gates[name].wait(60)
        self.waiting.remove(name)
        return name


@pytest.fixture
def gates(temporary_handlers: None) -> Gates:
    gates = Gates()

    @handler("pass_gate")
    def pass_gate(name: str) -> str:
        return gates.wait(name)

    @handler("pass_gate_atomically", atomic=True)
    def pass_gate_atomically(name: str) -> str:
        Effect.objects.create(execution_id=current_job().id, note=name)
        return gates.wait(name)

    return gates


def replace(execution: JobExecution, **fields: Any) -> JobExecution:
    """Give the execution's id to another one, as a sequence does that was set back."""
    JobExecution.objects.filter(pk=execution.pk).delete()
    return JobExecution.objects.create(pk=execution.pk, **fields)


@pytest.mark.parametrize(
    "handler_name",
    ["pass_gate", pytest.param("pass_gate_atomically", marks=pytest.mark.row_locks)],
)
def test_the_result_of_a_vanished_execution_does_not_land_on_one_with_the_same_id(
    start_worker: StartWorker, gates: Gates, handler_name: str
) -> None:
    vanished = enqueue(handler_name, {"name": "vanished"})
    worker = start_worker(pool_size=3)
    wait_until(lambda: gates.waiting == ["vanished"], "the first run")
    another = replace(vanished, handler_name="pass_gate", params={"name": "another"})
    wait_until(lambda: "another" in gates.waiting, "the second run")
    gates.open("vanished")
    wait_until(lambda: len(worker.running_jobs) == 1, "the end of the first run")
    # Whatever the first run came to is settled before this one.
    wait_for_end(enqueue("echo"))
    gates.open("another")
    assert wait_for_end(another).result == "another"
    assert (another.status, another.attempt) == (Status.SUCCESS, 1)
    assert not Effect.objects.exists()


def test_an_outcome_that_the_database_forgot_makes_the_execution_run_again(
    start_worker: StartWorker, settings: Any
) -> None:
    settings.JOBU_LEASE_SECONDS = 1
    execution = enqueue("effect", {"note": "again"})
    worker = start_worker()
    wait_for_end(execution)
    JobExecution.objects.filter(pk=execution.pk).update(
        status=Status.RUNNING, result=None, finished_at=None
    )
    assert wait_for_end(execution).result == {"note": "again"}
    assert (execution.status, execution.attempt) == (Status.SUCCESS, 1)
    assert execution.claimed_by == worker.heartbeat.process_id
    assert Effect.objects.filter(execution_id=execution.pk).count() == 2
