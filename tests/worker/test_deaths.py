"""Executions that end FAILED or TIMEOUT: who is told, and what the log says."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import OperationalError, connection

from jobu import Worker, enqueue, handler, signals
from jobu.dialects import DatabaseNow, dialect_of
from jobu.models import JobExecution, Process, Status
from jobu.outcomes import Outcome
from jobu.queue import rescue as rescuing
from jobu.queue.rescue import rescue
from jobu.testing import run_pending
from tests.builders import process, running
from tests.waiting import wait_for_end, wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("temporary_handlers"),
]

StartWorker = Callable[..., Worker]


@pytest.fixture
def died() -> Iterator[list[tuple[int, Status]]]:
    """Collect what `execution_died` is sent for: the id, and the status in the database."""
    told: list[tuple[int, Status]] = []

    def note(outcome: Outcome, **_: Any) -> None:
        pk = outcome.attempt.execution_id
        told.append((pk, Status(JobExecution.objects.values_list("status", flat=True).get(pk=pk))))

    signals.execution_died.connect(note)
    yield told
    signals.execution_died.disconnect(note)


@pytest.mark.parametrize(
    ("name", "params", "status"),
    [
        ("fails", {}, Status.FAILED),
        ("atomic_fails", {}, Status.FAILED),
        ("unstorable", {}, Status.FAILED),
        ("no_such_handler", {}, Status.FAILED),
        ("sleep", {"seconds": 600}, Status.TIMEOUT),
    ],
)
def test_a_death_is_told_once_whatever_it_came_from(
    start_worker: StartWorker,
    died: list[tuple[int, Status]],
    name: str,
    params: dict[str, Any],
    status: Status,
) -> None:
    @handler("fails")
    def fail() -> None:
        raise ValueError("no luck")

    @handler("atomic_fails", atomic=True)
    def atomic_fail() -> None:
        raise ValueError("no luck")

    @handler("unstorable")
    def unstorable() -> Any:
        return object()

    execution = JobExecution.objects.create(
        handler_name=name, params=params, max_retry=2 if name == "fails" else 1, timeout_seconds=1
    )
    start_worker()
    assert wait_for_end(execution).status == status
    wait_until(lambda: bool(died), "the signal")
    assert wait_for_end(enqueue("echo")).status == Status.SUCCESS
    assert died == [(execution.pk, status)]


def test_the_death_of_an_execution_whose_worker_was_killed_is_told(
    died: list[tuple[int, Status]],
) -> None:
    dead = process(beat_seconds_ago=60)
    last, again = running(dead.pk, max_retry=1), running(dead.pk, max_retry=2)
    rescue()
    again.refresh_from_db()
    assert again.status == Status.PENDING
    assert died == [(last.pk, Status.FAILED)]


def test_a_death_is_told_although_the_rescue_fails_afterwards(
    died: list[tuple[int, Status]], monkeypatch: pytest.MonkeyPatch
) -> None:
    execution = running(process(beat_seconds_ago=60).pk, max_retry=1)

    def fail(_judge: object) -> None:
        raise OperationalError("the server has gone away")

    monkeypatch.setattr(rescuing, "_forget_dead_processes", fail)
    with pytest.raises(OperationalError):
        rescue()
    assert died == [(execution.pk, Status.FAILED)]


def test_a_death_in_a_test_of_the_project_is_told(died: list[tuple[int, Status]]) -> None:
    execution = JobExecution.objects.create(handler_name="no_such_handler")
    run_pending()
    assert died == [(execution.pk, Status.FAILED)]


def test_no_success_retry_or_cancellation_is_a_death(
    start_worker: StartWorker, died: list[tuple[int, Status]]
) -> None:
    @handler("once_more", max_retry=2, backoff=0)
    def once_more() -> None:
        if JobExecution.objects.get(handler_name="once_more").attempt == 1:
            raise ValueError("not yet")

    execution = enqueue("once_more")
    start_worker()
    assert wait_for_end(execution).attempt == 2
    assert wait_for_end(enqueue("echo")).status == Status.SUCCESS
    assert died == []


@pytest.mark.parametrize("is_alone", [False, True])
def test_a_lack_of_connections_is_a_warning_until_the_execution_dies_of_it(
    start_worker: StartWorker,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    vendor: str,
    is_alone: bool,
) -> None:
    refused = {
        "sqlite": OperationalError("no connection left"),
        "postgres": OperationalError("FATAL:  sorry, too many clients already"),
    }.get(vendor, OperationalError(1040, "Too many connections"))
    if vendor == "sqlite":
        monkeypatch.setattr(
            type(dialect_of(connection)), "is_out_of_connections", lambda _, error: error is refused
        )
    assert dialect_of(connection).is_out_of_connections(refused)

    @handler("unlucky", max_retry=1 if is_alone else 2, backoff=0)
    def unlucky() -> None:
        if is_alone or JobExecution.objects.get(handler_name="unlucky").attempt == 1:
            raise refused

    execution = enqueue("unlucky")
    with caplog.at_level(logging.WARNING, "jobu"):
        start_worker()
        wait_for_end(execution)
        wait_until(lambda: bool(caplog.records), "the line")
    [record] = caplog.records
    assert ("Traceback" in record.getMessage()) is is_alone
    assert record.levelname == ("ERROR" if is_alone else "WARNING")
    assert execution.status == (Status.FAILED if is_alone else Status.SUCCESS)


def test_a_process_that_beats_is_not_told_of(died: list[tuple[int, Status]]) -> None:
    beating = Process.objects.create(kind="worker", host="here", pid=1, heartbeat_at=DatabaseNow())
    running(beating.pk, max_retry=1)
    rescue()
    assert died == []
