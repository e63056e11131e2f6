"""Cron jobs over HTTP: what the admin accepts is accepted, what it refuses is refused alike."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from jobu import handler
from jobu.dispatchers.dispatch import dispatch
from jobu.models import CronJob, JobExecution
from tests.api.callers import Api
from tests.builders import cron, finished
from tests.connections import together

NIGHTLY = {"name": "nightly", "cron_expression": "0 2 * * *", "handler_name": "echo"}


def test_a_cron_job_is_created_with_the_defaults_of_the_admin(api: Api) -> None:
    answer = api.post("crons", NIGHTLY)
    assert answer.status == 201
    row = CronJob.objects.get()
    assert answer.response["Location"] == f"/api/jobu/crons/{row.pk}"
    assert answer.body == api.get(f"crons/{row.pk}").body
    fresh = CronJob(**NIGHTLY)
    for name in ("timezone", "max_retry", "timeout_seconds", "queue", "misfire", "is_enabled"):
        assert answer.body[name] == getattr(row, name) == getattr(fresh, name)
    dispatch()
    assert api.get(f"crons/{row.pk}").body["next_run_at"].endswith("T02:00:00Z")


@pytest.mark.usefixtures("temporary_handlers")
def test_what_a_new_cron_job_does_not_say_is_its_handler_s(api: Api) -> None:
    @handler("mailing", queue="mail", priority=7, max_retry=1, timeout_seconds=20)
    def mailing() -> None: ...

    body = api.post("crons", {**NIGHTLY, "handler_name": "mailing", "priority": 2}).body
    names = ("queue", "priority", "max_retry", "timeout_seconds")
    assert [body[name] for name in names] == ["mail", 2, 1, 20]


def test_every_field_can_be_set_and_read_again(api: Api) -> None:
    fields = {
        **NIGHTLY,
        "description": "<script>alert(1)</script>",
        "timezone": "Asia/Seoul",
        "handler_params": {"days": [1, 2.5, None, "밤"]},
        "is_enabled": False,
        "allow_overlap": False,
        "max_retry": 0,
        "timeout_seconds": 2_147_483_647,
        "priority": -32_767,
        "queue": "mail",
        "misfire": "all",
        "misfire_window_seconds": 60,
        "jitter_seconds": 5,
        "pause_after_failures": 3,
        "starts_at": "2026-11-16T06:30:00Z",
        "ends_at": "2026-12-24T00:00:00+09:00",
    }
    body = api.post("crons", fields).body
    assert body.pop("ends_at") == "2026-12-23T15:00:00Z"
    assert {name: body.get(name) for name in fields if name != "ends_at"} == {
        name: value for name, value in fields.items() if name != "ends_at"
    }


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("cron_expression", "every day"),
        ("cron_expression", "* * * * * *"),
        ("cron_expression", "0 0 31 2 *"),
        ("timezone", "Mars/Olympus"),
    ],
)
def test_what_the_model_refuses_is_refused_with_its_words(api: Api, field: str, value: str) -> None:
    with pytest.raises(ValidationError) as caught:
        CronJob(**{**NIGHTLY, field: value}).full_clean()
    words = caught.value.message_dict
    row = cron(name="other")
    for answer in (
        api.post("crons", {**NIGHTLY, field: value}),
        api.patch(f"crons/{row.pk}", {field: value}),
    ):
        assert (answer.status, answer.code, answer.fields) == (422, "invalid", words)


def test_a_handler_that_no_app_has_is_refused(api: Api) -> None:
    answer = api.post("crons", {**NIGHTLY, "handler_name": "ecco"})
    assert "Did you mean 'echo'?" in answer.fields["handler_name"][0]
    # Of a cron job whose handler is gone, everything else can still be changed.
    row = cron(handler_name="gone")
    assert api.patch(f"crons/{row.pk}", {"priority": 1}).status == 200


def test_a_name_that_is_taken_is_a_conflict(api: Api) -> None:
    cron()
    other = cron(name="other")
    for answer in (api.post("crons", NIGHTLY), api.patch(f"crons/{other.pk}", {"name": "nightly"})):
        assert (answer.status, answer.code) == (409, "conflict")
        assert "exists" in answer.fields["name"][0]


def test_a_change_leaves_everything_else_alone(api: Api) -> None:
    row = cron(priority=3)
    stale = api.get(f"crons/{row.pk}").body
    dispatch()
    planned = CronJob.objects.get().next_run_at
    body = api.patch(f"crons/{row.pk}", {"description": "new"}).body
    assert (body["description"], body["priority"]) == ("new", 3)
    assert CronJob.objects.get().next_run_at == planned is not None
    assert body["updated_at"] > stale["updated_at"]
    assert api.patch(f"crons/{row.pk}", {}).body["description"] == "new"
    assert api.patch(f"crons/{row.pk}", {"starts_at": None}).status == 200
    assert list(api.patch(f"crons/{row.pk}", {"name": None}).fields) == ["name"]


def test_a_deleted_cron_job_leaves_its_history(api: Api) -> None:
    row = cron()
    execution = finished(job=row)
    answer = api.delete(f"crons/{row.pk}")
    assert (answer.status, answer.body) == (204, None)
    assert api.get(f"jobs/{execution.pk}").body["cron_id"] is None
    assert api.delete(f"crons/{row.pk}").code == "not_found"


def test_a_toggle_flips_or_sets_and_refuses_to_do_nothing(api: Api) -> None:
    row = cron()
    path = f"crons/{row.pk}/toggle"
    assert api.post(path).body["is_enabled"] is False
    assert api.post(path, {"is_enabled": True}).body["is_enabled"] is True
    answer = api.post(path, {"is_enabled": True})
    assert (answer.status, answer.code, answer.message) == (
        409,
        "conflict",
        "It is enabled already.",
    )
    assert api.post(path).body["is_enabled"] is False
    assert not CronJob.objects.get().is_enabled


@pytest.mark.row_locks
@pytest.mark.django_db(transaction=True)
def test_of_two_toggles_at_once_each_flips(api: Api) -> None:
    row = cron()
    answers = together(*[lambda: api.post(f"crons/{row.pk}/toggle")] * 2)
    assert sorted(answer.body["is_enabled"] for answer in answers) == [False, True]


@pytest.mark.row_locks
@pytest.mark.django_db(transaction=True)
def test_of_two_who_take_a_name_at_once_one_is_told_that_it_is_taken(api: Api) -> None:
    answers = together(*[lambda: api.post("crons", NIGHTLY)] * 2)
    assert sorted(answer.status for answer in answers) == [201, 409]
    assert CronJob.objects.count() == 1


def test_a_run_is_one_execution_with_the_params_of_both(api: Api) -> None:
    row = cron(handler_params={"a": 1, "b": 1}, queue="mail", is_enabled=False)
    answer = api.post(f"crons/{row.pk}/run", {"params": {"b": 2}})
    assert answer.status == 201
    execution = JobExecution.objects.get()
    job = api.get(f"jobs/{execution.pk}").body
    codes = [reason["code"] for reason in job.pop("waits_for")]
    assert codes == ["no_process", "cron_disabled"]
    assert answer.body == job
    assert (execution.params, execution.queue) == ({"a": 1, "b": 2}, "mail")
    assert (answer.body["cron_id"], answer.body["param_source"]) == (row.pk, "manual")
    assert api.post(f"crons/{row.pk}/run").body["params"] == {"a": 1, "b": 1}


def test_the_list_is_paged_and_filtered(api: Api) -> None:
    rows = [cron(name=f"cron {n}", queue=f"queue{n % 2}", is_enabled=n % 2 == 0) for n in range(5)]
    cron(name="other", handler_name="fail")
    page = api.get("crons", handler_name="echo", limit=2).body
    assert [item["id"] for item in page["items"]] == [rows[0].pk, rows[1].pk]
    page = api.get("crons", handler_name="echo", limit=3, cursor=page["next"]).body
    assert [item["id"] for item in page["items"]] == [row.pk for row in rows[2:]]
    assert page["next"] is None
    for query, names in (
        ({"queue": "queue1"}, {"cron 1", "cron 3"}),
        ({"enabled": "false"}, {"cron 1", "cron 3"}),
        ({"search": "OTH"}, {"other"}),
        ({"search": "%"}, set()),
        ({"handler_name": "fail", "enabled": "true"}, {"other"}),
    ):
        assert {item["name"] for item in api.get("crons", **query).body["items"]} == names


def test_the_list_leaves_out_what_is_long_and_the_detail_has_all_of_it(api: Api) -> None:
    params = {"text": "x" * 1_000_000}
    job = cron(handler_params=params, description="y" * 1_000_000)
    listed = api.get("crons")
    assert len(listed.response.content) < 10_000
    assert {"handler_params", "description"}.isdisjoint(listed.body["items"][0])
    assert api.get(f"crons/{job.pk}").body["handler_params"] == params


def test_what_is_not_there_is_not_found(api: Api) -> None:
    for method, path in (
        ("GET", "crons/7"),
        ("PATCH", "crons/7"),
        ("DELETE", "crons/7"),
        ("POST", "crons/7/toggle"),
        ("POST", "crons/7/run"),
    ):
        answer = api.send(method, path, "{}" if method == "PATCH" else "")
        assert (answer.status, answer.code) == (404, "not_found")
        assert answer.message == "There is no cron job 7."
