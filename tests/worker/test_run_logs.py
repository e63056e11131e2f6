"""What a handler logs is kept with its run, at no cost to the handler or to the project's log."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any

import pytest
from django.db import DataError, OperationalError, connection
from django.test import override_settings

from jobu import Worker, enqueue
from jobu.attempts import Attempt
from jobu.handlers.context import CurrentJob, running
from jobu.models import JobExecution, LogLine
from jobu.worker import run_buffer, run_logs
from jobu.worker.log_capture import capture
from jobu.worker.run_logs import RunLogs
from tests.builders import finished
from tests.waiting import wait_for_end, wait_until

StartWorker = Callable[..., Worker]

logger = logging.getLogger("shop")


def lines_of(execution: JobExecution) -> list[str]:
    return list(execution.log_lines.values_list("message", flat=True))


def job_of(execution: JobExecution, process_id: uuid.UUID, attempt: int = 1) -> CurrentJob:
    return CurrentJob(Attempt(execution.pk, attempt, process_id, "echo", {}, "default", 0, 3, 3600))


@contextmanager
def listening(*jobs: CurrentJob) -> Iterator[RunLogs]:
    """Be a worker that runs these jobs."""
    kept = RunLogs(jobs[0].process_id, lambda: jobs)
    kept.start()
    try:
        yield kept
    finally:
        capture.remove(jobs[0].process_id)


@pytest.fixture
def execution(db: None) -> JobExecution:
    return finished()


@pytest.fixture
def job(execution: JobExecution) -> CurrentJob:
    return job_of(execution, uuid.uuid4())


@contextmanager
def bare_root() -> Iterator[logging.Logger]:
    """Be a project that did not set up logging; pytest has."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    root.handlers, root.level = [], logging.WARNING
    try:
        yield root
    finally:
        root.handlers, root.level = handlers, level
        logging.Logger.manager._clear_cache()  # type: ignore[attr-defined]


def test_a_worker_keeps_what_its_handlers_log(start_worker: StartWorker) -> None:
    start_worker()
    first, second = enqueue("log", {"text": "one", "times": 2}), enqueue("log", {"text": "two"})
    for execution in (first, second):
        wait_for_end(execution)
        wait_until(lambda: execution.log_lines.exists(), "its log lines")  # noqa: B023
    assert lines_of(first) == ["one 0", "one 1"]
    [line] = second.log_lines.all()
    assert (line.message, line.logger, line.level_name, line.attempt) == (
        "two 0",
        "shop",
        "INFO",
        1,
    )
    assert abs((line.logged_at - second.finished_at).total_seconds()) < 60


def test_async_handlers_and_the_threads_they_start_are_told_apart(
    start_worker: StartWorker,
) -> None:
    worker = start_worker()
    executions = [enqueue("async_log", {"text": str(number)}) for number in range(5)]
    for execution in executions:
        wait_for_end(execution)
    worker.stop()
    assert [lines_of(execution) for execution in executions] == [
        [f"{number} begins", f"{number} in a thread"] for number in range(5)
    ]


def test_a_stopping_worker_writes_what_is_left(start_worker: StartWorker) -> None:
    execution = enqueue("log", {"fails": True})
    worker = start_worker(drain=True)
    assert worker.join(60)
    assert lines_of(execution) == ["hello 0"]


def test_a_message_that_cannot_be_formatted_does_not_fail_the_job(
    start_worker: StartWorker,
) -> None:
    worker = start_worker()
    execution = enqueue("log_badly")
    assert wait_for_end(execution).status == "SUCCESS"
    worker.stop()
    broken, nameless, number, unstorable, error = lines_of(execution)
    assert broken == "what: %s (its arguments cannot be formatted: RuntimeError)"
    assert nameless == "A Unprintable (its arguments cannot be formatted: RuntimeError)"
    assert number == "%d (its arguments cannot be formatted: TypeError)"
    assert unstorable == "NUL \\x00 and \\ud800"
    assert error.startswith("divided\nTraceback")
    assert error.endswith("ZeroDivisionError: division by zero")


