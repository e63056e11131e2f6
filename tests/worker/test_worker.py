"""The worker as a Python object: runs, retries, polls, starts and stops."""

from __future__ import annotations

import gc
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobu import Worker, enqueue, enqueue_many, handler
from jobu import worker as worker_package
from jobu.models import JobExecution, Process, Status
from jobu.processes import polling
from jobu.processes.heartbeat import Heartbeat
from jobu.queue.lanes import Look, Place, find_lanes
from jobu.signals import execution_settled, execution_started
from tests.builders import pending, process, running
from tests.project.shop.jobs import GATE
from tests.project.shop.models import Effect
from tests.waiting import wait_for_end, wait_until

StartWorker = Callable[..., Worker]
OUR_FOLDER = str(Path(worker_package.__file__).parent)
"""The checkout may be in a folder of any name, `jobu/worker` included."""


def test_max_retry_means_so_many_runs_each_with_its_traceback(start_worker: StartWorker) -> None:
    execution = enqueue("fail", {"message": "bad luck"}, max_retry=3)
    start_worker()
    wait_for_end(execution)
    assert (execution.status, execution.attempt, execution.retry_count) == (Status.FAILED, 3, 3)
    assert execution.error_message == "ValueError: bad luck"
    assert [error["attempt"] for error in execution.errors] == [1, 2, 3]
    for error in execution.errors:
        assert "raise ValueError(message)\nValueError: bad luck" in error["traceback"]
        assert OUR_FOLDER not in error["traceback"]


@pytest.mark.parametrize(
    ("handler", "params", "runs", "reason"),
    [
        ("fail_for_good", {}, 1, "never again"),
        ("fail_with_os_error_only", {"is_os_error": True}, 2, "disk"),
        ("fail_with_os_error_only", {"is_os_error": False}, 1, "KeyError"),
        (
            "not_json",
            {},
            1,
            'The handler\'s result cannot be stored as JSON: result["set"] is a set',
        ),
        ("exit", {}, 3, "SystemExit: 3"),
        ("sleep", {"seconds": "long"}, 1, "seconds must be a number, not 'long'"),
        ("sleep", {}, 1, "missing params: seconds"),
    ],
)
def test_a_failure_ends_with_its_reason(
    start_worker: StartWorker,
    handler: str,
    params: dict[str, Any],
    runs: int,
    reason: str,
    settings: Any,
) -> None:
    settings.JOBU_VALIDATE_ON_ENQUEUE = False
    execution = enqueue(handler, params)
    start_worker()
    wait_for_end(execution)
    assert (execution.status, execution.attempt) == (Status.FAILED, runs)
    assert reason in execution.error_message
    assert len(execution.errors) == runs


@pytest.mark.row_locks
def test_an_atomic_run_that_loses_to_another_transaction_is_tried_again_without_an_error(
    start_worker: StartWorker, temporary_handlers: None, caplog: pytest.LogCaptureFixture
) -> None:
    contended = Effect.objects.create(execution_id=0)

    @handler("contend", atomic=True, max_retry=100)
    def contend() -> None:
        Effect.objects.select_for_update(nowait=True).get(pk=contended.pk)

    execution = enqueue("contend")
    with transaction.atomic():
        Effect.objects.select_for_update().get(pk=contended.pk)
        start_worker()
        wait_until(lambda: "will be tried again" in caplog.text, "a conflict")
    assert wait_for_end(execution).status == Status.SUCCESS
    assert {record.levelname for record in caplog.records} == {"WARNING"}


def test_an_unknown_handler_is_one_run_that_says_so(start_worker: StartWorker) -> None:
    execution = pending(handler_name="emial")
    start_worker()
    wait_for_end(execution)
    assert (execution.status, execution.attempt) == (Status.FAILED, 1)
    assert "No handler is named 'emial'" in execution.error_message


