"""Retry, cancel, discard and raise the priority of many: each as the single verb would."""

from __future__ import annotations

import pytest

from jobu import cancel, retry
from jobu.exceptions import NotJSONError
from jobu.models import JobExecution, Status
from jobu.outcomes import FINISHED
from jobu.queue.actions import cancel_many, discard_many, raise_priority_many, retry_many
from tests.builders import claim_now, column, finished, pending, running
from tests.connections import patiently, together

pytestmark = pytest.mark.django_db


def one_of_each() -> dict[str, JobExecution]:
    executions = [pending(), running(), *(finished(status) for status in FINISHED)]
    return {execution.status: execution for execution in executions}


def by_status(ids: list[int], executions: dict[str, JobExecution]) -> set[str]:
    return {status for status, execution in executions.items() if execution.pk in ids}


def ids_of(executions: dict[str, JobExecution]) -> list[int]:
    return [execution.pk for execution in executions.values()]


def test_the_dead_and_the_cancelled_are_retried_and_the_others_left_alone() -> None:
    executions = one_of_each()
    retried = retry_many([*ids_of(executions), 999_999])
    assert by_status(retried, executions) == {"FAILED", "TIMEOUT", "CANCELLED"}
    for status, execution in executions.items():
        execution.refresh_from_db()
        assert execution.status == ("PENDING" if execution.pk in retried else status)
    assert len(claim_now()) == 4


def test_what_waits_or_runs_is_cancelled_and_the_others_left_alone() -> None:
    executions = one_of_each()
    cancelled = cancel_many(ids_of(executions))
    assert by_status(cancelled, executions) == {"PENDING", "RUNNING"}
    assert column(executions["PENDING"], "status") == Status.CANCELLED
    assert column(executions["RUNNING"], "status") == Status.RUNNING
    assert column(executions["RUNNING"], "cancel_requested")
    assert not column(executions["SUCCESS"], "cancel_requested")


def test_what_is_finished_is_discarded_and_the_others_left_alone() -> None:
    executions = one_of_each()
    discarded = discard_many(ids_of(executions))
    assert by_status(discarded, executions) == {str(status) for status in FINISHED}
    assert set(JobExecution.objects.values_list("status", flat=True)) == {"PENDING", "RUNNING"}


def test_the_priority_of_what_waits_is_raised() -> None:
    executions = one_of_each()
    assert by_status(raise_priority_many(ids_of(executions), 5), executions) == {"PENDING"}
    assert column(executions["PENDING"], "priority") == 5
    assert column(executions["RUNNING"], "priority") == 0


@pytest.mark.parametrize(
    ("priority", "by", "raised"),
    [
        (32_000, 1_000, 32_767),
        (-32_000, -1_000, -32_767),
        (0, 10**9, 32_767),
        (-1, -(10**9), -32_767),
    ],
)
def test_a_priority_stays_within_what_it_can_be(priority: int, by: int, raised: int) -> None:
    execution = pending(priority=priority)
    raise_priority_many([execution.pk], by)
    assert column(execution, "priority") == raised


def test_nothing_to_do_is_fine() -> None:
    for many in (retry_many, cancel_many, discard_many):
        assert many([]) == []
    assert raise_priority_many([], 1) == []


def test_an_execution_can_be_retried_with_other_params() -> None:
    execution = finished(Status.FAILED, params={"days": "x"})
    assert retry(execution, params={"days": 7})
    assert column(execution, "params") == {"days": 7}
    cancel(execution)
    assert retry(execution)
    assert column(execution, "params") == {"days": 7}
    cancel(execution)
    with pytest.raises(NotJSONError, match="must be a dict"):
        retry(execution, params=["days"])  # type: ignore[arg-type]
    assert column(execution, "status") == Status.CANCELLED


@pytest.mark.django_db(transaction=True)
def test_two_who_retry_the_same_ones_retry_each_once() -> None:
    ids = [finished(Status.FAILED).pk for _ in range(20)]
    answers = together(
        lambda: patiently(lambda: retry_many(ids)), lambda: patiently(lambda: retry_many(ids[::-1]))
    )
    assert sorted(answers[0] + answers[1]) == ids
