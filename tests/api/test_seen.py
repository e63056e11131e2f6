"""What can be seen without asking for one row: processes, stats, health, readiness."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client, override_settings

from jobu.checks import check_settings
from jobu.models import Status
from tests.api.callers import Api, bearer, caller, session, user
from tests.builders import DAY, cron, finished, pending, process, running

pytestmark = pytest.mark.django_db


def test_processes_show_what_they_run_and_whether_they_are_alive(api: Api) -> None:
    alive = process(slots=5, queues=["mail"], beat_seconds_ago=-DAY)
    stale = process(kind="dispatcher", beat_seconds_ago=60)
    running(alive.pk)
    items = {item["id"]: item for item in api.get("processes").body["items"]}
    assert items.keys() == {str(alive.pk), str(stale.pk)}
    worker = items[str(alive.pk)]
    assert (worker["kind"], worker["slots"], worker["running"]) == ("worker", 5, 1)
    assert (worker["queues"], worker["is_stale"]) == (["mail"], False)
    assert items[str(stale.pk)]["is_stale"] is True


def test_stats_tell_what_finished_what_waits_and_what_is_next(api: Api) -> None:
    finished(Status.FAILED, handler_name="fail")
    finished()
    pending(queue="mail")
    cron()
    body = api.get("stats").body
    assert (body["range"], len(body["steps"])) == ("hour", 60)
    assert body["total"]["outcomes"]["FAILED"] == 1
    assert [each["name"] for each in body["handlers"]] == ["fail", "echo"]
    assert [(each["queue"], each["due"]) for each in body["waiting"]] == [("mail", 1)]
    assert api.get("stats", range="week").body["range"] == "week"
    assert list(api.get("stats", range="year").fields) == ["range"]


def test_health_is_open_and_needs_no_database(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        answer = caller("anonymous").get("health")
    assert (answer.status, answer.body) == (200, {"status": "ok"})


def test_ready_means_that_a_worker_and_a_dispatcher_beat() -> None:
    anonymous = caller("anonymous")
    process(kind="worker", beat_seconds_ago=-DAY)
    process(kind="dispatcher", beat_seconds_ago=60)
    answer = anonymous.get("ready")
    assert (answer.status, answer.code) == (503, "not_ready")
    assert answer.message == "Not ready: dispatcher."
    assert "manage.py rundispatcher" in answer.fields["dispatcher"][0]
    process(kind="dispatcher", beat_seconds_ago=-DAY)
    answer = anonymous.get("ready")
    assert (answer.status, answer.body) == (200, {"status": "ready", "warnings": {}})


def test_not_ready_is_not_reported_as_an_error_of_the_site(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert caller("anonymous").get("ready").status == 503
    assert not caplog.records


def test_not_ready_before_the_migrations() -> None:
    MigrationRecorder(connection).record_unapplied("jobu", "0001_initial")
    answer = caller("anonymous").get("ready")
    assert list(answer.fields) == ["migrations"]
    assert "0001_initial" in answer.fields["migrations"][0]


def test_not_ready_without_the_database_and_nothing_of_why(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_args: Any) -> None:
        raise OperationalError("connection to 10.0.0.1 as jobu refused")

    anonymous = caller("anonymous")
    monkeypatch.setattr(MigrationRecorder, "applied_migrations", fail)
    answer = anonymous.get("ready")
    assert (answer.status, answer.fields) == (
        503,
        {"database": ["The database does not answer."]},
    )
    assert "10.0.0.1" in caplog.text


@override_settings(JOBU_API_HEALTH_OPEN=False)
@pytest.mark.parametrize("path", ["health", "ready"])
def test_health_and_readiness_can_ask_for_a_token(path: str) -> None:
    assert caller("anonymous").get(path).status == 401
    assert Api(session(user("customer", is_staff=False))).get(path).status == 403
    expected = 200 if path == "health" else 503
    assert Api(session(user("staff"))).get(path).status == expected
    assert Api(Client(), **bearer("read")).get(path).status == expected


def test_what_ready_fails_on_is_a_setting(settings: Any) -> None:
    anonymous = caller("anonymous")
    process(queues=["mail"])
    pending(queue="maill")
    cron(name="a")
    settings.JOBU_READY_FAILS_ON = ["worker"]
    answer = anonymous.get("ready")
    assert answer.status == 200
    assert set(answer.body["warnings"]) == {"dispatcher", "queue", "cron"}
    assert "runworker --queue maill" in answer.body["warnings"]["queue"][0]
    settings.JOBU_READY_FAILS_ON = ["queue", "cron"]
    answer = anonymous.get("ready")
    assert (answer.status, answer.message) == (503, "Not ready: queue, cron.")


def test_a_part_that_ready_does_not_know_is_found_by_a_check(settings: Any) -> None:
    settings.JOBU_READY_FAILS_ON = ["worker", "queues"]
    [error] = check_settings()
    assert error.id == "jobu.E001"
    assert "'queues', which /ready does not look at" in error.msg
