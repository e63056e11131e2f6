"""Whoever enqueues names queues and priorities: lanes without end must be in nobody's way."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobu import enqueue, retry
from jobu.conf import settings
from jobu.dialects import DatabaseNow, dialect_for
from jobu.models import JobExecution, Status
from jobu.models.job_execution import IN_LANE
from jobu.outcomes import succeeded
from jobu.queue import lanes as lanes_module
from jobu.queue.actions import cancel
from jobu.queue.claim import claim
from jobu.queue.lanes import Place, find_lanes, look
from jobu.queue.settle import settle
from jobu.reading.depth import count_claimable
from jobu.transactions import write_transaction
from tests.builders import claim_now, claimed, column, failure, pending, row_of, settle_now
from tests.connections import locked_elsewhere, together
from tests.plans import caught

pytestmark = pytest.mark.django_db

FAR = datetime(2999, 1, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a look find ten lanes, and step over three that are not due."""
    monkeypatch.setattr(look, "__defaults__", ((), None, 10))
    monkeypatch.setattr(lanes_module, "_MAX_NOT_DUE", 3)


def fill(count: int, **fields: object) -> None:
    """Make lanes with one execution each, half of them by queue and half by priority."""
    JobExecution.objects.bulk_create(
        JobExecution(
            handler_name="echo",
            queue=f"lane{number}" if number % 2 else "default",
            priority=0 if number % 2 else number,
            **fields,
        )
        for number in range(1, count + 1)
    )


def looks(queues: tuple[str, ...] = ()) -> Iterator[set[Place]]:
    """Look from the beginning to the end, and yield what each look found."""
    after: Place | None = None
    while True:
        found = look(queues, after)
        yield {(lane.queue, lane.priority) for lane in found.lanes}
        after = found.end
        if after is None:
            return


def aside() -> int:
    return JobExecution.objects.filter(aside_until__gt=IN_LANE).count()


@pytest.mark.parametrize("queues", [(), ("default", "lane3", "lane7")], ids=["all", "some"])
def test_looks_that_go_on_where_the_last_one_ended_find_each_lane_once(
    queues: tuple[str, ...],
) -> None:
    fill(47)
    every = set(JobExecution.objects.values_list("queue", "priority"))
    wanted = {place for place in every if not queues or place[0] in queues}
    found = list(looks(queues))
    assert all(len(places) <= 10 for places in found)
    assert sum(map(len, found)) == len(wanted)
    assert set().union(*found) == wanted


def test_what_is_not_due_is_set_aside_and_the_rest_of_the_looks_find_what_is() -> None:
    fill(200, available_at=FAR)
    due = pending(queue="zebra")
    after = None
    for _ in range(30):
        after = find_lanes(after=after).end
    assert aside() >= 200 - 3
    with CaptureQueriesContext(connection) as queries:
        found = find_lanes()
    assert [lane.queue for lane in found.due] == ["zebra"]
    assert (len(found.lanes) <= 4, found.end) == (True, None)
    steps_by_index = dialect_for(settings.DATABASE).steps_by_index
    assert len(queries) == (1 if steps_by_index else len(found.lanes) + 1)
    assert [attempt.execution_id for attempt in claim_now()] == [due.pk]


def test_a_few_lanes_that_are_not_due_stay_where_they_are() -> None:
    fill(3, available_at=FAR)
    find_lanes()
    assert aside() == 0


def test_of_the_lanes_that_are_not_due_those_that_are_due_first_stay() -> None:
    executions = [
        pending(priority=number, available_at=DatabaseNow(1000 + number)) for number in range(6)
    ]
    find_lanes()
    assert [column(each, "aside_until") == IN_LANE for each in executions] == [True] * 3 + [
        False
    ] * 3


def test_a_look_knows_when_the_first_that_was_set_aside_is_due() -> None:
    assert look().aside_in == float("inf")
    pending(available_at=DatabaseNow(600), aside_until=DatabaseNow(600))
    pending(available_at=DatabaseNow(300), aside_until=DatabaseNow(300))
    assert 240 < look().aside_in < 300.01
    assert look().lanes == []


