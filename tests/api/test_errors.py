"""Bad requests: one envelope, the right status, a sentence that helps, and never a 500."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import OperationalError
from django.test import override_settings

from jobu.models import CronJob, JobExecution
from tests.api.callers import Api, caller
from tests.builders import cron

pytestmark = pytest.mark.django_db

CRON = {"name": "nightly", "cron_expression": "0 2 * * *", "handler_name": "echo"}
JOB = {"handler_name": "echo"}
HUGE = 10**30


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"nonsense",
        b"\xff\xfe",
        b'{"handler_name": "echo"',
        b"[" * 100_000,
        b'{"handler_name": "echo", "priority": 1' + b"0" * 5000 + b"}",
    ],
    ids=["cut off", "words", "not UTF-8", "no end", "too deep", "too many digits"],
)
def test_a_body_that_is_not_json_is_malformed(api: Api, body: bytes) -> None:
    for method, path in (("POST", "jobs"), ("POST", "crons"), ("POST", "crons/1/run")):
        answer = api.send(method, path, body)
        assert (answer.status, answer.code) == (400, "malformed")


def test_a_body_that_is_too_large_is_refused(api: Api) -> None:
    with override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=100):
        answer = api.post("jobs", {**JOB, "params": {"text": "x" * 200}})
    assert (answer.status, answer.code) == (413, "too_large")


@pytest.mark.parametrize("body", ["[]", "1", "null", '"text"', ""])
def test_a_body_that_is_not_an_object_is_invalid(api: Api, body: str) -> None:
    answer = api.send("POST", "jobs", body)
    assert (answer.status, answer.code) == (422, "invalid")
    assert list(answer.fields) == ["body"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"priority": HUGE}, "priority"),
        ({"priority": 32_768}, "priority"),
        ({"priority": "1"}, "priority"),
        ({"priority": True}, "priority"),
        ({"max_retry": -1}, "max_retry"),
        ({"max_retry": 2**31}, "max_retry"),
        ({"timeout_seconds": 0}, "timeout_seconds"),
        ({"timeout_seconds": 1.5}, "timeout_seconds"),
        ({"queue": ""}, "queue"),
        ({"queue": "q" * 101}, "queue"),
        ({"queue": "a\nb"}, "queue"),
        ({"handler_name": "ec\0ho"}, "handler_name"),
        ({"handler_name": "\ud800"}, "handler_name"),
        ({"handler_name": "nobody"}, "handler_name"),
        ({"unknown": 1}, "unknown"),
    ],
)
def test_a_bad_value_is_named(api: Api, change: dict[str, Any], field: str) -> None:
    for path, body in (("jobs", JOB), ("crons", CRON)):
        answer = api.post(path, {**body, **change})
        assert (answer.status, answer.code) == (422, "invalid")
        assert list(answer.fields) == [field]
        assert answer.fields[field][0]
    assert not JobExecution.objects.exists() and not CronJob.objects.exists()


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    "params",
    [{"a": "\0"}, {"\0": 1}, {"a": "\ud800"}, deep(40), {"a": float("nan")}, [], "text", 1],
    ids=["NUL", "NUL in a key", "surrogate", "deep", "NaN", "list", "text", "number"],
)
def test_params_that_no_database_keeps_are_refused(api: Api, params: Any) -> None:
    job = cron()
    for answer in (
        api.post("jobs", {**JOB, "params": params}),
        api.post(f"crons/{job.pk}/run", {"params": params}),
        api.patch(f"crons/{job.pk}", {"handler_params": params}),
    ):
        assert answer.status == 422
        [field] = answer.fields
        assert field in ("params", "handler_params")
    assert not JobExecution.objects.exists()


@pytest.mark.parametrize(
    "moment",
    [
        "2026-11-16T06:30:00",
        "2026-11-16",
        "tomorrow",
        "",
        1_700_000_000,
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "2026-13-45T00:00:00Z",
    ],
)
def test_a_time_that_is_no_instant_is_refused(api: Api, moment: Any) -> None:
    assert list(api.post("jobs", {**JOB, "available_at": moment}).fields) == ["available_at"]
    assert list(api.post("crons", {**CRON, "starts_at": moment}).fields) == ["starts_at"]
    assert list(api.get("jobs", **{"from": moment}).fields) == ["from"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"cursor": "abc"}, "cursor"),
        ({"cursor": HUGE}, "cursor"),
        ({"cursor": -1}, "cursor"),
        ({"limit": 0}, "limit"),
        ({"limit": 501}, "limit"),
        ({"handler_name": "a\0b"}, "handler_name"),
        ({"queue": "\0"}, "queue"),
        ({"handlr": "echo"}, "handlr"),
    ],
)
def test_a_bad_query_is_named(api: Api, query: dict[str, Any], field: str) -> None:
    for path in ("jobs", "crons"):
        answer = api.get(path, **query)
        assert (answer.status, answer.code) == (422, "invalid")
        assert list(answer.fields) == [field]


@pytest.mark.parametrize("pk", ["0", "-1", "abc", str(HUGE), "1.5", "%00", "１"])
def test_what_is_no_id_is_no_500(api: Api, pk: str) -> None:
    for method, path in (("GET", "jobs/{}"), ("POST", "jobs/{}/retry"), ("DELETE", "crons/{}")):
        assert api.send(method, path.format(pk)).status in (404, 422)


def test_a_method_that_a_path_does_not_have_is_refused(api: Api) -> None:
    for kind in (api, caller("anonymous")):
        answer = kind.send("PUT", "jobs", json.dumps(JOB))
        assert (answer.status, answer.code) == (405, "method_not_allowed")
        assert set(answer.response["Allow"].split(", ")) == {"GET", "POST"}
        for path in ("docs", "docs/docs.js", "health"):
            assert kind.post(path).code == "method_not_allowed"


def test_head_is_get_without_its_body(api: Api) -> None:
    answer = api.send("HEAD", "jobs")
    assert (answer.status, answer.body) == (200, None)


@pytest.mark.parametrize(
    ("failure", "status", "code"),
    [
        (OperationalError("password of jobu@10.0.0.1 refused"), 503, "unavailable"),
        (RuntimeError("secret 42"), 500, "internal"),
    ],
)
def test_what_fails_inside_stays_inside(
    api: Api,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    failure: Exception,
    status: int,
    code: str,
) -> None:
    def fail(*_args: Any, **_options: Any) -> None:
        raise failure

    monkeypatch.setattr("jobu.api.jobs.enqueue_from_api", fail)
    api.client.raise_request_exception = False
    for debug in (False, True):
        with override_settings(DEBUG=debug):
            answer = api.post("jobs", JOB)
        assert (answer.status, answer.code) == (status, code)
        assert "refused" not in answer.message and "42" not in answer.message
    # Whoever runs the site can read it, in the log.
    assert str(failure) in caplog.text
