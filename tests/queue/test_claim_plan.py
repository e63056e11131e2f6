"""Very many finished executions slow nothing down, on a table that nobody has analysed."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management.color import no_style
from django.db import connection
from django.db.models import Max
from django.test import Client

from jobu.conf import settings
from jobu.dialects import DatabaseNow, dialect_for
from jobu.models import CronJob, JobExecution, Process, Status, Tally
from jobu.models.fields import StatusIndex
from jobu.models.job_execution import IN_LANE
from jobu.outcomes import succeeded
from jobu.queue.claim import claim, claim_in_one_statement
from jobu.queue.lanes import Lane, find_lanes, look
from jobu.queue.prune import prune
from jobu.queue.rescue import rescue
from jobu.queue.settle import settle
from jobu.reading.tally import count_finished
from jobu.transactions import write_transaction
from tests.admin.pages import list_of, page_of
from tests.api.callers import caller
from tests.builders import DAY, attempt_of, claim_now, cron, pending, process, running
from tests.plans import TABLE, Plan, Statement, caught, plan_of

pytestmark = pytest.mark.django_db

SEEDS = 1000
# Enough that each planner prefers its indexes. To fill the table is most of the work here; without
# statistics PostgreSQL reads and sorts some hundred thousand of them for a prune.
FINISHED_ROWS = 1_000_000 if connection.vendor == "postgresql" else 200_000
PENDING_ROWS = 100_000
HOLDER = uuid.uuid4()
LIVE_HOLDER = uuid.uuid4()
STATUS_INDEXES = [
    index.name for index in JobExecution._meta.indexes if isinstance(index, StatusIndex)
]


@pytest.fixture(scope="module", autouse=True)
def _full_table(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    with django_db_blocker.unblock():
        empty_table()
        keep_statistics_as_they_are(True)
        try:
            process(id=LIVE_HOLDER, beat_seconds_ago=-DAY)
            JobExecution.objects.bulk_create(seeds())
            multiply(Status.SUCCESS, FINISHED_ROWS)
            multiply(Status.PENDING, PENDING_ROWS)
            yield
        finally:
            empty_table()
            Process.objects.all().delete()
            keep_statistics_as_they_are(False)


def seeds() -> Iterator[JobExecution]:
    for number in range(SEEDS):
        lane = {"queue": f"queue{number % 4}", "priority": number % 3 - 1, "handler_name": "echo"}
        yield JobExecution(
            **lane,
            status=Status.SUCCESS,
            claimed_by=uuid.uuid4(),
            attempt=1,
            available_at=DatabaseNow(-number),
            started_at=DatabaseNow(-number),
            finished_at=DatabaseNow(-number),
        )
        # Half of them are due, half are due later.
        due_in = number if number % 2 else -number
        yield JobExecution(**lane, available_at=DatabaseNow(due_in))
        if number < 100:
            holder = HOLDER if number < 10 else LIVE_HOLDER
            yield JobExecution(**lane, status=Status.RUNNING, claimed_by=holder, attempt=1)


def multiply(status: Status, wanted: int) -> None:
    columns = ", ".join(str(f.column) for f in JobExecution._meta.local_fields if not f.primary_key)
    count = SEEDS
    with connection.cursor() as cursor:
        while count < wanted:
            cursor.execute(
                f"INSERT INTO {TABLE} ({columns}) SELECT {columns} FROM {TABLE} "
                f"WHERE status = '{status.value}' LIMIT {wanted - count}"
            )
            count += cursor.rowcount


def keep_statistics_as_they_are(keep: bool) -> None:
    """Hold off the servers' own analysing, which would come in the middle of a test or not."""
    statements = {
        "postgresql": f"ALTER TABLE {TABLE} SET (autovacuum_enabled = {not keep})",
        "mysql": f"ALTER TABLE {TABLE} STATS_AUTO_RECALC = {'0' if keep else 'DEFAULT'}",
    }
    if connection.vendor in statements:
        with connection.cursor() as cursor:
            cursor.execute(statements[connection.vendor])


def empty_table() -> None:
    # With whatever refers to it, which a TRUNCATE asks for.
    flush = connection.ops.sql_flush(no_style(), [TABLE], reset_sequences=True, allow_cascade=True)
    connection.ops.execute_sql_flush(flush)


def reads(statements: list[Statement]) -> list[Statement]:
    """Return those that select executions."""
    name = connection.ops.quote_name(TABLE)
    found = [s for s in statements if s.sql.startswith("SELECT") and f" FROM {name}" in s.sql]
    return [s for s in found if s.sql.index(" FROM ") == s.sql.index(f" FROM {name}")]


def assert_goes_by(index: str, statements: list[Statement], *as_good: str) -> None:
    assert statements
    for statement in statements:
        plan = plan_of(statement)
        assert plan.indexes in ({index}, *({name} for name in as_good)), (
            f"{statement.sql}\n{plan.text}"
        )
        assert not plan.scans, f"{statement.sql}\n{plan.text}"
        assert not plan.sorts, f"{statement.sql}\n{plan.text}"


