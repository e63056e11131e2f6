"""The list of executions, and the page of one."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from jobu import enqueue
from jobu.dialects import DatabaseNow
from jobu.models import JobExecution, Status
from jobu.models.job_execution import ParamSource
from jobu.reading import pages
from jobu.testing import run_pending
from tests.admin.pages import list_of, page_of, told
from tests.builders import cron, database_now, finished, log_line, pending, process, running

pytestmark = pytest.mark.django_db


def found(client: Client, **query: Any) -> list[int]:
    page = client.get(list_of(JobExecution, **query))
    assert page.status_code == 200
    return [execution.pk for execution in page.context["cl"].result_list]


def badge_of(client: Client, execution: JobExecution) -> str:
    text: str = client.get(list_of(JobExecution, q=str(execution.pk))).text
    return text.split('class="jobu-badge', 1)[1].split(">", 1)[1].split("<", 1)[0]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "pending"),
        ({"available_at": DatabaseNow(600.4)}, "in 10 min"),
        (
            {"retry_count": 1, "max_retry": 3, "available_at": DatabaseNow(7200.4)},
            "retrying 2/3, in 2 h",
        ),
        ({"retry_count": 2, "max_retry": 3}, "retrying 3/3, now"),
    ],
)
def test_a_badge_says_what_a_pending_execution_waits_for(
    admin_client: Client, fields: dict[str, Any], expected: str
) -> None:
    assert badge_of(admin_client, pending(**fields)) == expected


def test_a_badge_names_the_state_of_the_others(admin_client: Client) -> None:
    assert badge_of(admin_client, running()) == "running"
    assert badge_of(admin_client, running(cancel_requested=True)) == "stopping"
    assert badge_of(admin_client, finished(Status.TIMEOUT)) == "timeout"


def test_a_running_execution_has_a_progress_bar(admin_client: Client) -> None:
    running(progress={"done": 30, "total": 120, "note": "a quarter"})
    page = admin_client.get(list_of(JobExecution)).text
    assert '<progress max="100" value="25.0">' in page
    assert "30 / 120 a quarter" in page


@pytest.mark.parametrize(
    "progress",
    [[], "x", {"done": None}, {"done": 1, "total": 0}, {"done": True}, {"done": 1, "total": "x"}],
)
def test_any_progress_that_is_stored_can_be_shown(admin_client: Client, progress: Any) -> None:
    running(progress=progress)
    assert len(found(admin_client)) == 1


def test_the_list_can_be_filtered(admin_client: Client) -> None:
    job = cron()
    mail = pending(queue="mail", job=job, param_source=ParamSource.CRON)
    failed = finished(Status.FAILED, handler_name="fail")
    late = finished(Status.TIMEOUT)
    for query, expected in [
        ({"status": "PENDING"}, [mail]),
        ({"status": "FAILED"}, [failed]),
        ({"status": "dead"}, [late, failed]),
        ({"status": "SUCCESS"}, []),
        ({"queue": "mail"}, [mail]),
        ({"queue": "default"}, [late, failed]),
        ({"handler_name": "fail"}, [failed]),
        ({"handler_name": "no such handler"}, []),
        ({"cron": job.pk}, [mail]),
        ({"param_source": "cron"}, [mail]),
        ({"param_source": "code", "status": "dead", "handler_name": "echo"}, [late]),
        ({"q": f"#{failed.pk}"}, [failed]),
        ({"q": "no such key"}, []),
    ]:
        assert found(admin_client, **query) == [execution.pk for execution in expected], query


def test_the_list_can_be_narrowed_to_a_range_of_time(admin_client: Client) -> None:
    old = pending(created_at=DatabaseNow(-3 * 86_400))
    new = pending(created_at=DatabaseNow(-1800))
    between = database_now() - timedelta(days=1)
    moment = between.strftime("%Y-%m-%dT%H:%M")
    assert found(admin_client, created="hour") == [new.pk]
    assert found(admin_client, created="day") == [new.pk]
    assert found(admin_client, created="week") == [new.pk, old.pk]
    assert found(admin_client, **{"from": moment}) == [new.pk]
    assert found(admin_client, to=moment) == [old.pk]
    assert found(admin_client, **{"from": moment, "to": moment}) == []
    assert found(admin_client, **{"from": "", "to": ""}) == [new.pk, old.pk]


@pytest.mark.parametrize(
    "query",
    [
        {"from": "yesterday"},
        {"cron": "x"},
        {"cron": "9" * 30},
        {"before": "x"},
        {"after": "-1"},
        {"from": "0001-01-01T00:00"},
        {"queue": "a\0b"},
        {"q": "\0"},
    ],
)
def test_a_filter_that_makes_no_sense_is_an_error_and_not_everything(
    admin_client: Client, query: dict[str, str]
) -> None:
    pending()
    page = admin_client.get(list_of(JobExecution, **query), follow=True)
    assert page.redirect_chain
    assert len(told(page)) == 1


def test_pages_follow_by_links_and_the_count_is_bounded(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobu.admin.executions.model_admin.JobExecutionAdmin.list_per_page", 2)
    monkeypatch.setattr(pages, "COUNTED", 4)
    ids = [pending(queue="mail").pk for _ in range(5)][::-1]
    address = list_of(JobExecution, queue="mail")
    seen: list[int] = []
    while address:
        page = admin_client.get(address)
        assert "more than 4 executions" in page.text
        changelist = page.context["cl"]
        seen += [execution.pk for execution in changelist.result_list]
        older = changelist.older_link
        assert older is None or "queue=mail" in older
        address = list_of(JobExecution) + older if older else ""
    assert seen == ids
    newer = page.context["cl"].newer_link
    back = admin_client.get(list_of(JobExecution) + newer)
    assert [e.pk for e in back.context["cl"].result_list] == ids[2:4]


def test_a_page_says_that_it_did_not_look_at_everything(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "LOOKED_AT", 3)
    rare = pending(queue="rare")
    for _ in range(4):
        pending()
    page = admin_client.get(list_of(JobExecution, queue="rare"))
    assert list(page.context["cl"].result_list) == []
    assert "Look further back" in page.text
    page = admin_client.get(list_of(JobExecution) + page.context["cl"].older_link)
    assert list(page.context["cl"].result_list) == [rare]
    assert "Look further back" not in page.text


def test_what_is_searched_for_is_found_however_old_it_is(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "LOOKED_AT", 1)
    old = pending(queue="mail", dedupe_key="welcome:42")
    pending()
    pending()
    assert found(admin_client, q=str(old.pk), queue="mail") == [old.pk]
    assert found(admin_client, q="welcome:42", queue="mail") == [old.pk]
    assert found(admin_client, q="welcome:42", queue="default") == []


def test_the_dead_ones_stand_beside_the_dead_letters(admin_client: Client) -> None:
    assert "jobu-tabs" in admin_client.get(list_of(JobExecution, status="dead")).text
    assert "jobu-tabs" not in admin_client.get(list_of(JobExecution)).text


def test_no_list_counts_the_whole_table(
    admin_client: Client, django_assert_max_num_queries: Any
) -> None:
    pending()
    # On MySQL a look at the queues that wait takes one statement more.
    with django_assert_max_num_queries(10 + (connection.vendor == "mysql")) as caught:
        admin_client.get(list_of(JobExecution))
    table = JobExecution._meta.db_table
    counts = [
        q["sql"] for q in caught.captured_queries if "COUNT(" in q["sql"] and table in q["sql"]
    ]
    assert counts
    assert all("LIMIT" in sql for sql in counts)


def test_the_detail_tells_the_whole_story(admin_client: Client) -> None:
    execution = enqueue("echo", {"message": "<b>no luck</b>", "ünï": [1, {"a": 2}]})
    execution = enqueue("fail", {"message": "<b>no luck</b>"})
    run_pending(include_delayed=True)
    page = admin_client.get(page_of(execution))
    assert page.text.count(">Traceback (most recent call last)") == 3
    assert [event.what for event in page.context["events"]] == [
        "Enqueued",
        "Attempt 1",
        "Attempt 2",
        "Attempt 3",
    ]
    assert "ValueError: &lt;b&gt;no luck&lt;/b&gt;" in page.text
    assert "<b>no luck" not in page.text


def test_params_and_result_are_written_over_several_lines(admin_client: Client) -> None:
    execution = enqueue("echo", {"name": "한국", "list": [1]})
    run_pending()
    page = admin_client.get(page_of(execution))
    assert page.context["params"] == page.context["result"]
    assert '\n  "name": "한국"' in page.context["params"].text
    assert [event.what for event in page.context["events"]] == ["Enqueued", "Attempt 1"]


def test_the_detail_shows_log_lines_and_the_process(admin_client: Client) -> None:
    worker = process(host="web-7", pid=321)
    execution = running(worker.pk)
    log_line(execution, level=logging.WARNING, message="the server <is> slow")
    page = admin_client.get(page_of(execution)).text
    assert "WARNING" in page
    assert "the server &lt;is&gt; slow" in page
    assert page_of(worker) in page
    assert "web-7:321" in page


def test_the_detail_leads_to_earlier_and_later_runs(admin_client: Client) -> None:
    job = cron()
    runs = [finished(job=job), finished(Status.FAILED, job=job), finished(job=job)]
    pending()
    page = admin_client.get(page_of(runs[1]))
    assert page.context["earlier"] == runs[0]
    assert page.context["later"] == runs[2]
    assert page.context["around"] == runs
    assert page_of(job) in page.text
    alone = pending(handler_name="fail")
    page = admin_client.get(page_of(alone))
    assert (page.context["earlier"], page.context["later"]) == (None, None)


@pytest.mark.parametrize(
    "errors", [["x"], [{}], [{"at": "x", "attempt": None}], [{"at": 5, "message": {"a": 1}}]]
)
def test_any_errors_that_are_stored_can_be_shown(admin_client: Client, errors: Any) -> None:
    assert admin_client.get(page_of(finished(Status.FAILED, errors=errors))).status_code == 200


def test_an_execution_that_is_gone_leads_back_to_the_index(admin_client: Client) -> None:
    page = admin_client.get(page_of(JobExecution(pk=99)), follow=True)
    assert "doesn’t exist" in page.text


def test_nothing_of_an_execution_is_edited_or_deleted_by_hand(admin_client: Client) -> None:
    execution = running()
    assert admin_client.post(page_of(execution), {"status": "SUCCESS"}).status_code == 403
    assert admin_client.get(page_of(execution, "delete")).status_code == 403
    assert admin_client.post(page_of(execution, "delete"), {"post": "yes"}).status_code == 403
    assert JobExecution.objects.get().status == Status.RUNNING


def test_what_is_not_finished_is_sent_again_when_asked_for(admin_client: Client) -> None:
    moving = running(progress={"done": 1, "total": 4, "note": ""})
    done = finished()
    address = list_of(JobExecution) + "live/"
    page = admin_client.get(address, {"id": [moving.pk, done.pk, "x", 10**30]}).text
    assert f'id="jobu-state-{moving.pk}" data-jobu-live="{moving.pk}"' in page
    assert 'value="25.0"' in page
    assert f'id="jobu-state-{done.pk}">' in page
    assert admin_client.post(address).status_code == 405
