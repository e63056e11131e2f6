"""SIGTERM, SIGINT and what they do to running jobs; with real processes."""

from __future__ import annotations

import os
import signal

import pytest

from jobu import enqueue, enqueue_many
from jobu.models import JobExecution, Process, Status
from tests.waiting import wait_until
from tests.workers import WorkerProcess, WorkerProcesses

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]


def start_and_wait_for_claim(workers: WorkerProcesses, *options: str) -> WorkerProcess:
    worker = workers.start(*options)
    wait_until(lambda: JobExecution.objects.running().exists(), "the claim", workers.logs)
    return worker


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_running_job_is_finished_before_the_exit(
    workers: WorkerProcesses, number: signal.Signals
) -> None:
    execution = enqueue("sleep", {"seconds": 1})
    worker = start_and_wait_for_claim(workers)
    worker.send(number)
    assert worker.wait() == 0, worker.log
    execution.refresh_from_db()
    assert execution.status == Status.SUCCESS
    assert not Process.objects.exists()


@pytest.mark.parametrize(
    ("handler", "seconds"), [("sleep", 600), ("async_sleep", 600), ("spin_retried", None)]
)
def test_a_job_longer_than_the_shutdown_timeout_goes_back_uncounted(
    workers: WorkerProcesses, handler: str, seconds: int | None
) -> None:
    params = {} if seconds is None else {"seconds": seconds}
    execution = enqueue(handler, params)
    worker = start_and_wait_for_claim(workers, "--shutdown-timeout", "0.5")
    worker.send(signal.SIGTERM)
    assert worker.wait() == 0, worker.log
    execution.refresh_from_db()
    assert execution.status == Status.PENDING
    assert (execution.attempt, execution.retry_count) == (0, 0)
    assert (execution.claimed_by, execution.started_at, execution.errors) == (None, None, [])
    assert not Process.objects.exists()


def test_a_second_signal_exits_at_once(workers: WorkerProcesses) -> None:
    execution = enqueue("sleep", {"seconds": 600})
    worker = start_and_wait_for_claim(workers)
    worker.send(signal.SIGTERM)
    worker.wait_for_log("finishes what it runs")
    worker.send(signal.SIGTERM)
    assert worker.wait(5) == 128 + signal.SIGTERM, worker.log
    execution.refresh_from_db()
    assert execution.status == Status.RUNNING


def test_what_was_claimed_ahead_goes_back_at_shutdown(workers: WorkerProcesses) -> None:
    enqueue_many("echo", ({} for _ in range(500)), priority=1)
    enqueue_many("sleep", ({"seconds": 600} for _ in range(200)))
    worker = workers.start("--pool-size", "2", "--shutdown-timeout", "0.5")
    wait_until(
        lambda: JobExecution.objects.running().filter(handler_name="sleep").count() >= 2,
        "the long ones",
        workers.logs,
    )
    worker.send(signal.SIGTERM)
    assert worker.wait() == 0, worker.log
    assert not JobExecution.objects.running().exists()
    assert JobExecution.objects.pending().filter(attempt=0, retry_count=0).count() == 200


def test_drain_exits_once_nothing_is_claimable(workers: WorkerProcesses) -> None:
    enqueue_many("echo", ({"i": i} for i in range(300)))
    worker = workers.start("--drain")
    assert worker.wait() == 0, worker.log
    assert JobExecution.objects.filter(status=Status.SUCCESS).count() == 300
    assert not Process.objects.exists()


def test_a_supervisor_restarts_a_killed_child_and_stops_them_all(workers: WorkerProcesses) -> None:
    supervisor = workers.start("--processes", "2")
    wait_until(lambda: Process.objects.count() == 2, "two processes", workers.logs)
    victim = Process.objects.first()
    assert victim is not None
    os.kill(victim.pid, signal.SIGKILL)
    wait_until(
        lambda: Process.objects.alive().exclude(id=victim.id).count() == 2,
        "the restart",
        workers.logs,
    )
    assert "ended with signal 9; restart in" in supervisor.log
    enqueue("sleep", {"seconds": 0.5})
    wait_until(lambda: JobExecution.objects.running().exists(), "the claim", workers.logs)
    supervisor.send(signal.SIGTERM)
    assert supervisor.wait() == 0, supervisor.log
    assert JobExecution.objects.get().status == Status.SUCCESS


def test_children_stop_when_their_supervisor_is_killed(workers: WorkerProcesses) -> None:
    supervisor = workers.start("--processes", "2")
    wait_until(lambda: Process.objects.count() == 2, "two processes", workers.logs)
    supervisor.kill()
    wait_until(lambda: not Process.objects.exists(), "their end", workers.logs)
    assert supervisor.log.count("finishes what it runs") == 2


def test_a_supervisor_drains(workers: WorkerProcesses) -> None:
    enqueue_many("echo", ({"i": i} for i in range(300)))
    supervisor = workers.start("--processes", "2", "--drain")
    assert supervisor.wait() == 0, supervisor.log
    assert JobExecution.objects.filter(status=Status.SUCCESS).count() == 300


def test_a_second_signal_to_the_supervisor_takes_the_children_with_it(
    workers: WorkerProcesses,
) -> None:
    enqueue("sleep", {"seconds": 600})
    supervisor = workers.start("--processes", "2")
    wait_until(lambda: JobExecution.objects.running().exists(), "the claim", workers.logs)
    pids = list(Process.objects.values_list("pid", flat=True))
    supervisor.send(signal.SIGTERM)
    supervisor.wait_for_log("finishes what it runs")
    supervisor.send(signal.SIGTERM)
    assert supervisor.wait(5) == 128 + signal.SIGTERM
    wait_until(lambda: not any(map(is_alive, pids)), "the children's end", workers.logs)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