def test_a_claim_reads_its_lanes_by_the_index_of_pending_executions() -> None:
    with caught() as statements:
        assert len(claim_now(100, queues=["queue1"])) == 100
    claiming = [s for s in reads(statements) if "LIMIT 100" in s.sql]
    assert len(claiming) == 1
    assert_goes_by("jobu_exec_pending", claiming)


def test_claims_begin_where_the_lane_was_found_and_go_on_where_the_last_one_ended() -> None:
    [lane, *_] = find_lanes(["queue2"]).lanes
    with caught() as statements, write_transaction(settings.DATABASE):
        for _ in range(2):
            assert len(claim([lane], 100, HOLDER)) == 100
    claiming = [s for s in reads(statements) if "LIMIT 100" in s.sql]
    assert_goes_by("jobu_exec_pending", claiming)
    mark = "available_at, id) >" if connection.vendor == "postgresql" else "available_at >"
    assert [mark in s.sql for s in claiming] == [connection.vendor != "sqlite"] * 2
    if connection.vendor == "postgresql":
        # The mark bounds what is read of the index; a filter would read over all before it.
        for statement in claiming:
            [condition] = [line for line in plan_of(statement).text.splitlines() if mark in line]
            assert "Index Cond" in condition


@pytest.mark.skipif(connection.vendor != "postgresql", reason="one statement cannot claim here")
def test_one_statement_claims_by_the_indexes() -> None:
    with caught() as statements:
        assert len(claim_in_one_statement(Lane("queue2", 0, 0.0), 5, HOLDER)) == 5
    [statement] = statements
    plan = plan_of(statement)
    assert plan.indexes == {"jobu_exec_pending", "PRIMARY"}, plan.text
    assert not plan.scans, plan.text
    assert not plan.sorts, plan.text


def test_a_claim_marks_its_rows_by_primary_key() -> None:
    with caught() as statements:
        assert len(claim_now(100, queues=["queue1"])) == 100
    marking = [s for s in statements if s.sql.startswith("UPDATE")]
    assert_goes_by("PRIMARY", marking)


@pytest.mark.parametrize("queues", [(), ("queue1", "queue2")], ids=["all", "two"])
def test_a_look_steps_from_lane_to_lane_by_the_index_of_pending_executions(
    queues: tuple[str, ...],
) -> None:
    lanes = 3 * (len(queues) or 4)
    with caught() as statements:
        assert len(look(queues).lanes) == lanes
    # Where the database cannot step by itself: one statement for each lane, and one at each end.
    steps_by_index = dialect_for(settings.DATABASE).steps_by_index
    assert len(statements) == (1 if steps_by_index else lanes + max(1, len(queues)))
    for statement in statements:
        plan = plan_of(statement)
        assert plan.indexes <= {"jobu_exec_pending", "PRIMARY"}, plan.text
        assert "jobu_exec_pending" in plan.indexes, plan.text
        assert not plan.scans, plan.text
        assert_begins_in_the_index(plan)


def assert_begins_in_the_index(plan: Plan) -> None:
    """Fail if a step reads over all that is in a lane to come to the next one."""
    if connection.vendor == "postgresql":
        steps = [
            line for line in plan.text.splitlines() if "Index Cond" in line and "priority" in line
        ]
        assert len(steps) >= 2, plan.text
        assert 'Filter": "(n' not in plan.text, plan.text
    elif connection.vendor == "sqlite":
        step = "INDEX jobu_exec_pending (aside_until=? AND queue=? AND priority>?)"
        assert plan.text.count(step) >= 2, plan.text
    else:
        steps = [line for line in plan.text.splitlines() if "'table': 'n'" in line]
        assert steps, plan.text
        # By a whole queue, MySQL goes only where no priority is left out.
        reads_over = [step for step in steps if "'ref'," in step and "Using where" in step]
        assert not reads_over, plan.text


def test_what_was_set_aside_is_found_and_brought_back_by_the_same_index() -> None:
    aside = JobExecution.objects.pending().filter(available_at__gt=DatabaseNow(1)).order_by("id")
    ids = list(aside.values_list("id", flat=True)[:100])
    JobExecution.objects.filter(id__in=ids).update(aside_until=DatabaseNow(-1))
    with caught() as statements:
        find_lanes()
    assert not JobExecution.objects.filter(id__in=ids, aside_until__gt=IN_LANE).exists()
    assert_goes_by("jobu_exec_pending", [s for s in reads(statements) if "LIMIT 1000" in s.sql])
    assert_goes_by("PRIMARY", [s for s in statements if s.sql.startswith("UPDATE")])


def test_what_a_process_holds_is_found_by_the_index_of_running_executions() -> None:
    with caught() as statements:
        assert len(JobExecution.objects.held_by(HOLDER).values_list("id")) == 10
    assert_goes_by("jobu_exec_running", reads(statements))


