"""`manage.py runworker` as its users start it."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from jobu import enqueue
from jobu.models import JobExecution, Process, Status
from tests.project.shop import jobs
from tests.project.shop.models import Effect
from tests.waiting import wait_until
from tests.workers import WorkerProcesses

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "other"]),
    pytest.mark.processes,
]


def test_another_database_than_default_works_from_enqueue_to_success(
    workers: WorkerProcesses,
) -> None:
    def manage(*arguments: str) -> str:
        command = workers.start_command(*arguments, JOBU_DATABASE="other")
        assert command.wait() == 0, command.log
        return command.log

    # Django has noted there, under the usual settings, that jobu needs nothing of that database.
    manage("migrate", "--database", "other", "jobu", "zero", "--fake", "--verbosity", "0")
    manage("migrate", "--database", "other", "--verbosity", "0")
    manage("enqueue_test_jobs", "echo", "20")
    manage("enqueue_test_jobs", "atomic_effect", "5")
    log = manage("runworker", "--drain")
    report = json.loads(manage("report_executions"))
    assert {e["status"] for e in report["executions"]} == {"SUCCESS"}, log
    assert len(report["executions"]) == 25
    # The handlers' own models stay where they are.
    assert Effect.objects.using("default").count() == 5
    assert not JobExecution.objects.exists()


def test_only_the_given_queues_are_worked_on(workers: WorkerProcesses) -> None:
    enqueue("echo", queue="mail")
    enqueue("echo", queue="reports")
    enqueue("echo", queue="elsewhere")
    worker = workers.start("--queue", "mail", "--queue", "reports", "--drain")
    assert worker.wait() == 0, worker.log
    done = JobExecution.objects.filter(status=Status.SUCCESS).values_list("queue", flat=True)
    assert set(done) == {"mail", "reports"}


def test_reload_starts_a_fresh_worker_when_code_changes_and_gives_jobs_back(
    workers: WorkerProcesses,
) -> None:
    worker = workers.start("--reload", "--shutdown-timeout", "0.2")
    worker.wait_for_log("started:")
    execution = enqueue("sleep", {"seconds": 600})
    wait_until(lambda: JobExecution.objects.running().exists(), "the claim", workers.logs)
    first = JobExecution.objects.get().claimed_by
    wait_until(lambda: touched() and "stopped" in worker.log, "the reload", workers.logs)
    wait_until(
        lambda: JobExecution.objects.running().exclude(claimed_by=first).exists(),
        "the second worker's claim",
        workers.logs,
    )
    execution.refresh_from_db()
    assert (execution.attempt, execution.retry_count) == (1, 0)
    worker.send_to_group(signal.SIGINT)
    assert worker.wait() == 0, worker.log
    assert worker.log.count("stopped") == 2
    execution.refresh_from_db()
    assert execution.status == Status.PENDING


def test_a_signal_to_the_reloading_command_alone_ends_it(workers: WorkerProcesses) -> None:
    worker = workers.start("--reload")
    worker.wait_for_log(" started: ")
    worker.send(signal.SIGINT)
    assert worker.wait() == 0, worker.log
    assert " stopped" in worker.log
    assert not Process.objects.exists()


def test_a_second_signal_ends_a_reloading_worker_at_once(workers: WorkerProcesses) -> None:
    worker = workers.start("--reload")
    worker.wait_for_log(" started: ")
    enqueue("sleep", {"seconds": 600})
    wait_until(lambda: JobExecution.objects.running().exists(), "the claim", workers.logs)
    worker.send(signal.SIGINT)
    worker.wait_for_log(" stops: ")
    worker.send(signal.SIGINT)
    assert worker.wait() == 128 + signal.SIGINT, worker.log


def touched() -> bool:
    """Change the code, again and again: the reloader may not have looked at it before."""
    Path(jobs.__file__).touch()
    return True
