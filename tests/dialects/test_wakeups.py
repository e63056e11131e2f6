"""What a process hears of before its next poll, on each database."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from jobu import enqueue
from jobu.dialects import dialect_for
from jobu.dialects.wakeups import Channel, Listener, PostgreSQLListener, make_listener
from jobu.models import JobExecution
from tests.builders import cron

pytestmark = pytest.mark.django_db(transaction=True)

TABLE = JobExecution._meta.db_table
LONG = 60.0
SHORT = 0.1


def make(channel: Channel = Channel.EXECUTIONS, *queues: str) -> Listener:
    return make_listener(channel, queues, TABLE)


@pytest.fixture
def listener() -> Iterator[Listener]:
    """One that has heard of everything so far."""
    yield from _caught_up(make())


@pytest.fixture
def _without_notifications(settings: Any) -> Iterator[None]:
    settings.JOBU_NOTIFY = False
    call_command("migrate", verbosity=0)
    yield
    settings.JOBU_NOTIFY = True
    call_command("migrate", verbosity=0)


def test_it_hears_of_an_execution_that_another_connection_commits(listener: Listener) -> None:
    started = time.monotonic()
    thread = threading.Thread(target=_in_another_connection, args=(lambda: enqueue("echo"),))
    thread.start()
    assert listener.wait(LONG)
    assert time.monotonic() - started < LONG
    thread.join()
    assert not listener.wait(SHORT)


def test_it_does_not_hear_of_one_that_was_rolled_back(listener: Listener) -> None:
    def roll_back() -> None:
        with transaction.atomic():
            enqueue("echo")
            transaction.set_rollback(True)

    _in_another_connection(roll_back)
    assert not listener.wait(SHORT)


def test_it_can_be_interrupted_from_another_thread(listener: Listener) -> None:
    threading.Timer(0.05, listener.interrupt).start()
    assert not listener.wait(LONG)
    assert not listener.wait(LONG)


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite tells of any change")
def test_a_dispatcher_does_not_hear_of_executions() -> None:
    for listener in _caught_up(make(Channel.CRON_JOBS)):
        _in_another_connection(lambda: enqueue("echo"))
        assert not listener.wait(SHORT)


@pytest.mark.skipif(connection.vendor == "mysql", reason="nothing tells of edited cron jobs")
def test_a_dispatcher_hears_of_an_edited_cron_job() -> None:
    for listener in _caught_up(make(Channel.CRON_JOBS)):
        assert listener.can_hear
        _in_another_connection(cron)
        assert listener.wait(LONG)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="no other database can notify")
class TestWithoutNotifications:
    @pytest.fixture(autouse=True)
    def _without(self, _without_notifications: None) -> None:
        """`JOBU_NOTIFY` is off, and `migrate` was run."""

    def test_nothing_is_announced(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("LISTEN jobu")
            cursor.execute("LISTEN jobu_crons")
            enqueue("echo")
            cron()
            dialect_for("default").announce(connection, ["default"])
            assert list(connection.connection.notifies(timeout=0)) == []
            cursor.execute("UNLISTEN *")

    def test_a_worker_hears_of_new_executions_all_the_same(self) -> None:
        for listener in _caught_up(make()):
            assert not _is_told(listener)
            _in_another_connection(lambda: enqueue("echo"))
            assert listener.wait(LONG)

    def test_a_dispatcher_polls(self) -> None:
        for listener in _caught_up(make(Channel.CRON_JOBS)):
            assert not listener.can_hear

    def test_a_process_says_so_if_migrate_has_not_been_run_since(self, settings: Any) -> None:
        advise = dialect_for("default").advice
        assert advise(connection, TABLE) is None
        settings.JOBU_NOTIFY = True
        assert "the tables do not notify: run manage.py migrate" in str(advise(connection, TABLE))
        call_command("migrate", verbosity=0)
        assert advise(connection, TABLE) is None
        settings.JOBU_NOTIFY = False
        assert "the tables still notify: run manage.py migrate" in str(advise(connection, TABLE))


@pytest.mark.skipif(connection.vendor != "postgresql", reason="no other database can notify")
def test_behind_a_proxy_that_makes_up_pids_it_does_not_count_on_notifications(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for listener in _caught_up(make()):
        assert _is_told(listener)
    connection.ensure_connection()
    info = type(connection.connection.info)
    monkeypatch.setattr(info, "backend_pid", property(lambda _: 4711))
    for listener in _caught_up(make()):
        assert not _is_told(listener)
        _in_another_connection(lambda: enqueue("echo"))
        assert listener.wait(LONG)


def _caught_up(listener: Listener) -> Iterator[Listener]:
    try:
        while listener.wait(0):
            pass
        yield listener
    finally:
        listener.interrupt()
        listener.close()


def _is_told(listener: Listener) -> bool:
    assert isinstance(listener, PostgreSQLListener)
    return listener._is_told


def _in_another_connection(write: Any) -> None:
    def run() -> None:
        try:
            write()
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