def test_higher_priority_runs_first_and_queues_are_respected(start_worker: StartWorker) -> None:
    order: list[int] = []
    for priority in (0, 5, -5):
        enqueue("echo", {"priority": priority}, priority=priority)
    elsewhere = enqueue("echo", queue="elsewhere")
    with receiver(
        execution_settled, lambda outcome, **_: order.append(outcome.attempt.execution_id)
    ):
        start_worker(pool_size=1, queues=["default"], claim_batch_size=1)
        wait_until(lambda: len(order) == 3, "three settled")
    priorities = [JobExecution.objects.get(pk=pk).priority for pk in order]
    assert priorities == [5, 0, -5]
    elsewhere.refresh_from_db()
    assert elsewhere.status == Status.PENDING


def test_a_new_execution_wakes_an_idle_worker(start_worker: StartWorker, vendor: str) -> None:
    # MariaDB and MySQL cannot call: there the poll finds it.
    interval = 0.2 if vendor in ("mariadb", "mysql") else 300
    start_worker(poll_interval=interval, max_poll_interval=interval)
    wait_until(lambda: Process.objects.exists(), "the start")
    for _ in range(3):
        assert wait_for_end(enqueue("echo")).status == Status.SUCCESS


def test_a_delayed_execution_runs_when_it_is_due_not_at_the_next_poll(
    start_worker: StartWorker, vendor: str
) -> None:
    soon = timezone.now() + timedelta(seconds=1)
    execution = enqueue("echo", available_at=soon)
    start_worker(poll_interval=300, max_poll_interval=300)
    wait_for_end(execution)
    assert execution.started_at >= soon - timedelta(milliseconds=50)


def test_a_retry_runs_when_its_backoff_is_over_not_at_the_next_poll(
    start_worker: StartWorker,
) -> None:
    execution = enqueue("fail", max_retry=3)
    start_worker(poll_interval=300, max_poll_interval=300)
    assert wait_for_end(execution).attempt == 3


def test_drain_also_runs_what_the_last_job_enqueued(start_worker: StartWorker) -> None:
    enqueue("enqueue_next", {"left": 5})
    worker = start_worker(drain=True)
    assert worker.join(30)
    assert JobExecution.objects.filter(status=Status.SUCCESS).count() == 6


@pytest.mark.django_db(transaction=True)
def test_an_idle_worker_polls_less_and_less_and_a_job_resets_it() -> None:
    worker = Worker(poll_interval=1, max_poll_interval=10)
    assert [worker.poll() for _ in range(6)] == [1, 2, 4, 8, 10, 10]
    enqueue("echo")
    worker.wake()
    assert worker.poll() == 0
    wait_until(lambda: not worker.running_jobs, "the run")
    # It settles, and looks once more for what the job may have left to do.
    assert [worker.poll() for _ in range(3)] == [0, 1, 2]
    worker._pool.close()


