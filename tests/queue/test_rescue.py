"""Executions of processes that are no more."""

from __future__ import annotations

import logging
import uuid
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from jobu import handler, signals
from jobu.conf import settings
from jobu.dialects import DatabaseNow
from jobu.models import JobExecution, Process, Status
from jobu.outcomes import Outcome
from jobu.queue.rescue import rescue
from jobu.queue.settle import settle_one_by_one
from tests.builders import (
    attempt_of,
    column,
    database_now,
    failure,
    finished,
    pending,
    process,
    running,
    snapshot,
)
from tests.connections import locked_elsewhere, patiently, together

pytestmark = pytest.mark.django_db

STALE = 60


@pytest.fixture
def rescued() -> Iterator[list[Outcome]]:
    """Collect what `execution_rescued` is sent for."""
    outcomes: list[Outcome] = []

    def collect(outcome: Outcome, **_: Any) -> None:
        outcomes.append(outcome)

    signals.execution_rescued.connect(collect)
    yield outcomes
    signals.execution_rescued.disconnect(collect)


def test_a_judge_who_did_not_beat_for_half_a_lease_finds_nobody_dead() -> None:
    dead = process(beat_seconds_ago=STALE)
    idle = process(beat_seconds_ago=STALE)
    execution = running(dead.pk)
    judge = process(beat_seconds_ago=settings.LEASE_SECONDS / 2)
    assert rescue(judge.pk) == []
    assert Process.objects.filter(pk=idle.pk).exists()
    Process.objects.filter(pk=judge.pk).update(heartbeat_at=DatabaseNow())
    assert [outcome.attempt.execution_id for outcome in rescue(judge.pk)] == [execution.pk]
    assert not Process.objects.filter(pk=idle.pk).exists()


def test_what_a_stale_process_ran_goes_back_to_the_queue() -> None:
    dead = process(beat_seconds_ago=STALE)
    execution = running(dead.pk, attempt=4, retry_count=1)
    before = database_now()
    [outcome] = rescue()
    execution.refresh_from_db()
    assert (execution.status, execution.claimed_by) == (Status.PENDING, None)
    assert (execution.started_at, execution.finished_at) == (None, None)
    assert (execution.attempt, execution.retry_count) == (4, 2)
    assert execution.available_at >= before
    [error] = execution.errors
    assert error["message"] == f"Process {dead.pk} stopped beating while it ran this attempt."
    assert (error["attempt"], error["process"]) == (4, str(dead.pk))
    assert error["message"] == execution.error_message == outcome.message


def test_what_a_vanished_process_ran_goes_back_to_the_queue() -> None:
    execution = running(uuid.uuid4())
    assert [outcome.attempt.execution_id for outcome in rescue()] == [execution.pk]
    execution.refresh_from_db()
    assert (execution.status, execution.retry_count) == (Status.PENDING, 1)


def test_what_a_living_process_runs_is_left_alone() -> None:
    living, stopping = process(), process(stopping=True)
    running(living.pk)
    running(stopping.pk)
    before = snapshot()
    assert rescue() == []
    assert snapshot() == before
    assert Process.objects.count() == 2


def test_only_running_executions_are_rescued() -> None:
    dead = process(beat_seconds_ago=STALE)
    pending()
    for status in (Status.SUCCESS, Status.FAILED, Status.TIMEOUT, Status.CANCELLED):
        finished(status, claimed_by=dead.pk)
    before = snapshot()
    assert rescue() == []
    assert snapshot() == before


def test_the_dead_and_the_living_are_told_apart_row_by_row() -> None:
    living, dead = process(), process(beat_seconds_ago=STALE)
    kept = [running(living.pk) for _ in range(3)]
    lost = [running(owner) for owner in (dead.pk, dead.pk, uuid.uuid4())]
    assert {o.attempt.execution_id for o in rescue()} == {execution.pk for execution in lost}
    assert set(JobExecution.objects.running()) == set(kept)


@pytest.mark.parametrize(("max_retry", "retry_count"), [(0, 0), (1, 0), (3, 2)])
def test_a_rescue_of_the_last_attempt_is_the_end(max_retry: int, retry_count: int) -> None:
    execution = running(max_retry=max_retry, retry_count=retry_count)
    started_at = column(execution, "started_at")
    [outcome] = rescue()
    execution.refresh_from_db()
    assert outcome.status is Status.FAILED
    assert (execution.status, execution.retry_count) == (Status.FAILED, retry_count + 1)
    assert execution.finished_at is not None
    assert (execution.started_at, len(execution.errors)) == (started_at, 1)


def test_an_execution_that_somebody_wished_to_cancel_is_cancelled() -> None:
    execution = running(cancel_requested=True)
    rescue()
    execution.refresh_from_db()
    assert execution.status == Status.CANCELLED
    assert execution.finished_at is not None