@override_settings(JOBU_RUN_LOG_LEVEL=None)
def test_without_a_level_nothing_is_installed(start_worker: StartWorker) -> None:
    before = list(logging.root.handlers)
    worker = start_worker()
    execution = enqueue("log", {"level": logging.ERROR})
    wait_for_end(execution)
    assert logging.root.handlers == before
    worker.stop()
    assert not LogLine.objects.exists()


@override_settings(JOBU_RUN_LOG_LEVEL="ERROR")
def test_what_is_below_the_level_is_not_kept(execution: JobExecution, job: CurrentJob) -> None:
    with listening(job) as kept, running(job):
        logger.warning("below")
        logger.error("at")
        kept.flush()
    assert lines_of(execution) == ["at"]


def test_what_is_logged_outside_of_a_run_is_not_kept(job: CurrentJob) -> None:
    other = job_of(finished(), uuid.uuid4())
    with listening(job) as kept:
        logger.error("no job at all")
        with running(other):
            logger.error("a job of another worker")
        kept.flush()
    assert not LogLine.objects.exists()


def test_two_workers_of_one_process_keep_their_own_runs(
    execution: JobExecution, job: CurrentJob
) -> None:
    other_execution = finished()
    other = job_of(other_execution, uuid.uuid4())
    with listening(job) as kept, listening(other) as other_kept:
        with running(job):
            logger.info("mine")
        with running(other):
            logger.info("other")
        kept.flush()
        other_kept.flush()
    assert (lines_of(execution), lines_of(other_execution)) == (["mine"], ["other"])


def test_of_a_run_that_logs_too_much_the_beginning_and_the_end_are_kept(
    execution: JobExecution, job: CurrentJob
) -> None:
    jobs = [job]
    kept = RunLogs(job.process_id, lambda: jobs)
    kept.start()
    try:
        with running(job):
            for number in range(run_buffer.MAX_LINES + 10):
                logger.info("line %d", number)
        kept.flush()
        half = run_buffer.MAX_LINES // 2
        assert lines_of(execution) == [f"line {n}" for n in range(half)]
        jobs.clear()
        kept.flush()
    finally:
        kept.stop()
    lines = lines_of(execution)
    assert len(lines) == run_buffer.MAX_LINES + 1
    assert lines[half] == "… 10 lines are left out here: too much was logged …"
    assert lines[half + 1 :] == [f"line {n}" for n in range(half + 10, 2 * half + 10)]


def test_long_messages_are_bounded_one_by_one_and_together(
    execution: JobExecution, job: CurrentJob
) -> None:
    with listening(job) as kept, running(job):
        for _ in range(500):
            logger.info("x" * 10_000)
        kept.flush(is_last=True)
    *lines, last = lines_of(execution)
    assert max(map(len, lines)) <= run_buffer.MAX_MESSAGE_LENGTH
    assert sum(map(len, lines)) <= run_buffer.MAX_CHARACTERS
    assert "characters left out" in last


def test_an_abandoned_handler_that_goes_on_logging_is_not_heard(
    execution: JobExecution, job: CurrentJob
) -> None:
    with listening(job) as kept, running(job):
        logger.info("in time")
        kept.flush(is_last=True)
        logger.info("too late")
        kept.flush()
    assert lines_of(execution) == ["in time"]


