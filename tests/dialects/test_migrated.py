"""A project where `manage.py migrate` was forgotten: `other` has none of jobu's tables."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import DatabaseError, Error, connections, transaction
from django.test import Client
from django.urls import reverse

from jobu import Dispatcher, QueueMessage, enqueue, enqueue_many
from jobu.dialects import dialect_for
from jobu.exceptions import JobuError, NotMigratedError
from jobu.messages.store import store
from jobu.models import CronJob, DeadLetter, JobExecution, Process
from tests.api.callers import caller
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(databases=["default", "other"])

WORDS = (
    "The tables of jobu in the database 'other' are missing, or older than this version of jobu. "
    "Run: manage.py migrate --database other"
)


@pytest.fixture
def unmigrated(settings: Any) -> None:
    settings.JOBU_DATABASE = "other"


@pytest.mark.usefixtures("unmigrated")
@pytest.mark.parametrize(
    "call",
    [
        lambda: enqueue("echo"),
        lambda: enqueue("echo", {"to": 5}, dedupe_key="welcome"),
        lambda: enqueue_many("echo", [{}, {}]),
        lambda: CronJob(name="x", cron_expression="@daily", handler_name="echo").run_now(),
    ],
)
def test_enqueue_says_what_to_do(call: Callable[[], object]) -> None:
    with pytest.raises(NotMigratedError) as caught:
        call()
    assert str(caught.value) == WORDS
    assert isinstance(caught.value, JobuError)
    assert isinstance(caught.value, DatabaseError)
    assert isinstance(caught.value.__cause__, Error)


@pytest.mark.usefixtures("unmigrated")
@pytest.mark.parametrize(
    "command",
    [
        ["jobu_crons"],
        ["jobu_sync"],
        ["jobu_prune"],
        ["jobu_deadletters", "list"],
        ["jobu_token", "list"],
        ["jobu_executions", "list"],
        ["jobu_enqueue", "echo"],
    ],
)
def test_commands_say_what_to_do(command: list[str]) -> None:
    with pytest.raises(CommandError) as caught:
        call_command(*command)
    assert str(caught.value) == WORDS


def pages() -> list[str]:
    lists = [
        reverse(f"admin:jobu_{model._meta.model_name}_changelist")
        for model in (CronJob, JobExecution, DeadLetter, Process)
    ]
    return [
        *lists,
        reverse("admin:jobu_cronjob_change", args=[1]),
        reverse("admin:jobu_dashboard_data"),
    ]


@pytest.mark.usefixtures("unmigrated")
@pytest.mark.parametrize("number", range(6))
def test_a_page_of_the_admin_says_what_to_do(number: int, client: Client) -> None:
    client.force_login(User.objects.create_superuser("root"))
    response = client.get(pages()[number])
    assert (response.status_code, response["Jobu-Problem"]) == (503, "not-migrated")
    text = response.content.decode()
    assert "python manage.py migrate --database other" in text
    assert "The database says: " in text


@pytest.mark.usefixtures("unmigrated")
@pytest.mark.parametrize("path", ["crons", "jobs", "processes"])
def test_the_http_api_says_what_to_do(path: str, settings: Any) -> None:
    settings.JOBU_DATABASE = "default"
    api = caller("superuser")
    settings.JOBU_DATABASE = "other"
    answer = api.get(path)
    assert (answer.status, answer.message) == (503, WORDS)


@pytest.mark.usefixtures("unmigrated")
def test_a_tick_and_a_message_wait_for_the_tables(caplog: pytest.LogCaptureFixture) -> None:
    """They are no dead letters, and no traceback of each poll."""
    with pytest.raises(Error):
        store([QueueMessage(id="t:1", body=b'{"handler_name": "echo"}')], "kafka")
    process = Dispatcher()

    def poll() -> float:
        raise NotMigratedError(WORDS)

    process.poll = poll  # type: ignore[method-assign]
    process.poll_safely()
    assert "unexpectedly" not in caplog.text
    assert WORDS in caplog.text


def test_an_older_table_is_told_from_other_errors() -> None:
    dialect = dialect_for("default")

    def failing(sql: str) -> bool:
        with (
            pytest.raises(Error) as caught,
            transaction.atomic(),
            connections["default"].cursor() as cursor,
        ):
            cursor.execute(sql)
        return dialect.is_unmigrated(caught.value)

    assert failing("SELECT later FROM jobu_cronjob")
    assert failing("INSERT INTO jobu_cronjob (later) VALUES (1)")
    assert failing("SELECT * FROM jobu_later")
    assert not failing("SELECT FROM WHERE")
    assert not failing("INSERT INTO jobu_apitoken (id, name) VALUES (1, NULL)")


@pytest.mark.django_db(databases=["default", "other"], transaction=True)
@pytest.mark.usefixtures("unmigrated")
def test_a_process_says_what_to_do_and_waits(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "jobu"), Dispatcher():
        wait_until(lambda: WORDS in caplog.text, "its words", lambda: caplog.text)
