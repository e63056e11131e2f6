"""Executions over HTTP: enqueue, look, retry, cancel, delete, page through."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from jobu.api import jobs
from jobu.models import JobExecution, LogLine, Status
from jobu.queue import bulk
from jobu.reading import pages
from jobu.testing import run_pending
from tests.api.callers import Api
from tests.builders import cron, database_now, finished, pending, running

MISSING = 2**62


def ids(answer: Any) -> list[int]:
    return [item["id"] for item in answer.body["items"]]


def every_page(api: Api, **query: Any) -> list[int]:
    """Follow the cursors to the end, as a client does."""
    found: list[int] = []
    cursor: dict[str, str] = {}
    while True:
        page = api.get("jobs", **query, **cursor)
        assert page.status == 200
        found += ids(page)
        if page.body["next"] is None:
            return found
        cursor = {"cursor": page.body["next"]}


def test_what_is_enqueued_runs_and_shows_its_result(api: Api) -> None:
    answer = api.post("jobs", {"handler_name": "echo", "params": {"text": "<script>밤</script>"}})
    assert answer.status == 201
    path = f"jobs/{answer.body['id']}"
    assert answer.response["Location"] == f"/api/jobu/{path}"
    assert (answer.body["status"], answer.body["param_source"]) == ("PENDING", "api")
    run_pending()
    job = api.get(path).body
    assert (job["status"], job["result"]) == ("SUCCESS", {"text": "<script>밤</script>"})


@pytest.mark.parametrize("params", [{"n": 10**300}, {"": [[[{}]]]}, {"밤\n🌙": -0.1}], ids=str)
def test_params_come_back_as_they_were_sent(api: Api, params: dict[str, Any]) -> None:
    assert api.post("jobs", {"handler_name": "echo", "params": params}).body["params"] == params


def test_the_options_of_an_execution_win_over_the_handlers(api: Api) -> None:
    options = {
        "queue": "mail",
        "priority": 7,
        "available_at": "2100-01-01T00:00:00Z",
        "max_retry": 9,
        "timeout_seconds": 1,
        "dedupe_key": "welcome:42",
    }
    body = api.post("jobs", {"handler_name": "echo", **options}).body
    assert {name: body[name] for name in options} == options
    assert api.post("jobs", {"handler_name": "echo", "queue": None}).body["queue"] == "default"


def test_a_dedupe_key_that_is_taken_answers_with_what_has_it(api: Api) -> None:
    body = {"handler_name": "echo", "dedupe_key": "once"}
    first = api.post("jobs", body)
    again = api.post("jobs", {**body, "params": {"other": 1}})
    assert (first.status, again.status) == (201, 200)
    assert again.body == first.body
    assert JobExecution.objects.count() == 1


def test_a_dedupe_key_of_another_handlers_execution_is_a_conflict(api: Api) -> None:
    api.post("jobs", {"handler_name": "echo", "dedupe_key": "once"})
    answer = api.post("jobs", {"handler_name": "fail", "dedupe_key": "once"})
    assert (answer.status, answer.body["error"]["code"]) == (409, "conflict")
    assert "'once' belongs to an execution of 'echo'" in answer.body["error"]["message"]
    reserved = api.post("jobs", {"handler_name": "echo", "dedupe_key": "jobu:key:once"})
    assert (reserved.status, JobExecution.objects.count()) == (422, 1)


def test_params_that_do_not_fit_their_handler_are_refused_by_name(api: Api) -> None:
    answer = api.post("jobs", {"handler_name": "sleep", "params": {"secs": 1}})
    assert (answer.status, answer.body["error"]["code"]) == (422, "invalid")
    [problem] = answer.body["error"]["fields"]["params"]
    assert problem.endswith("unknown params: secs; the handler takes seconds")
    assert not JobExecution.objects.exists()


def test_a_failed_execution_shows_its_tracebacks_and_can_be_retried(api: Api) -> None:
    pk = api.post("jobs", {"handler_name": "fail", "params": {"message": "<b>"}}).body["id"]
    run_pending(include_delayed=True)
    job = api.get(f"jobs/{pk}").body
    assert (job["status"], job["error_message"]) == ("FAILED", "ValueError: <b>")
    assert [error["attempt"] for error in job["errors"]] == [1, 2, 3]
    assert "Traceback" in job["errors"][0]["traceback"]
    retried = api.post(f"jobs/{pk}/retry")
    assert (retried.status, retried.body["status"], retried.body["retry_count"]) == (
        200,
        "PENDING",
        0,
    )


@pytest.mark.parametrize("status", [Status.PENDING, Status.RUNNING, Status.SUCCESS])
def test_what_waits_runs_or_succeeded_is_not_retried(api: Api, status: Status) -> None:
    make = {"PENDING": pending, "RUNNING": running, "SUCCESS": finished}[status]
    execution = make()
    answer = api.post(f"jobs/{execution.pk}/retry")
    assert (answer.status, answer.code) == (409, "conflict")
    assert answer.message.startswith(f"The execution is {status}; only")


def test_a_pending_execution_is_cancelled_and_a_running_one_is_asked_to_stop(api: Api) -> None:
    waiting, busy, done = pending(), running(), finished()
    assert api.post(f"jobs/{waiting.pk}/cancel").body["status"] == "CANCELLED"
    body = api.post(f"jobs/{busy.pk}/cancel").body
    assert (body["status"], body["cancel_requested"]) == ("RUNNING", True)
    assert api.post(f"jobs/{done.pk}/cancel").code == "conflict"


@pytest.mark.parametrize("make", [pending, running])
def test_only_what_is_finished_is_deleted(api: Api, make: Any) -> None:
    unfinished, done = make(), finished(Status.CANCELLED)
    answer = api.delete(f"jobs/{unfinished.pk}")
    assert (answer.status, answer.code) == (409, "conflict")
    assert api.delete(f"jobs/{done.pk}").status == 204
    assert [row.pk for row in JobExecution.objects.all()] == [unfinished.pk]


def test_what_is_not_there_is_not_found(api: Api) -> None:
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/retry"), ("POST", "/cancel")):
        answer = api.send(method, f"jobs/{MISSING}{path}")
        assert (answer.status, answer.code) == (404, "not_found")
        assert answer.message == f"There is no execution {MISSING}."


def test_the_list_is_newest_first_and_leaves_out_what_is_long(api: Api) -> None:
    made = [pending(params={"long": "x"}).pk for _ in range(5)]
    first = api.get("jobs", limit=2)
    assert ids(first) == [made[4], made[3]]
    assert not {"params", "result", "errors"} & set(first.body["items"][0])
    # What comes in meanwhile shifts nothing.
    pending()
    assert ids(api.get("jobs", limit=2, cursor=first.body["next"])) == [made[2], made[1]]
    assert every_page(api, limit=2)[1:] == made[::-1]


def test_each_filter_finds_its_own_and_together_they_find_what_all_of_them_do(api: Api) -> None:
    job = cron()
    wanted = finished(Status.FAILED, job=job, handler_name="fail", queue="mail").pk
    others = {
        "cron_id": finished(Status.FAILED, handler_name="fail", queue="mail").pk,
        "status": finished(job=job, handler_name="fail", queue="mail").pk,
        "handler_name": finished(Status.FAILED, job=job, handler_name="echo", queue="mail").pk,
        "queue": finished(Status.FAILED, job=job, handler_name="fail", queue="other").pk,
    }
    query = {"cron_id": job.pk, "status": "FAILED", "handler_name": "fail", "queue": "mail"}
    assert every_page(api, **query) == [wanted]
    for name, other in others.items():
        alone = every_page(api, **{name: query[name]})
        assert wanted in alone and other not in alone
        without = {key: value for key, value in query.items() if key != name}
        assert every_page(api, **without) == sorted([wanted, other], reverse=True)


def test_times_of_creation_are_found(api: Api) -> None:
    now = database_now()
    hours = [10, 5, 3, 1, 0]
    made = [pending(created_at=now - timedelta(hours=each)).pk for each in hours]

    def at(hours_ago: float) -> str:
        moment: datetime = now - timedelta(hours=hours_ago)
        return moment.isoformat()

    assert every_page(api, **{"from": at(3.5)}) == made[:1:-1]
    assert every_page(api, to=at(3.5)) == [made[1], made[0]]
    assert every_page(api, **{"from": at(5), "to": at(3)}) == [made[2], made[1]]
    assert every_page(api, **{"from": at(-1)}) == []
    assert every_page(api, to=at(11)) == []


@pytest.mark.parametrize("with_cron", [False, True])
def test_where_little_matches_pages_are_short_and_the_cursors_lead_on(
    api: Api, monkeypatch: pytest.MonkeyPatch, with_cron: bool
) -> None:
    monkeypatch.setattr(pages, "SCANNED", 3)
    monkeypatch.setattr(pages, "LOOKED_AT", 3)
    job = cron()
    rare = [pending(job=job, queue="rare" if n in (0, 7) else "default").pk for n in range(12)]
    JobExecution.objects.filter(pk__in=rare[2:5]).delete()
    query = {"queue": "rare", "limit": 2} | ({"cron_id": job.pk} if with_cron else {})
    first = api.get("jobs", **query)
    assert ids(first) == [] and first.body["next"] is not None
    assert every_page(api, **query) == [rare[7], rare[0]]
    # An index serves this one, so nothing is held back.
    del query["queue"]
    assert len(ids(api.get("jobs", **{**query, "limit": 9}))) == 9


def test_a_job_says_what_it_waits_for_in_english(api: Api) -> None:
    execution = pending(queue="maill")
    api.headers["Accept-Language"] = "ko"
    [reason] = api.get(f"jobs/{execution.pk}").body["waits_for"]
    assert reason == {
        "code": "no_process",
        "message": "No process is alive. Start a worker: manage.py runworker",
        "is_stuck": True,
    }
    assert api.get(f"jobs/{finished().pk}").body["waits_for"] == []


def test_retries_and_dead_ones_are_found_by_a_status_of_their_own(api: Api) -> None:
    again, dead = pending(retry_count=1), finished(Status.TIMEOUT)
    pending()
    assert ids(api.get("jobs", status="RETRY")) == [again.pk]
    assert ids(api.get("jobs", status="DEAD")) == [dead.pk]
    assert list(api.get("jobs", status="retry").fields) == ["status"]


def test_all_that_match_are_retried(api: Api) -> None:
    dead = [finished(Status.FAILED).pk, finished(Status.TIMEOUT).pk]
    others = [finished(Status.CANCELLED), finished(Status.FAILED, queue="mail"), running()]
    answer = api.post("jobs/retry", {"queue": "default"})
    assert (answer.status, answer.body) == (200, {"retried": 2, "next": None})
    assert ids(api.get("jobs", status="PENDING")) == dead[::-1]
    assert [JobExecution.objects.get(pk=each.pk).status for each in others] == [
        "CANCELLED",
        "FAILED",
        "RUNNING",
    ]
    assert api.post("jobs/retry", {"status": "CANCELLED"}).body["retried"] == 1
    late = {"status": "DEAD", "to": "2020-01-01T00:00:00Z"}
    assert api.post("jobs/retry", late).body["retried"] == 0
    assert api.post("jobs/retry", {"status": "DEAD", "cron_id": 1}).body["retried"] == 0


def test_a_retry_of_very_many_goes_on_where_it_stopped(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "BATCH_SIZE", 2)
    monkeypatch.setattr(jobs, "SECONDS_PER_REQUEST", 0)
    dead = [finished(Status.FAILED).pk for _ in range(5)]
    cursor: dict[str, str] = {}
    retried = []
    while True:
        body = api.post("jobs/retry", {"status": "DEAD", **cursor}).body
        retried.append(body["retried"])
        if body["next"] is None:
            break
        # One that dies meanwhile is left alone.
        finished(Status.FAILED)
        cursor = {"cursor": body["next"]}
    assert sum(retried) == 5
    assert len(retried) >= 3
    assert ids(api.get("jobs", status="PENDING")) == dead[::-1]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "status"),
        ({"cursor": "0-9"}, "status"),
        ({"status": "SUCCESS"}, "status"),
        ({"status": "DEAD", "cursor": "x"}, "cursor"),
        ({"queues": "mail"}, "queues"),
    ],
)
def test_a_retry_of_everything_by_accident_is_refused(
    api: Api, body: dict[str, Any], field: str
) -> None:
    finished(Status.FAILED)
    answer = api.post("jobs/retry", body)
    assert (answer.status, list(answer.fields)) == (422, [field])
    assert not JobExecution.objects.pending().exists()


def test_log_lines_are_read_in_pages(api: Api) -> None:
    execution = finished()
    begin = database_now()
    for number in range(5):
        LogLine.objects.create(
            execution=execution,
            attempt=1 + number // 3,
            logged_at=begin + timedelta(microseconds=number % 3 + 1),
            level=20 + 10 * (number % 2),
            logger="shop",
            message=str(number),
        )
    path = f"jobs/{execution.pk}/logs"
    first = api.get(path, limit=2).body
    assert first["items"][1]["level"] == "WARNING"
    found = [line["message"] for line in first["items"]]
    while first["next"] is not None:
        first = api.get(path, limit=2, cursor=first["next"]).body
        found += [line["message"] for line in first["items"]]
    assert found == ["0", "1", "2", "3", "4"]
    assert [line["message"] for line in api.get(path, level="WARNING").body["items"]] == ["1", "3"]
    assert [line["message"] for line in api.get(path, attempt=2).body["items"]] == ["3", "4"]
    for cursor in ("x", "1 yesterday", "1 2020-01-01T00:00:00", "99999999999 2020-01-01T00:00:00Z"):
        assert list(api.get(path, cursor=cursor).fields) == ["cursor"]
    assert api.get(f"jobs/{MISSING}/logs").status == 404
