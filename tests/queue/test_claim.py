"""PENDING → RUNNING, each execution by exactly one process."""

from __future__ import annotations

import uuid
from collections import Counter
from typing import Any

import pytest
from django.db import connection, transaction

from jobu.conf import settings
from jobu.dialects import DatabaseNow, dialect_for
from jobu.exceptions import JobuError
from jobu.models import JobExecution, Status
from jobu.queue.claim import claim, claim_in_one_statement
from jobu.queue.lanes import Lane, find_lanes
from jobu.transactions import write_transaction
from tests.builders import (
    DAY,
    claim_now,
    column,
    database_now,
    finished,
    pending,
    running,
    snapshot,
)
from tests.connections import locked_elsewhere, patiently, together

pytestmark = pytest.mark.django_db

needs_to_claim_in_one_statement = pytest.mark.skipif(
    not dialect_for(settings.DATABASE).claims_in_one_statement,
    reason="one statement cannot claim here",
)


def ids(executions: list[JobExecution]) -> list[int]:
    return [execution.pk for execution in executions]


def claimed_ids(limit: int = 1000, **options: Any) -> list[int]:
    return [attempt.execution_id for attempt in claim_now(limit, **options)]


def lanes_of(*queues: str) -> list[tuple[str, int, bool]]:
    return [(lane.queue, lane.priority, lane.due_in <= 0) for lane in find_lanes(queues).lanes]


def test_a_claimed_execution_runs_in_the_process_that_claimed_it() -> None:
    execution = pending(params={"n": 1}, queue="mail", max_retry=5, timeout_seconds=7)
    process_id = uuid.uuid4()
    before = database_now()
    [attempt] = claim_now(process_id=process_id)
    after = database_now()
    assert (attempt.execution_id, attempt.number) == (execution.pk, 1)
    assert (attempt.claimed_by, attempt.handler_name) == (process_id, "echo")
    assert (attempt.params, attempt.queue) == ({"n": 1}, "mail")
    assert (attempt.retry_count, attempt.max_retry, attempt.timeout_seconds) == (0, 5, 7)
    execution.refresh_from_db()
    assert (execution.status, execution.claimed_by) == (Status.RUNNING, process_id)
    assert execution.attempt == 1
    assert execution.started_at is not None
    assert before <= execution.started_at <= after


def test_each_claim_counts_as_one_attempt_more() -> None:
    pending(attempt=4, retry_count=2)
    [attempt] = claim_now()
    assert (attempt.number, attempt.retry_count) == (5, 2)
    assert column(attempt.execution_id, "attempt") == 5


def test_higher_priority_goes_first_then_what_is_due_longer_then_what_came_first() -> None:
    plain, twin = pending(), pending()
    JobExecution.objects.update(available_at=DatabaseNow(-30))
    older = pending(available_at=DatabaseNow(-60))
    low = pending(priority=-5, available_at=DatabaseNow(-600))
    high = pending(priority=5)
    assert claimed_ids() == ids([high, older, plain, twin, low])


def test_the_order_holds_over_claims_of_any_size() -> None:
    executions = [pending(priority=priority) for priority in (3, 2, 1, 0) for _ in range(5)]
    claimed = [pk for limit in (1, 2, 7, 3, 100) for pk in claimed_ids(limit)]
    assert claimed == ids(executions)


def test_among_queues_of_the_same_priority_the_one_that_waits_longest_goes_first() -> None:
    second = pending(queue="a", available_at=DatabaseNow(-10))
    first = pending(queue="b", available_at=DatabaseNow(-20))
    third = pending(queue="c")
    assert claimed_ids() == ids([first, second, third])


def test_nothing_is_claimed_before_its_time() -> None:
    later = pending(available_at=DatabaseNow(600), priority=9)
    due = pending(available_at=DatabaseNow(-600))
    assert claimed_ids() == [due.pk]
    assert column(later, "status") == Status.PENDING


def test_a_lane_with_something_due_gives_only_what_is_due() -> None:
    due = [pending() for _ in range(3)]
    for _ in range(3):
        pending(available_at=DatabaseNow(600))
    assert claimed_ids() == ids(due)


def test_only_pending_executions_are_claimed() -> None:
    running()
    for status in (Status.SUCCESS, Status.FAILED, Status.TIMEOUT, Status.CANCELLED):
        finished(status)
    assert claimed_ids() == []
    assert find_lanes().lanes == []