def test_what_was_set_aside_comes_back_when_it_is_due() -> None:
    execution = pending(available_at=DatabaseNow(-1), aside_until=DatabaseNow(-1))
    later = pending(available_at=FAR, aside_until=FAR)
    assert look().lanes == []
    assert claim_now()[0].execution_id == execution.pk
    assert column(execution, "aside_until") == IN_LANE
    assert column(later, "aside_until") == FAR


def test_nothing_is_claimed_before_its_time_wherever_it_is() -> None:
    pending(available_at=FAR)
    pending(available_at=FAR, aside_until=DatabaseNow(-1))
    assert claim_now() == []
    assert count_claimable(10) == 0


def test_what_is_retried_is_in_its_lane_at_once() -> None:
    execution = pending(available_at=FAR, aside_until=FAR)
    assert cancel(execution)
    assert retry(execution)
    assert [attempt.execution_id for attempt in claim_now()] == [execution.pk]


def test_a_retry_in_backoff_can_be_set_aside_like_anything_else() -> None:
    [attempt] = claimed(max_retry=3)
    settle_now(failure(attempt, delay=1000))
    fill(20, available_at=DatabaseNow(500))
    for _ in range(5):
        find_lanes()
    assert row_of(attempt).aside_until == row_of(attempt).available_at


@pytest.mark.row_locks
@pytest.mark.django_db(transaction=True)
def test_what_somebody_locks_is_moved_the_next_time() -> None:
    locked, other = (
        pending(available_at=DatabaseNow(-1), aside_until=DatabaseNow(-1)) for _ in range(2)
    )
    with locked_elsewhere(locked):
        assert [attempt.execution_id for attempt in claim_now()] == [other.pk]
    assert [attempt.execution_id for attempt in claim_now()] == [locked.pk]


@pytest.mark.django_db(transaction=True)
def test_several_may_look_at_once_and_each_execution_is_claimed_once() -> None:
    fill(60, available_at=DatabaseNow(-1), aside_until=DatabaseNow(-1))
    fill(60, available_at=FAR)

    def drain() -> list[int]:
        process_id, claimed_ids, after = uuid.uuid4(), [], None
        while JobExecution.objects.pending().filter(available_at__lte=DatabaseNow()).exists():
            found = find_lanes(after=after)
            after = found.end
            with write_transaction(settings.DATABASE):
                claimed_ids += [a.execution_id for a in claim(found.lanes, 100, process_id)]
        return claimed_ids

    together(drain, drain, drain)
    assert set(JobExecution.objects.running().values_list("attempt", flat=True)) == {1}
    assert JobExecution.objects.running().count() == 60


def test_what_waits_in_very_many_lanes_is_counted_to_the_limit() -> None:
    fill(30)
    assert count_claimable(7) == 7
    assert count_claimable(100) == 30


def test_an_execution_that_is_enqueued_for_later_is_in_its_lane() -> None:
    execution = enqueue("echo", available_at=FAR)
    assert execution.aside_until == column(execution, "aside_until") == IN_LANE
    assert column(execution, "status") == Status.PENDING


@pytest.mark.django_db(transaction=True)
def test_a_plain_execution_takes_no_more_statements_for_it() -> None:
    connection.ensure_connection()
    with caught() as statements:
        enqueue("echo")
        found = look()
        with write_transaction(settings.DATABASE):
            [attempt] = claim(found.lanes, 1, uuid.uuid4())
            settle([succeeded(attempt, None)])
    verbs = [statement.sql.strip("( \n").split()[0] for statement in statements]
    inserts = ["SELECT"] if connection.vendor == "postgresql" else ["INSERT"]
    if not connection.features.can_return_columns_from_insert:
        # The times that were stored are asked for.
        inserts.append("SELECT")
    # Where the database cannot step by itself, a second step finds that there is no other lane.
    steps = ["WITH"] if dialect_for(settings.DATABASE).steps_by_index else ["SELECT", "SELECT"]
    begins = ["BEGIN"] if connection.vendor == "sqlite" else []
    assert verbs == [*inserts, *steps, *begins, "SELECT", "UPDATE", "UPDATE"]
