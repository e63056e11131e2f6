"""Cancel what waits, at once; ask what runs to stop."""

from __future__ import annotations

import uuid
from functools import partial
from typing import Any

import pytest

from jobu import cancel
from jobu.dialects import DatabaseNow
from jobu.models import JobExecution, Status
from jobu.outcomes import FINISHED
from tests.builders import claim_now, database_now, finished, pending, running, snapshot
from tests.connections import patiently, rolled_back, together

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("delay", [0, 600])
def test_a_pending_execution_is_cancelled_at_once(delay: float) -> None:
    execution = pending(available_at=DatabaseNow(delay))
    before = database_now()
    assert cancel(execution) is True
    execution.refresh_from_db()
    assert execution.status == Status.CANCELLED
    assert execution.cancel_requested
    assert execution.error_message == "Cancelled before it ran."
    assert execution.finished_at is not None
    assert before <= execution.finished_at <= database_now()
    assert claim_now() == []


def test_a_running_execution_is_asked_to_stop() -> None:
    execution = running(error_message="of the attempt before")
    [before] = snapshot()
    assert cancel(execution) is True
    assert snapshot() == [{**before, "cancel_requested": True}]


def test_to_cancel_twice_is_no_error() -> None:
    execution = running()
    assert cancel(execution)
    assert cancel(execution)
    waiting = pending()
    assert cancel(waiting) is True
    assert cancel(waiting) is False


@pytest.mark.parametrize("status", FINISHED)
def test_a_finished_execution_stays_as_it_is(status: Status) -> None:
    execution = finished(status, result={"n": 1})
    before = snapshot()
    assert cancel(execution) is False
    assert snapshot() == before


def test_an_execution_can_be_named_by_its_id() -> None:
    execution = pending()
    assert cancel(execution.pk) is True
    assert JobExecution.objects.get().status == Status.CANCELLED
    assert cancel(execution.pk + 1) is False


def test_a_stale_instance_is_no_reason_to_cancel_what_has_finished() -> None:
    execution = pending()
    assert execution.status == Status.PENDING
    JobExecution.objects.update(status=Status.SUCCESS, finished_at=DatabaseNow())
    before = snapshot()
    assert cancel(execution) is False
    assert snapshot() == before


def test_only_the_one_is_cancelled() -> None:
    execution, other = pending(), pending()
    cancel(execution)
    other.refresh_from_db()
    assert (other.status, other.cancel_requested) == (Status.PENDING, False)


def test_a_rollback_takes_the_cancellation_back() -> None:
    execution = pending()
    before = snapshot()
    with rolled_back():
        assert cancel(execution)
    assert snapshot() == before


@pytest.mark.django_db(transaction=True)
def test_a_claim_and_a_cancel_at_the_same_moment_agree_on_who_was_first() -> None:
    for _ in range(25):
        execution = pending()
        process_id = uuid.uuid4()
        claim_it: Any = partial(patiently, partial(claim_now, process_id=process_id))
        cancel_it: Any = partial(patiently, partial(cancel, execution))
        attempts, cancelled = together(claim_it, cancel_it)
        execution.refresh_from_db()
        assert cancelled is True
        assert execution.cancel_requested
        if attempts:
            assert (execution.status, execution.claimed_by) == (Status.RUNNING, process_id)
            assert (execution.finished_at, execution.error_message) == (None, "")
        else:
            assert (execution.status, execution.attempt) == (Status.CANCELLED, 0)
            assert (execution.claimed_by, execution.started_at) == (None, None)
        JobExecution.objects.all().delete()