def test_a_rescue_looks_for_orphans_by_the_index_of_running_executions() -> None:
    with caught() as statements:
        assert len(rescue()) == 10
    # Without partial indexes, each that is led by the status reads the running executions alone.
    led_by_status = () if connection.features.supports_partial_indexes else STATUS_INDEXES
    assert_goes_by("jobu_exec_running", reads(statements), *led_by_status)


def test_settling_reaches_its_rows_by_primary_key() -> None:
    held = [attempt_of(running(HOLDER)) for _ in range(100)]
    with caught() as statements:
        settle([succeeded(attempt, "{}") for attempt in held])
    assert_goes_by("PRIMARY", [s for s in statements if "UPDATE" in s.sql])


def test_a_prune_that_finds_nothing_does_not_read_the_history() -> None:
    with caught() as statements:
        assert list(prune(days=1)) == []
    assert_goes_by("jobu_exec_finished_at", reads(statements))


def test_a_prune_finds_old_history_by_the_index_of_finish_times() -> None:
    with caught() as statements:
        assert next(prune(500 / DAY, batch_size=100)) == 100
    taking = [s for s in reads(statements) if "LIMIT 100" in s.sql]
    assert_goes_by("jobu_exec_finished_at", taking)


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"status": "SUCCESS"},
        {"status": "PENDING"},
        {"status": "RUNNING"},
        {"status": "FAILED"},
        {"handler_name": "fail"},
        {"queue": "queue1"},
        {"cron_id": "CRON"},
        {"cron_id": "CRON", "status": "FAILED"},
        {"from": "2026-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"},
        {
            "to": "2100-01-01T00:00:00Z",
            "status": "TIMEOUT",
            "handler_name": "echo",
            "queue": "queue1",
        },
    ],
    ids=str,
)
def test_no_page_of_executions_over_http_scans_them(query: dict[str, Any]) -> None:
    job = cron()
    pending(job=job)
    query = {name: job.pk if value == "CRON" else value for name, value in query.items()}
    api = caller("read token")
    newest = JobExecution.objects.order_by("-pk").values_list("pk", flat=True)[0]
    for cursor in ({}, {"cursor": newest - PENDING_ROWS // 2}):
        with caught() as statements:
            assert api.get("jobs", **query, **cursor).status == 200
        # The first and the last row of all are asked for without a condition.
        for statement in (s for s in reads(statements) if " WHERE " in s.sql):
            plan = plan_of(statement)
            assert plan.indexes, f"{statement.sql}\n{plan.text}"
            assert not plan.scans, f"{statement.sql}\n{plan.text}"


def test_a_page_of_a_cron_job_reads_none_of_the_others() -> None:
    old = CronJob.objects.create(name="a", cron_expression="0 1 * * *", handler_name="echo")
    ids = JobExecution.objects.order_by("id").values_list("pk", flat=True)
    # With very many before and after them.
    start = ids[FINISHED_ROWS // 2]
    its = JobExecution.objects.filter(pk__range=(start, start + FINISHED_ROWS // 10))
    count = its.update(job=old)
    assert count > 10_000
    visitor = Client()
    visitor.force_login(User.objects.create_superuser("operator"))
    api = caller("read token")
    middle = start + count // 2
    with caught() as statements:
        assert api.get("jobs", cron_id=old.pk).status == 200
        assert api.get("jobs", cron_id=old.pk, cursor=middle).status == 200
        for query in ({}, {"before": middle}, {"after": middle}):
            assert visitor.get(list_of(JobExecution, cron=old.pk, **query)).status_code == 200
        assert visitor.get(page_of(JobExecution.objects.get(pk=middle))).status_code == 200
        assert visitor.get(list_of(CronJob)).status_code == 200
    pages = [s for s in reads(statements) if "job_id" in s.sql.partition(" WHERE ")[2]]
    assert len(pages) >= 8
    for statement in pages:
        plan = plan_of(statement)
        # Both begin with the cron job. Of few rows a planner may sort what the second one finds.
        assert plan.indexes <= {"jobu_exec_job", "jobu_exec_unique_tick"}, plan.text
        assert plan.indexes and not plan.scans, f"{statement.sql}\n{plan.text}"


def test_counting_what_finished_reads_only_that() -> None:
    newest = JobExecution.objects.aggregate(newest=Max("finished_at"))["newest"]
    Tally.objects.create(pk=1, counted_until=newest - timedelta(seconds=100))
    with caught() as statements:
        totals = count_finished()
    assert 0 < totals["echo"]["SUCCESS"]["count"] < FINISHED_ROWS / 4
    for statement in reads(statements):
        plan = plan_of(statement)
        assert plan.indexes == {"jobu_exec_finished_at"}, f"{statement.sql}\n{plan.text}"
        assert not plan.scans, f"{statement.sql}\n{plan.text}"