def test_a_wake_up_while_the_worker_looks_is_not_lost(
    start_worker: StartWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    executions: list[JobExecution] = []

    def look(queues: tuple[str, ...], after: Place | None) -> Look:
        found = find_lanes(queues, after)
        if not executions:
            executions.append(enqueue("echo"))
            worker.wake()
        return found

    monkeypatch.setattr("jobu.worker.known_lanes.find_lanes", look)
    worker = start_worker(poll_interval=300, max_poll_interval=300)
    wait_until(lambda: executions != [], "the look")
    assert wait_for_end(executions[0]).status == Status.SUCCESS


@pytest.mark.django_db(transaction=True)
def test_an_idle_poll_costs_one_statement() -> None:
    worker = Worker()
    worker.poll()
    worker.wake()
    with CaptureQueriesContext(connection) as queries:
        worker.poll()
    assert len(queries) == 1


def test_async_handlers_use_the_orm_at_the_same_time(start_worker: StartWorker) -> None:
    enqueue_many("async_orm", ({} for _ in range(20)))
    start_worker(pool_size=5)
    wait_until(
        lambda: JobExecution.objects.filter(status=Status.SUCCESS).count() == 20, "all to succeed"
    )
    assert Effect.objects.count() == 20


def test_jobs_leave_no_connection_behind(start_worker: StartWorker) -> None:
    enqueue_many("effect", ({} for _ in range(20)))
    enqueue_many("async_orm", ({} for _ in range(20)))
    enqueue("leave_transaction_open")
    start_worker(pool_size=4)
    wait_until(
        lambda: JobExecution.objects.filter(status=Status.SUCCESS).count() == 41, "all to succeed"
    )
    # The test's own, the loop's and the housekeeper's.
    wait_until(
        lambda: open_connections() <= 3,
        "jobs' connections to close",
        lambda: str(open_connections()),
    )
    assert not Effect.objects.filter(note="left open").exists()


def test_it_starts_once_stops_twice_and_shows_what_runs(start_worker: StartWorker) -> None:
    worker = start_worker()
    with pytest.raises(RuntimeError, match="started before"):
        worker.start()
    assert worker.running_jobs == []
    execution = enqueue("sleep", {"seconds": 0.5})
    wait_until(lambda: len(worker.running_jobs) == 1, "the run")
    assert worker.running_jobs[0].id == execution.pk
    worker.stop()
    worker.stop()
    execution.refresh_from_db()
    assert execution.status == Status.SUCCESS
    assert not Process.objects.exists()


def test_it_says_how_long_each_job_runs_and_how_often_it_may(start_worker: StartWorker) -> None:
    GATE.clear()
    worker = start_worker()
    before = datetime.now(UTC)
    enqueue("wait_at_gate", max_retry=7, timeout_seconds=50)
    wait_until(lambda: len(worker.running_jobs) == 1, "the run")
    [job] = worker.running_jobs
    assert (job.attempt, job.max_retry, job.timeout_seconds) == (1, 7, 50)
    assert before <= job.started_at <= datetime.now(UTC)
    first = job.elapsed_seconds
    assert 0 <= first < job.elapsed_seconds <= 50
    assert job.elapsed_seconds + job.remaining_seconds == pytest.approx(50, abs=1)
    GATE.set()
    wait_until(lambda: not worker.running_jobs, "the end")


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_is_stopped_before_its_start_is_started_all_the_same(
    caplog: pytest.LogCaptureFixture,
) -> None:
    worker = Worker(poll_interval=0.1)
    worker.stop()
    assert (worker.exit_code, worker.is_alive) == (0, False)
    execution = enqueue("echo")
    with worker:
        assert worker.is_alive
        assert wait_for_end(execution).status == Status.SUCCESS
    assert not worker.is_alive
    assert "taken for dead" not in caplog.text


@pytest.mark.django_db(transaction=True)
def test_a_stop_that_is_requested_before_the_start_ends_it_at_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A signal may come before a command has started its process."""
    worker = Worker()
    worker.request_stop()
    worker.start()
    assert worker.join(10)
    assert (worker.exit_code, caplog.text) == (0, "")
    assert not Process.objects.exists()


def test_a_loop_that_dies_goes_on_and_loses_nothing(
    start_worker: StartWorker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(polling, "_RESTART_SECONDS", 0.05)
    deaths = iter([SystemExit("a receiver's"), KeyboardInterrupt()])

    def die(outcome: Any, **_: Any) -> None:
        # The loop has just claimed the next executions, and forgets them.
        if error := next(deaths, None):
            raise error

    with receiver(execution_settled, die):
        worker = start_worker(pool_size=1)
        executions = [enqueue("echo", {"n": n}) for n in range(5)]
        assert {wait_for_end(execution).status for execution in executions} == {Status.SUCCESS}
        assert worker.is_alive
    assert "its loop died of a SystemExit and goes on in 0.1 s" in caplog.text
    assert next(deaths, None) is None
    assert Process.objects.count() == 1


def test_a_housekeeper_that_dies_goes_on(
    start_worker: StartWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    beats = []

    def beat(heartbeat: Heartbeat) -> None:
        beats.append(1)
        if len(beats) == 1:
            raise SystemExit("a receiver's")

    monkeypatch.setattr(Heartbeat, "beat", beat)
    start_worker()
    wait_until(lambda: len(beats) > 1, "another beat")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_worker_whose_loop_crashes_again_and_again_stops_beating(
    start_worker: StartWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(_worker: Worker) -> float:
        raise SystemExit("a bug")

    monkeypatch.setattr(polling, "_RESTART_SECONDS", 0.01)
    monkeypatch.setattr(Worker, "poll", crash)
    worker = start_worker()
    assert worker.join(10)
    assert worker.exit_code == 1
    wait_until(lambda: Process.objects.stale().exists(), "the end of its heartbeat")


def test_several_workers_share_a_process(start_worker: StartWorker) -> None:
    enqueue_many("effect", ({} for _ in range(100)))
    workers = [start_worker(drain=True) for _ in range(3)]
    assert all(worker.join(30) for worker in workers)
    assert Effect.objects.count() == 100


def test_drain_waits_for_the_rescue_of_what_a_dead_process_holds(
    start_worker: StartWorker,
) -> None:
    lost = running(process(beat_seconds_ago=60).pk, max_retry=1)
    assert start_worker(drain=True).join(30)
    lost.refresh_from_db()
    assert lost.status == Status.FAILED


@pytest.mark.django_db
@pytest.mark.parametrize("option", ["pool_size", "poll_interval", "claim_batch_size"])
def test_impossible_options_are_refused(option: str) -> None:
    with pytest.raises(ValueError, match=f"{option} must be greater than zero"):
        Worker(**{option: 0})


def test_signals_and_log_lines_tell_what_happened(
    start_worker: StartWorker, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="jobu")
    seen: list[tuple[str, int]] = []
    done = threading.Event()

    def started(attempt: Any, **_: Any) -> None:
        seen.append(("started", attempt.execution_id))
        raise ValueError("a receiver that fails must not matter")

    def settled(outcome: Any, **_: Any) -> None:
        seen.append((outcome.status, outcome.attempt.execution_id))
        done.set()

    with receiver(execution_started, started), receiver(execution_settled, settled):
        execution = enqueue("echo")
        start_worker()
        assert done.wait(30)
    assert seen == [("started", execution.pk), ("SUCCESS", execution.pk)]
    records = [r for r in caplog.records if getattr(r, "execution_id", None) == execution.pk]
    assert [(r.levelno, r.handler, r.attempt) for r in records] == [  # type: ignore[attr-defined]
        (logging.DEBUG, "echo", 1),
        (logging.INFO, "echo", 1),
    ]
    prefix = f"execution {execution.pk} (echo, attempt 1): "
    assert records[0].getMessage() == f"{prefix}started"
    assert records[1].getMessage().startswith(f"{prefix}SUCCESS after ")
    assert "a receiver that fails must not matter" in caplog.text


@contextmanager
def receiver(signal: Any, function: Callable[..., None]) -> Iterator[None]:
    signal.connect(function, weak=False)
    try:
        yield
    finally:
        signal.disconnect(function)


def open_connections() -> int:
    if connection.vendor == "sqlite":
        return sum(map(is_open, gc.get_objects()))
    table = {
        "postgresql": "pg_stat_activity WHERE datname = current_database()",
        "mysql": "information_schema.processlist WHERE db = database()",
    }[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT COUNT(*) FROM {table}")
        return int(cursor.fetchone()[0])


def is_open(candidate: object) -> bool:
    """Tell whether it is an open SQLite connection. (A file descriptor may outlive one.)"""
    # By its type: a lazy object would make itself for isinstance.
    if not issubclass(type(candidate), sqlite3.Connection):
        return False
    try:
        candidate.total_changes  # type: ignore[attr-defined] # noqa: B018 - raises once closed
    except sqlite3.ProgrammingError:
        return False
    return True
