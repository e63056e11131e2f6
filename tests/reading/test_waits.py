"""Why an execution waits, and what is wrong with the whole."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobu.dialects import DatabaseNow
from jobu.models import CronJob, JobExecution, Process, Status
from jobu.reading import find_troubles, recent_troubles, waits
from jobu.reading.waits import Waits
from tests.builders import database_now, finished, pending, process, running

pytestmark = pytest.mark.django_db


def reasons(execution: JobExecution, *, in_detail: bool = True) -> list[str]:
    execution = JobExecution.objects.select_related("job").get(pk=execution.pk)
    found = Waits().reasons(execution, database_now(), in_detail=in_detail)
    return [each.code for each in found]


def text(execution: JobExecution) -> str:
    execution.refresh_from_db()
    return " ".join(each.text for each in Waits().reasons(execution, database_now()))


def worker(*queues: str, **fields: Any) -> Process:
    return process(**{"queues": list(queues), "slots": 2, **fields})


def dispatcher(**fields: Any) -> Process:
    return process(kind="dispatcher", **fields)


def troubles() -> list[tuple[str, tuple[str, ...]]]:
    return [tuple(each) for each in find_troubles()]


def test_without_any_process_it_says_how_to_start_a_worker() -> None:
    worker(beat_seconds_ago=60)
    execution = pending()
    assert reasons(execution) == ["no_process"]
    assert text(execution) == "No process is alive. Start a worker: manage.py runworker"


def test_without_a_worker_it_says_how_to_start_one() -> None:
    dispatcher()
    assert reasons(pending()) == ["no_worker"]


def test_a_queue_that_nobody_serves_is_named_with_the_command_that_serves_it() -> None:
    worker("mail")
    worker("maill and more", stopping=True)
    execution = pending(queue="maill and more")
    assert reasons(execution) == ["unserved_queue"]
    assert text(execution) == (
        "No living worker serves the queue “maill and more”. Start one: "
        "manage.py runworker --queue 'maill and more'"
    )


@pytest.mark.parametrize("queues", [(), ("mail", "default")])
def test_a_worker_with_a_free_slot_takes_it_any_moment(queues: tuple[str, ...]) -> None:
    running(worker(*queues).pk)
    assert reasons(pending()) == ["any_moment"]


def test_workers_without_a_free_slot_keep_it_waiting() -> None:
    serving = worker()
    running(serving.pk)
    running(serving.pk)
    execution = pending()
    assert reasons(execution) == ["busy"]
    assert reasons(execution, in_detail=False) == ["busy"]
    assert text(execution) == "All slots of the workers that serve its queue are in use: 2."


def test_what_is_not_due_says_when_it_is() -> None:
    worker()
    execution = pending(available_at=DatabaseNow(4 * 3600 + 30))
    assert reasons(execution) == ["due_later"]
    assert text(execution) == "Due in 4 h."


def test_a_retry_says_that_it_is_one() -> None:
    worker()
    assert reasons(pending(available_at=DatabaseNow(60), retry_count=1)) == ["retry"]


def test_it_says_how_many_of_a_higher_priority_come_first() -> None:
    worker("default", "other")
    for queue in ("default", "other", "unserved"):
        pending(queue=queue, priority=5)
        pending(queue=queue, priority=5, available_at=DatabaseNow(3600))
    execution = pending()
    assert reasons(execution) == ["behind_higher"]
    assert text(execution) == "Behind 2 of a higher priority."


def test_it_says_how_many_were_due_earlier() -> None:
    worker()
    pending(available_at=DatabaseNow(-60))
    pending(priority=-1)
    execution = pending()
    pending()
    assert text(execution) == "Behind others that were due earlier: 1."


def test_no_more_are_counted_than_a_page_has_time_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waits, "MAX_AHEAD", 3)
    worker()
    for number in range(5):
        pending(priority=1 + number % 2)
    assert text(pending()) == "Behind more than 3 of a higher priority."


def test_an_unknown_handler_is_said_first() -> None:
    worker()
    assert reasons(pending(handler_name="emial")) == ["unknown_handler", "any_moment"]


@pytest.mark.parametrize(
    ("fields", "code"),
    [({"problem": "Paused: …"}, "cron_paused"), ({}, "cron_disabled")],
)
def test_a_disabled_cron_job_is_mentioned(fields: dict[str, Any], code: str) -> None:
    worker()
    cron = CronJob.objects.create(
        name="n", cron_expression="* * * * *", handler_name="echo", is_enabled=False, **fields
    )
    assert reasons(pending(job=cron)) == ["any_moment", code]


def test_what_runs_or_ended_waits_for_nothing() -> None:
    assert reasons(running(worker().pk)) == []
    assert reasons(finished(Status.FAILED)) == []


def test_what_a_dead_process_ran_waits_for_its_rescue() -> None:
    execution = running(uuid.uuid4())
    assert reasons(execution) == ["lost"]
    assert "no process is alive to rescue it" in text(execution)
    worker()
    assert "any living process rescues it soon" in text(execution)


def test_where_all_is_well_one_statement_says_so() -> None:
    worker()
    dispatcher()
    pending(queue="any")
    with CaptureQueriesContext(
        connection,
    ) as caught:
        assert troubles() == []
    assert len(caught) == 1


def test_no_process_at_all_is_a_trouble() -> None:
    pending()
    assert troubles() == [("no_process", ())]


def test_queues_that_nobody_serves_are_a_trouble_once_something_is_due_there() -> None:
    worker("mail")
    dispatcher()
    pending(queue="mail")
    pending(queue="later", available_at=DatabaseNow(3600))
    assert troubles() == []
    pending(queue="maill")
    pending(queue="maill", priority=5)
    # One that a worker set aside while it was not due.
    pending(queue="aside", available_at=DatabaseNow(-1), aside_until=DatabaseNow(-1))
    assert troubles() == [("unserved_queue", ("aside", "maill"))]


def test_without_a_worker_the_queues_are_named() -> None:
    dispatcher()
    for number in range(7):
        pending(queue=f"q{number}")
    [trouble] = find_troubles()
    assert trouble.code == "no_worker"
    assert "“q4” and 2 more" in trouble.text


def test_a_due_cron_job_without_a_dispatcher_is_a_trouble() -> None:
    worker()
    cron = CronJob.objects.create(name="n", cron_expression="* * * * *", handler_name="echo")
    assert troubles() == [("no_dispatcher", ())]
    dispatcher()
    assert troubles() == []
    Process.objects.filter(kind="dispatcher").delete()
    CronJob.objects.filter(pk=cron.pk).update(is_enabled=False)
    assert troubles() == []


def test_pages_look_once_in_some_seconds() -> None:
    assert [each.code for each in recent_troubles()] == ["no_process"]
    with CaptureQueriesContext(connection) as caught:
        assert [each.code for each in recent_troubles()] == ["no_process"]
    assert len(caught) == 0