def test_an_execution_whose_handler_is_gone_is_rescued_by_the_default_rule() -> None:
    execution = running(handler_name="no longer here")
    rescue()
    execution.refresh_from_db()
    assert (execution.status, execution.retry_count) == (Status.PENDING, 1)


@pytest.mark.usefixtures("temporary_handlers")
def test_the_retry_waits_as_long_as_the_handlers_backoff_says() -> None:
    @handler("own", backoff=lambda failures: 1000 * failures)
    def own() -> None: ...

    running(handler_name="own", retry_count=1, max_retry=5)
    [outcome] = rescue()
    assert outcome.delay == 2000
    [execution] = JobExecution.objects.all()
    assert 1900 < (execution.available_at - database_now()).total_seconds() < 2000.01


@pytest.mark.usefixtures("temporary_handlers")
def test_one_execution_that_cannot_be_stored_does_not_keep_the_others_lost() -> None:
    @handler("own", backoff=lambda _failures: 1e300)
    def own() -> None: ...

    running(handler_name="own")
    for _ in range(3):
        running()
    assert len(rescue()) == 4
    assert not JobExecution.objects.running().exists()


def test_more_executions_than_fit_a_batch_are_all_rescued() -> None:
    JobExecution.objects.bulk_create(
        JobExecution(handler_name="echo", status=Status.RUNNING, claimed_by=uuid.uuid4(), attempt=1)
        for _ in range(1100)
    )
    assert len(rescue()) == 1100
    assert JobExecution.objects.pending().count() == 1100


def test_dead_processes_are_forgotten_and_living_ones_are_not() -> None:
    living = process()
    for _ in range(2):
        running(process(beat_seconds_ago=STALE).pk)
    process(beat_seconds_ago=STALE)
    rescue()
    assert list(Process.objects.all()) == [living]


def test_a_late_result_of_a_rescued_run_changes_nothing() -> None:
    execution = running()
    late = failure(attempt_of(execution))
    rescue()
    before = snapshot()
    assert settle_one_by_one([late]) == []
    assert snapshot() == before


def test_each_rescue_is_signalled_and_logged(
    rescued: list[Outcome], caplog: pytest.LogCaptureFixture
) -> None:
    again = running(attempt=2)
    last = running(max_retry=1)
    returned = rescue()
    assert rescued == returned
    assert {o.attempt.execution_id for o in rescued} == {again.pk, last.pk}
    lines = {r.getMessage() for r in caplog.records if r.levelno == logging.WARNING}
    assert lines == {
        f"execution {again.pk} (echo, attempt 2): rescued from process {again.claimed_by}, "
        "which stopped beating; will be tried again",
        f"execution {last.pk} (echo, attempt 1): rescued from process {last.claimed_by}, "
        "which stopped beating; ends FAILED",
    }


def test_a_receiver_that_fails_does_not_stop_the_rescue(caplog: pytest.LogCaptureFixture) -> None:
    def fail(**_: Any) -> None:
        raise ValueError("no luck")

    for _ in range(2):
        running()
    signals.execution_rescued.connect(fail)
    try:
        assert len(rescue()) == 2
    finally:
        signals.execution_rescued.disconnect(fail)
    assert "no luck" in caplog.text
    assert JobExecution.objects.pending().count() == 2


@pytest.mark.django_db(transaction=True)
def test_rescuers_that_come_together_rescue_each_execution_once() -> None:
    for _ in range(10):
        dead = process(beat_seconds_ago=STALE)
        executions = [running(dead.pk) for _ in range(20)]
        found = together(*[lambda: patiently(rescue)] * 3)
        counts = Counter(o.attempt.execution_id for outcomes in found for o in outcomes)
        assert counts == dict.fromkeys((execution.pk for execution in executions), 1)
        assert not Process.objects.exists()
    assert set(JobExecution.objects.values_list("retry_count", flat=True)) == {1}
    assert {len(e) for e in JobExecution.objects.values_list("errors", flat=True)} == {1}
    assert set(JobExecution.objects.values_list("status", flat=True)) == {Status.PENDING}


@pytest.mark.row_locks
@pytest.mark.django_db(transaction=True)
def test_a_locked_row_is_left_for_next_time() -> None:
    locked, free = running(), running()
    living = running(process().pk)
    with locked_elsewhere(locked, living):
        assert [o.attempt.execution_id for o in rescue()] == [free.pk]
    assert [o.attempt.execution_id for o in rescue()] == [locked.pk]
    assert list(JobExecution.objects.running()) == [living]


@pytest.mark.row_locks
@pytest.mark.django_db(transaction=True)
def test_a_process_is_not_forgotten_while_one_of_its_executions_is_still_to_be_rescued() -> None:
    dead = process(beat_seconds_ago=STALE)
    with locked_elsewhere(running(dead.pk)):
        assert rescue() == []
        assert list(Process.objects.all()) == [dead]
    assert len(rescue()) == 1
    assert not Process.objects.exists()