def test_only_the_asked_queues_are_claimed_from() -> None:
    executions = {queue: pending(queue=queue) for queue in ("a", "A", "b", "c")}
    assert set(claimed_ids(queues=["a", "b"])) == {executions["a"].pk, executions["b"].pk}
    assert claimed_ids(queues=["nobody"]) == []
    assert set(claimed_ids()) == {executions["A"].pk, executions["c"].pk}


@pytest.mark.parametrize("limit", [1, 3, 5, 6])
def test_no_more_than_the_limit_is_claimed_over_all_lanes(limit: int) -> None:
    for number in range(6):
        pending(queue=f"queue{number % 2}", priority=number % 3)
    assert len(claim_now(limit)) == min(limit, 6)
    assert JobExecution.objects.running().count() == min(limit, 6)


def test_nothing_is_claimed_without_room() -> None:
    pending()
    assert claim_now(0) == []
    assert JobExecution.objects.pending().count() == 1


def test_a_lane_is_a_queue_and_a_priority() -> None:
    for queue in ("a", "b"):
        for priority in (-1, 0, 0, 7):
            pending(queue=queue, priority=priority)
    assert {(lane.queue, lane.priority) for lane in find_lanes().lanes} == {
        (queue, priority) for queue in ("a", "b") for priority in (-1, 0, 7)
    }
    assert [lane.priority for lane in find_lanes().lanes] == [7, 7, 0, 0, -1, -1]
    assert [lane.priority for lane in find_lanes(["b"]).lanes] == [7, 0, -1]
    assert find_lanes(["c"]).lanes == []


def test_many_queues_and_priorities_are_all_found() -> None:
    expected = {(f"queue{q:02}", p) for q in range(20) for p in (-32_767, -1, 0, 32_767)}
    # Names whose order depends on the collation, and that look alike.
    expected |= {(q, 0) for q in ("Z", "a", "A", "a ", "é", "e", "_", "-", "😀", "ß", "ss")}
    JobExecution.objects.bulk_create(
        JobExecution(handler_name="echo", queue=q, priority=p) for q, p in expected
    )
    assert {(lane.queue, lane.priority) for lane in find_lanes().lanes} == expected
    some = ["a", "queue03", "é", "nobody"]
    assert {(lane.queue, lane.priority) for lane in find_lanes(some).lanes} == {
        lane for lane in expected if lane[0] in some
    }
    assert len(claim_now()) == len(expected)


def test_a_lane_knows_how_soon_its_first_execution_is_due() -> None:
    pending(queue="later", available_at=DatabaseNow(900))
    pending(queue="later", available_at=DatabaseNow(600))
    pending(queue="late", available_at=DatabaseNow(-600))
    pending(queue="late", available_at=DatabaseNow(900))
    by_queue = {lane.queue: lane.due_in for lane in find_lanes().lanes}
    # A minute for whatever keeps the machine busy between writing and asking.
    assert 540 < by_queue["later"] < 600.01
    assert -660 < by_queue["late"] < -599.99
    assert lanes_of() == [("late", 0, True), ("later", 0, False)]


def test_a_lane_that_emptied_meanwhile_gives_nothing() -> None:
    pending()
    lanes = find_lanes().lanes
    claim_now()
    with transaction.atomic():
        assert claim(lanes, 10, uuid.uuid4()) == []


def test_a_lane_that_is_not_due_is_not_asked() -> None:
    execution = pending()
    with transaction.atomic():
        assert claim([Lane("default", 0, due_in=1.0)], 10, uuid.uuid4()) == []
        assert len(claim([Lane("default", 0, due_in=0.0)], 10, uuid.uuid4())) == 1
    assert column(execution, "status") == Status.RUNNING


def test_a_claim_that_is_rolled_back_leaves_everything_pending() -> None:
    for _ in range(3):
        pending()
    before = snapshot()
    with transaction.atomic():
        assert len(claim_now()) == 3
        transaction.set_rollback(True)
    assert snapshot() == before