def test_an_outage_loses_nothing_and_what_was_stored_twice_is_there_once(
    execution: JobExecution, job: CurrentJob
) -> None:
    def break_(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        result = execute(sql, params, many, context)
        if broken and sql.startswith("INSERT"):
            raise OperationalError("the answer was lost")
        return result

    broken = True
    with listening(job) as kept, running(job):
        logger.info("before")
        with connection.execute_wrapper(break_):
            with pytest.raises(OperationalError):
                kept.flush()
            logger.info("during")
            broken = False
            kept.flush()
            kept.flush()
    assert lines_of(execution) == ["before", "during"]


def test_lines_that_the_database_refuses_are_not_tried_for_ever(
    execution: JobExecution, job: CurrentJob, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("INSERT"):
            raise DataError("no such character")
        return execute(sql, params, many, context)

    with listening(job) as kept:
        with running(job):
            logger.info("before")
        with connection.execute_wrapper(refuse):
            kept.flush()
        with running(job):
            logger.info("after")
        kept.flush()
    assert lines_of(execution) == ["after"]
    assert "1 log lines of runs could not be stored and are lost: no such character" in caplog.text


def test_an_outage_does_not_fill_the_memory(
    execution: JobExecution, job: CurrentJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_logs, "_MAX_UNWRITTEN", 10)
    with listening(job) as kept, running(job):
        for number in range(1000):
            logger.info("line %d", number)
        assert kept._unwritten == 10
        kept.flush(is_last=True)
    lines = lines_of(execution)
    assert lines[9:12] == [
        "line 9",
        "… 490 lines are left out here: too much was logged …",
        "line 500",
    ]
    assert lines[-1] == "line 999"


def test_lines_of_a_deleted_execution_are_dropped(execution: JobExecution, job: CurrentJob) -> None:
    with listening(job) as kept, running(job):
        logger.info("hello")
        execution.delete()
        kept.flush(is_last=True)
    assert not LogLine.objects.exists()


def test_the_lines_of_the_last_ten_attempts_are_kept(execution: JobExecution) -> None:
    process_id = uuid.uuid4()
    for attempt in range(1, 13):
        job = job_of(execution, process_id, attempt)
        with listening(job) as kept, running(job):
            logger.info("attempt %d", attempt)
            kept.flush(is_last=True)
    assert lines_of(execution) == [f"attempt {number}" for number in range(3, 13)]


def test_a_project_without_logging_prints_what_it_printed(
    job: CurrentJob, capsys: pytest.CaptureFixture[str]
) -> None:
    with bare_root() as root:
        with listening(job) as kept, running(job):
            logger.info("kept, but not printed")
            logger.warning("printed once")
            kept.flush()
            assert not logging.getLogger("jobu").isEnabledFor(logging.INFO)
        assert (root.handlers, root.level) == ([], logging.WARNING)
        assert logging.getLogger("jobu").level == logging.NOTSET
    assert capsys.readouterr().err == "printed once\n"
    assert LogLine.objects.count() == 2


def test_a_project_with_logging_prints_what_it_printed(job: CurrentJob) -> None:
    stream = StringIO()
    to_stream = logging.StreamHandler(stream)
    chatty = logging.getLogger("shop.chatty")
    chatty.setLevel(logging.DEBUG)
    quiet = logging.getLogger("shop.quiet")
    quiet.setLevel(logging.ERROR)
    apart = logging.getLogger("shop.apart")
    apart.propagate = False
    apart.addHandler(logging.StreamHandler(stream))
    try:
        with bare_root() as root:
            root.addHandler(to_stream)
            with listening(job) as kept, running(job):
                logger.info("kept, but not printed")
                logger.warning("printed")
                chatty.debug("printed, but not kept")
                chatty.info("both")
                quiet.info("neither")
                apart.info("kept apart")
                apart.warning("both apart")
                kept.flush()
            assert root.level == logging.WARNING
    finally:
        chatty.setLevel(logging.NOTSET)
        quiet.setLevel(logging.NOTSET)
        apart.propagate = True
        apart.handlers.clear()
    assert stream.getvalue().splitlines() == [
        "printed",
        "printed, but not kept",
        "both",
        "both apart",
    ]
    assert list(LogLine.objects.values_list("message", flat=True)) == [
        "kept, but not printed",
        "printed",
        "both",
        "kept apart",
        "both apart",
    ]
    assert not to_stream.filters
