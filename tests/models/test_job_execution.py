"""What the database itself refuses, and the words for what it holds."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import DataError, IntegrityError, connection, transaction

from jobu.dialects import DatabaseNow
from jobu.models import JobExecution, Status
from jobu.outcomes import FINISHED
from tests.builders import column, cron, database_now, finished, pending, running
from tests.models.refusal import refused

pytestmark = pytest.mark.django_db


TICK = datetime(2026, 3, 1, 6, 30, tzinfo=UTC)


LOOK_ALIKES = ("mail", "Mail", "MAIL", "mail ", " mail", "máil")


@pytest.mark.parametrize("status", ["DONE", "", "pending", "Pending", "PENDING "])
def test_an_unknown_status_is_refused(status: str) -> None:
    assert refused(pending(), status=status)


@pytest.mark.parametrize("source", ["kafka", "", "API", "api "])
def test_an_unknown_param_source_is_refused(source: str) -> None:
    assert refused(pending(), param_source=source)


@pytest.mark.parametrize("counter", ["retry_count", "max_retry", "attempt"])
def test_a_negative_counter_is_refused(counter: str) -> None:
    execution = pending()
    assert refused(execution, **{counter: -1})
    assert not refused(execution, **{counter: 0})


@pytest.mark.parametrize("seconds", [0, -1])
def test_a_timeout_of_nothing_is_refused(seconds: int) -> None:
    assert refused(pending(), timeout_seconds=seconds)


def test_a_running_execution_must_be_claimed_by_somebody() -> None:
    execution = pending()
    assert refused(execution, status=Status.RUNNING)
    assert not refused(execution, status=Status.RUNNING, claimed_by=uuid.uuid4())
    assert refused(execution, claimed_by=None)


@pytest.mark.parametrize("status", FINISHED)
def test_a_finished_execution_must_know_when(status: Status) -> None:
    execution = pending()
    assert refused(execution, status=status)
    assert not refused(execution, status=status, finished_at=DatabaseNow())
    assert refused(execution, finished_at=None)


@pytest.mark.parametrize("status", Status.values)
def test_every_status_of_the_lifecycle_is_accepted(status: str) -> None:
    change = {"status": status, "claimed_by": uuid.uuid4(), "finished_at": TICK}
    assert not refused(pending(), **change)


@pytest.mark.parametrize("name", ["queue", "handler_name", "params", "available_at", "errors"])
def test_what_every_execution_needs_cannot_be_missing(name: str) -> None:
    assert refused(pending(), **{name: None})


def test_a_cron_has_one_execution_for_each_tick() -> None:
    nightly = cron()
    pending(job=nightly, scheduled_time=TICK)
    pending(job=nightly, scheduled_time=TICK + timedelta(days=1))
    pending(job=cron("hourly"), scheduled_time=TICK)
    with pytest.raises(IntegrityError), transaction.atomic():
        pending(job=nightly, scheduled_time=TICK)
    with pytest.raises(IntegrityError), transaction.atomic():
        JobExecution.objects.bulk_create(
            [JobExecution(handler_name="echo", job=nightly, scheduled_time=TICK)]
        )
    assert JobExecution.objects.count() == 3


def test_executions_without_a_tick_do_not_stand_in_each_others_way() -> None:
    nightly = cron()
    for _ in range(2):
        pending(job=nightly)
        pending(scheduled_time=TICK)
    assert JobExecution.objects.count() == 4


def test_a_dedupe_key_is_taken_once() -> None:
    finished(dedupe_key="welcome:42")
    with pytest.raises(IntegrityError), transaction.atomic():
        pending(dedupe_key="welcome:42")
    other = pending(dedupe_key="welcome:43")
    assert refused(other, dedupe_key="welcome:42")


def test_executions_without_a_dedupe_key_are_as_many_as_you_like() -> None:
    JobExecution.objects.bulk_create(JobExecution(handler_name="echo") for _ in range(3))
    assert JobExecution.objects.filter(dedupe_key=None).count() == 3


@pytest.mark.parametrize("name", ["dedupe_key", "queue", "handler_name"])
def test_look_alikes_are_different(name: str) -> None:
    for text in LOOK_ALIKES:
        pending(**{name: text})
    for text in LOOK_ALIKES:
        found = JobExecution.objects.filter(**{name: text})
        assert [getattr(execution, name) for execution in found] == [text]
    assert JobExecution.objects.values(name).distinct().count() == len(LOOK_ALIKES)


def test_deleting_a_cron_keeps_its_history() -> None:
    nightly = cron()
    kept = finished(job=nightly, scheduled_time=TICK)
    waiting = pending(job=nightly, scheduled_time=TICK + timedelta(days=1))
    nightly.delete()
    kept.refresh_from_db()
    assert (kept.job, kept.scheduled_time, kept.status) == (None, TICK, Status.SUCCESS)
    assert column(waiting, "status") == Status.PENDING


def test_the_vocabulary_names_every_stage_of_life() -> None:
    due = pending()
    later = pending(available_at=DatabaseNow(600))
    process_id = uuid.uuid4()
    ours = running(process_id)
    others = running()
    ends = {status: finished(status) for status in FINISHED}

    def found(name: str, *args: Any) -> set[int]:
        return set(getattr(JobExecution.objects, name)(*args).values_list("pk", flat=True))

    assert found("pending") == {due.pk, later.pk}
    assert found("claimable") == {due.pk}
    assert found("running") == {ours.pk, others.pk}
    assert found("held_by", process_id) == {ours.pk}
    assert found("finished") == {execution.pk for execution in ends.values()}
    assert found("dead") == {ends[Status.FAILED].pk, ends[Status.TIMEOUT].pk}


def test_the_vocabulary_can_be_strung_together() -> None:
    mail = pending(queue="mail")
    pending(queue="web")
    finished(queue="mail")
    assert JobExecution.objects.filter(queue="mail").claimable().get() == mail


def test_an_execution_knows_whether_it_is_finished() -> None:
    assert not pending().is_finished
    assert not running().is_finished
    assert all(finished(status).is_finished for status in FINISHED)


def test_an_execution_is_named_by_handler_and_id() -> None:
    execution = pending()
    assert str(execution) == f"echo #{execution.pk}"


def test_a_new_execution_is_due_at_once_by_the_databases_clock() -> None:
    before = database_now()
    execution = pending()
    after = database_now()
    for name in ("available_at", "created_at"):
        assert before <= column(execution, name) <= after


def test_a_saved_execution_knows_the_times_that_the_database_gave_it() -> None:
    execution = pending()
    assert (execution.available_at, execution.created_at) == JobExecution.objects.values_list(
        "available_at", "created_at"
    ).get(pk=execution.pk)


@pytest.mark.parametrize(
    "lookup",
    [
        {"params": {"order": 42, "price": 0.5}},
        {"params__order": 42},
        {"params__price__gt": 0.4},
        {"params__has_key": "price"},
    ],
    ids=str,
)
def test_an_execution_is_found_by_its_params(lookup: dict[str, Any]) -> None:
    pending(params={"order": 43})
    wanted = pending(params={"order": 42, "price": 0.5})
    assert list(JobExecution.objects.filter(**lookup)) == [wanted]


@pytest.mark.parametrize("text", ["", "{", "NaN"])
def test_what_is_not_json_cannot_be_stored_as_params(text: str) -> None:
    pending()
    update = f"UPDATE {JobExecution._meta.db_table} SET params = %s"
    with connection.cursor() as cursor, transaction.atomic():
        with pytest.raises((IntegrityError, DataError)):
            cursor.execute(update, [text])
        transaction.set_rollback(True)
