"""Handlers that take their process along: others go on, and the execution ends by the rule."""

from __future__ import annotations

import signal

import pytest

from jobu import enqueue
from jobu.models import Status
from tests.project.shop.models import Effect
from tests.waiting import wait_for_end
from tests.workers import WorkerProcesses

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]


@pytest.mark.parametrize("way", ["end_process", "crash"])
def test_a_handler_that_ends_its_process_runs_as_often_as_it_may_and_others_go_on(
    workers: WorkerProcesses, way: str
) -> None:
    deadly = enqueue("misbehave", {"way": way}, max_retry=2)
    supervisor = workers.start("--processes", "2", "--pool-size", "1")
    assert wait_for_end(deadly).status == Status.FAILED, workers.logs()
    assert (deadly.attempt, deadly.retry_count) == (2, 2)
    assert "stopped beating while it ran this attempt" in deadly.error_message
    healthy = [enqueue("look_around") for _ in range(3)]
    assert {wait_for_end(execution).status for execution in healthy} == {Status.SUCCESS}
    assert "restart in" in workers.logs()
    # Killed, it would leave behind a child that claims what the next test enqueues.
    supervisor.send(signal.SIGTERM)
    assert supervisor.wait() == 0


@pytest.mark.parametrize("kind", ["misbehave", "atomic_misbehave"])
def test_the_child_of_a_handler_that_forks_ends_where_the_handler_does(
    workers: WorkerProcesses, kind: str
) -> None:
    forking = [enqueue(kind, {"way": "fork"}) for _ in range(3)]
    # Kept connections: a child that closed one would close the parent's, too.
    worker = workers.start("--pool-size", "1", JOBU_TEST_CONN_MAX_AGE="60")
    for execution in forking:
        assert wait_for_end(execution).status == Status.SUCCESS, worker.log
        # The parent's result, which is the child's exit code.
        assert (execution.result, execution.attempt) == (70, 1)
    assert wait_for_end(enqueue("look_around")).status == Status.SUCCESS
    assert Effect.objects.filter(note="forked").count() == 3
    worker.wait_for_log("the handler forked and returned in the child, too")
    assert "cannot use the database" not in worker.log


def test_a_worker_whose_descriptors_a_handler_has_closed_goes_on_with_new_ones(
    workers: WorkerProcesses,
) -> None:
    worker = workers.start("--pool-size", "1")
    assert wait_for_end(enqueue("look_around")).status == Status.SUCCESS
    closing = enqueue("misbehave", {"way": "close_descriptors"})
    assert wait_for_end(closing).status == Status.SUCCESS, worker.log
    # Whoever is first with a new connection may find that its number is somebody else's, too.
    healthy = [enqueue("look_around", max_retry=10) for _ in range(3)]
    assert {wait_for_end(execution).status for execution in healthy} == {Status.SUCCESS}, worker.log
