"""What is found in the rows, and told once."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from jobu import enqueue, handler
from jobu.alerts import finding, sending, telling
from jobu.alerts.sending import ALERT_HANDLER, ALERT_QUEUE
from jobu.alerts.telling import tell_news
from jobu.conf import settings as jobu_settings
from jobu.dialects import DatabaseNow
from jobu.dispatchers.cron import Dispatcher
from jobu.handlers.registry import handlers
from jobu.models import AlertState, CronJob, JobExecution, Status
from jobu.processes import housekeeper
from jobu.processes.housekeeper import all_chores
from jobu.testing import run_pending
from tests.builders import cron, finished, pending, process
from tests.connections import together

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("temporary_handlers")]

LONG_AGO = 60 / 86_400
"""A minute, in days: long enough for each death to be in the table."""


@pytest.fixture(autouse=True)
def alerts(
    settings: Any, monkeypatch: pytest.MonkeyPatch, temporary_handlers: None
) -> dict[str, Any]:
    """Tell one address, of all; look at each question, and begin an hour ago."""
    settings.JOBU_ALERTS = {"email": ["ops@example.com"], "name": "shop"}
    sending.register()
    monkeypatch.setattr(telling, "look_interval", lambda: 0)
    return settings.JOBU_ALERTS  # type: ignore[no-any-return]


@pytest.fixture
def begin() -> None:
    tell_news()
    AlertState.objects.update(looked_until=DatabaseNow(-3600))


def died(message: str = "ValueError: no luck", days_ago: float = LONG_AGO, **fields: Any) -> Any:
    return finished(Status.FAILED, days_ago=days_ago, error_message=message, **fields)


def messages() -> list[dict[str, Any]]:
    rows = JobExecution.objects.filter(handler_name=ALERT_HANDLER).order_by("id")
    return [row.params["alert"] for row in rows]


def titles() -> list[str]:
    return [each["title"] for each in messages()]


def let_time_pass() -> None:
    """Let the last message be longer ago than `every_minutes`."""
    AlertState.objects.exclude(told_at=None).update(told_at=DatabaseNow(-3600))


@pytest.mark.usefixtures("begin")
def test_a_hundred_alike_are_one_message() -> None:
    ids = [died(f"ValueError: no user {number}").pk for number in range(100)]
    assert tell_news() == 1
    [alert] = messages()
    assert alert["title"] == "[shop] 100 executions of echo died: ValueError"
    assert f"#{ids[0]}" in alert["text"]
    assert "    ValueError: no user 0" in alert["text"]
    assert alert["items"][0]["count"] == 100
    let_time_pass()
    assert tell_news() == 0


@pytest.mark.usefixtures("begin")
def test_different_deaths_are_groups_of_one_message() -> None:
    died(handler_name="report")
    died("KeyError: 'x'", handler_name="report")
    died("The handler ran longer than its timeout of 1 s.", handler_name="mail")
    JobExecution.objects.filter(handler_name="mail").update(status=Status.TIMEOUT)
    died("Process 1 stopped beating while it ran this attempt.", handler_name="mail")
    finished(Status.SUCCESS, days_ago=LONG_AGO)
    finished(Status.CANCELLED, days_ago=LONG_AGO)
    tell_news()
    [alert] = messages()
    assert alert["title"] == "[shop] 4 executions of 2 handlers died"
    groups = {(each["handler"], each["error"]) for each in alert["items"]}
    assert groups == {
        ("report", "ValueError"),
        ("report", "KeyError"),
        ("mail", "timeout"),
        ("mail", "its process stopped beating"),
    }


@pytest.mark.usefixtures("begin")
def test_what_dies_soon_after_a_message_is_told_in_the_next_one() -> None:
    died(days_ago=2 * LONG_AGO)
    assert tell_news() == 1
    AlertState.objects.update(looked_until=DatabaseNow(-90))
    for _ in range(3):
        died()
        assert tell_news() == 0
    let_time_pass()
    assert tell_news() == 1
    assert titles()[1] == "[shop] 3 executions of echo died: ValueError"


@pytest.mark.usefixtures("begin")
def test_a_death_that_may_just_be_committed_is_left_for_a_later_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    died(days_ago=0)
    assert tell_news() == 0
    monkeypatch.setattr(telling, "_grace", timedelta)
    assert tell_news() == 1
    assert titles() == ["[shop] 1 execution of echo died: ValueError"]


def test_history_before_the_first_look_is_not_told() -> None:
    died()
    assert tell_news() == 0
    assert AlertState.objects.count() == 5


@pytest.mark.usefixtures("begin")
def test_after_a_long_time_without_alerts_only_the_last_day_is_told() -> None:
    AlertState.objects.update(looked_until=DatabaseNow(-30 * 86_400))
    died(days_ago=2)
    died()
    assert tell_news() == 1
    assert titles() == ["[shop] 1 execution of echo died: ValueError"]


@pytest.mark.parametrize("seconds", [0, 60])
@pytest.mark.usefixtures("begin")
def test_no_death_is_left_out_where_one_look_ends(
    monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    monkeypatch.setattr(finding, "BUDGET_SECONDS", seconds)
    monkeypatch.setattr(finding, "MAX_DEAD", 3)
    monkeypatch.setattr(finding, "MAX_FINISHED", 4)
    for number in range(10):
        died()
        if number == 3:
            finished(days_ago=LONG_AGO)
    # Three at the same moment, across the end of a look.
    rows = JobExecution.objects.order_by("id").values_list("id", flat=True)
    JobExecution.objects.filter(pk__in=list(rows[2:5])).update(finished_at=DatabaseNow(-61))
    for _ in range(10):
        let_time_pass()
        tell_news()
    assert sum(item["count"] for each in messages() for item in each["items"]) == 10


@pytest.mark.usefixtures("begin")
def test_if_the_message_cannot_be_enqueued_nothing_counts_as_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    died()

    def fail(*_args: Any, **_options: Any) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(telling, "enqueue", fail)
        with pytest.raises(RuntimeError):
            tell_news()
    assert messages() == []
    assert tell_news() == 1


@pytest.mark.django_db(transaction=True)
def test_of_many_who_look_at_once_one_tells() -> None:
    tell_news()
    AlertState.objects.update(looked_until=DatabaseNow(-3600))
    died()
    pending(queue="old", available_at=DatabaseNow(-3600))
    assert sum(together(*[tell_news] * 4)) >= 2
    told = sorted(titles())
    assert len(told) == len(set(told)) == 2
    connections.close_all()


@pytest.mark.usefixtures("begin")
def test_each_target_gets_an_execution_of_its_own(alerts: dict[str, Any]) -> None:
    alerts["webhooks"] = ["https://hooks.example.com/SECRET"]
    died()
    tell_news()
    rows = JobExecution.objects.filter(handler_name=ALERT_HANDLER)
    targets = sorted(row.params["target"].rpartition(" ")[0] for row in rows)
    assert targets == ["email", "webhook hooks.example.com"]
    assert {(row.queue, row.priority) for row in rows} == {(ALERT_QUEUE, 32_767)}
    assert "SECRET" not in str([row.params for row in rows])


@pytest.mark.parametrize(
    ("queues", "expected"),
    [([[]], ALERT_QUEUE), ([["mail", "x"]], "mail"), ([["mail"], [ALERT_QUEUE]], ALERT_QUEUE)],
)
@pytest.mark.usefixtures("begin")
def test_the_message_goes_into_a_queue_that_is_served(
    queues: list[list[str]], expected: str
) -> None:
    for each in queues:
        process(queues=each)
    process(kind="dispatcher")
    died()
    tell_news()
    assert JobExecution.objects.get(handler_name=ALERT_HANDLER).queue == expected


@pytest.mark.usefixtures("begin")
def test_the_death_of_an_alert_is_not_told() -> None:
    died(handler_name=ALERT_HANDLER)
    assert tell_news() == 0


@pytest.mark.usefixtures("begin")
def test_what_is_secret_stays_masked() -> None:
    @handler("login")
    def login(password: str) -> None:
        raise ValueError(f"{password} is wrong")

    JobExecution.objects.create(handler_name="login", params={"password": "hunter22"}, max_retry=1)
    run_pending()
    JobExecution.objects.filter(handler_name="login").update(finished_at=DatabaseNow(-60))
    assert tell_news() == 1
    assert "******** is wrong" in messages()[0]["text"]
    assert "hunter22" not in str(messages())


@pytest.mark.usefixtures("begin")
def test_links_lead_to_the_admin(alerts: dict[str, Any]) -> None:
    alerts["admin_url"] = "https://shop.example.com/admin/"
    pk = died().pk
    tell_news()
    link = f"https://shop.example.com/admin/jobu/jobexecution/{pk}/change/"
    assert link in messages()[0]["text"]


def test_a_paused_cron_job_is_told_once_and_again_when_it_pauses_again() -> None:
    process(kind="dispatcher")
    job = cron(is_enabled=False, problem="Paused: its last 3 executions ended dead.")
    assert tell_news() == 1
    assert titles() == ["[shop] cron job paused"]
    assert messages()[0]["text"] == "nightly: Paused: its last 3 executions ended dead."
    let_time_pass()
    assert tell_news() == 0
    CronJob.objects.filter(pk=job.pk).update(is_enabled=True, problem="")
    assert tell_news() == 0
    CronJob.objects.filter(pk=job.pk).update(is_enabled=False, problem="Paused: again.")
    assert tell_news() == 1


def test_a_tick_that_nobody_dispatched_is_told() -> None:
    process(kind="dispatcher")
    job = cron(cron_expression="* * * * *")
    late = jobu_settings.DISPATCHER_MAX_SLEEP_SECONDS + 20
    CronJob.objects.filter(pk=job.pk).update(planned=job.plan_key, next_run_at=DatabaseNow(-late))
    assert tell_news() == 1
    assert titles() == ["[shop] cron job not dispatched in time"]
    assert messages()[0]["text"].startswith("nightly: due 20")


def test_a_queue_whose_first_execution_is_old_is_told(alerts: dict[str, Any]) -> None:
    process()
    alerts["queue_minutes"] = 2
    pending(queue="slow", available_at=DatabaseNow(-90))
    assert tell_news() == 0
    pending(queue="slow", available_at=DatabaseNow(-150), priority=5)
    assert tell_news() == 1
    assert titles() == ["[shop] queue with old executions"]
    assert messages()[0]["text"].startswith("slow: the first execution has been due for 2 min 3")


def look_for(seconds: float) -> int:
    """Let somebody have looked so long ago, without news, and look again."""
    for state in AlertState.objects.exclude(told__isnull=True):
        seen = {key: datetime.fromisoformat(at) for key, at in state.told["seen"].items()}
        earlier = {key: at - timedelta(seconds=seconds) for key, at in seen.items()}
        state.told["seen"] = {key: at.isoformat() for key, at in earlier.items()}
        state.save()
    return tell_news()


def test_a_queue_that_nobody_serves_and_a_missing_dispatcher_are_told_after_a_minute() -> None:
    process(queues=["mail"])
    cron(cron_expression="* * * * *")
    assert tell_news() == 0
    assert look_for(50) == 0
    assert look_for(15) == 1
    assert messages()[0]["text"] == "cron jobs are due, and no dispatcher is alive"
    let_time_pass()
    pending(queue="maill")
    assert tell_news() == 0
    assert look_for(61) == 1
    assert messages()[1]["text"].startswith("maill: executions are due, and no living worker")
    let_time_pass()
    assert look_for(61) == 0


def test_a_process_that_starts_a_little_later_than_the_others_is_not_missing() -> None:
    process(queues=["mail"])
    pending(queue="default")
    assert tell_news() == 0
    # All were away meanwhile.
    AlertState.objects.update(looked_at=DatabaseNow(-600))
    assert look_for(600) == 0
    process(queues=["default"])
    assert look_for(61) == 0


def test_only_the_kinds_that_were_asked_for_are_looked_for(alerts: dict[str, Any]) -> None:
    alerts["on"] = ["died"]
    pending(queue="old", available_at=DatabaseNow(-3600))
    assert tell_news() == 0
    assert list(AlertState.objects.values_list("kind", flat=True)) == ["died"]


def test_a_process_looks_only_where_somebody_is_to_be_told(
    settings: Any, django_assert_num_queries: Any
) -> None:
    dispatcher = Dispatcher()
    with_alerts = len(all_chores(dispatcher))
    settings.JOBU_ALERTS = {}
    assert len(all_chores(dispatcher)) == with_alerts - 2
    with django_assert_num_queries(0):
        assert tell_news() == 0


def test_of_several_processes_one_looks(
    monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Callable[..., Any]
) -> None:
    tell_news()
    monkeypatch.setattr(telling, "look_interval", lambda: 60)
    with django_assert_num_queries(2):
        tell_news()


def test_a_missing_migration_is_logged_and_disturbs_no_other_chore(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT * FROM no_such_table")

    monkeypatch.setattr(housekeeper, "tell_news", fail)
    for chore in all_chores(Dispatcher())[-2:]:
        chore.do()
    assert "Looking for alerts failed unexpectedly and goes on" in caplog.text


def test_messages_cannot_start_jobus_own_handler(settings: Any) -> None:
    settings.JOBU_EVENT_HANDLERS = "all"
    assert handlers["echo"].takes_events
    assert not handlers[ALERT_HANDLER].takes_events


def test_a_plain_execution_causes_the_same_statements_with_alerts_and_without(
    settings: Any, alerts: dict[str, Any]
) -> None:
    def statements(setting: dict[str, Any]) -> list[str]:
        settings.JOBU_ALERTS = setting
        with CaptureQueriesContext(connection) as caught:
            enqueue("echo")
            run_pending()
        return [
            re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}|\d+", "N", query["sql"])
            for query in caught
        ]

    assert statements(alerts) == statements({})