def test_a_claim_whose_rows_changed_in_spite_of_its_locks_takes_nothing() -> None:
    taken, other = pending(), pending()
    lanes = find_lanes().lanes

    def take_first(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("UPDATE"):
            context["cursor"].cursor.execute(
                f"UPDATE {JobExecution._meta.db_table} SET status = 'CANCELLED', "
                f"finished_at = available_at WHERE id = {taken.pk}"
            )
        return execute(sql, params, many, context)

    with (
        pytest.raises(JobuError, match="Claimed 1 of 2"),
        transaction.atomic(),
        connection.execute_wrapper(take_first),
    ):
        claim(lanes, 10, uuid.uuid4())
    assert column(other, "status") == Status.PENDING


@pytest.mark.django_db(transaction=True)
def test_two_connections_never_claim_the_same_execution() -> None:
    for _ in range(15):
        JobExecution.objects.bulk_create(
            JobExecution(handler_name="echo", queue=f"queue{n % 2}", priority=n % 2)
            for n in range(40)
        )
        claims = together(claim_everything, claim_everything, claim_everything)
        counts = Counter(pk for claimed in claims for pk in claimed)
        assert len(counts) == 40
        assert set(counts.values()) == {1}
    assert set(JobExecution.objects.values_list("attempt", flat=True)) == {1}
    assert JobExecution.objects.running().count() == 600


def claim_everything() -> list[int]:
    process_id = uuid.uuid4()
    claimed: list[int] = []
    while JobExecution.objects.pending().exists():
        claimed += patiently(lambda: claimed_ids(3, process_id=process_id))
    assert set(claimed) == set(
        JobExecution.objects.held_by(process_id).values_list("id", flat=True)
    )
    return claimed


@pytest.mark.row_locks
@pytest.mark.django_db(transaction=True)
def test_a_row_that_somebody_locks_is_skipped_not_waited_for() -> None:
    executions = [pending() for _ in range(5)]
    with locked_elsewhere(executions[0], executions[2], running(), finished()):
        assert claimed_ids() == ids([executions[1], executions[3], executions[4]])
    assert claimed_ids() == ids([executions[0], executions[2]])


@pytest.mark.row_locks
@pytest.mark.django_db(transaction=True)
def test_a_lane_that_is_all_locked_does_not_hide_the_next_one() -> None:
    high, low = pending(priority=1), pending()
    with locked_elsewhere(high):
        assert claimed_ids(1) == [low.pk]


@needs_to_claim_in_one_statement
@pytest.mark.django_db(transaction=True)
def test_one_statement_claims_what_a_transaction_would() -> None:
    executions = [pending(params={"n": n}, available_at=DatabaseNow(n - 9)) for n in range(5)]
    pending(priority=1)
    pending(queue="mail")
    pending(available_at=DatabaseNow(DAY))
    lane, process_id = Lane("default", 0, 0.0), uuid.uuid4()
    with locked_elsewhere(executions[1]):
        attempts = claim_in_one_statement(lane, 3, process_id)
    assert [attempt.execution_id for attempt in attempts] == ids([executions[n] for n in (0, 2, 3)])
    assert [attempt.params["n"] for attempt in attempts] == [0, 2, 3]
    for attempt in attempts:
        row = JobExecution.objects.get(id=attempt.execution_id)
        assert (row.status, row.claimed_by, row.attempt) == (Status.RUNNING, process_id, 1)
        assert (attempt.number, attempt.claimed_by, attempt.queue) == (1, process_id, "default")
        assert row.started_at is not None
    assert [a.execution_id for a in claim_in_one_statement(lane, 9, process_id)] == ids(
        [executions[1], executions[4]]
    )
    assert claim_in_one_statement(lane, 9, process_id) == []


def claimed_in(lanes: list[Lane], limit: int, *, free: int | None = None) -> list[int]:
    with write_transaction(settings.DATABASE):
        return [attempt.execution_id for attempt in claim(lanes, limit, uuid.uuid4(), free=free)]


def test_a_lane_that_was_found_once_is_claimed_to_its_end_in_order() -> None:
    moments = [DatabaseNow(-3), DatabaseNow(-3), DatabaseNow(-2), DatabaseNow(-1)]
    executions = [pending(available_at=moments[number // 2]) for number in range(7)]
    lanes = find_lanes().lanes
    claims = [claimed_in(lanes, 3) for _ in range(4)]
    assert claims == [ids(executions[:3]), ids(executions[3:6]), ids(executions[6:]), []]


def test_what_comes_before_the_last_claim_is_found_with_the_lane_the_next_time() -> None:
    pending(available_at=DatabaseNow(-1))
    assert len(claimed_in(find_lanes().lanes, 1)) == 1
    earlier = pending(available_at=DatabaseNow(-DAY))
    assert claimed_ids() == [earlier.pk]


def test_what_was_left_for_want_of_a_slot_is_not_passed_over() -> None:
    again, last, after = pending(max_retry=3), pending(max_retry=1), pending(max_retry=3)
    lanes = find_lanes().lanes
    assert claimed_in(lanes, 10, free=1) == [again.pk, after.pk]
    assert claimed_in(lanes, 10, free=1) == [last.pk]
