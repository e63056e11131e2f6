"""The connections of jobs: kept while a slot is busy, and checked without asking the server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from asgiref.sync import SyncToAsync, ThreadSensitiveContext, sync_to_async
from django.db import OperationalError, connection, connections
from django.db.backends.signals import connection_created

from jobu import Worker, enqueue, enqueue_many
from jobu.dialects import dialect_for
from jobu.handlers.context import find_current_job
from jobu.models import JobExecution, Status
from jobu.worker import connections as of_jobs
from tests.project.shop.jobs import AT_GATE, GATE
from tests.waiting import wait_for_end, wait_until
from tests.worker.test_worker import open_connections

StartWorker = Callable[..., Worker]


@pytest.fixture
def opened() -> Iterator[set[int]]:
    """The ids of the executions that open a connection.

    Not the connections: to open its first one, Django may open another one for a moment.
    """
    found: set[int] = set()

    def note(**_: Any) -> None:
        if (job := find_current_job()) is not None:
            found.add(job.id)

    connection_created.connect(note)
    yield found
    connection_created.disconnect(note)


@pytest.fixture
def _long_lived() -> Iterator[None]:
    connections.settings["default"]["CONN_MAX_AGE"] = 60
    yield
    connections.settings["default"]["CONN_MAX_AGE"] = 0


@pytest.mark.parametrize("handler", ["effect", "atomic_effect", "async_orm"])
def test_a_busy_slot_keeps_its_connection_from_job_to_job(
    start_worker: StartWorker, opened: set[int], handler: str
) -> None:
    enqueue_many(handler, ({} for _ in range(30)))
    start_worker(pool_size=2)
    wait_until(succeeded(30), "all to succeed")
    assert 1 <= len(opened) <= 2


@pytest.mark.skipif(connection.vendor != "postgresql", reason="Django has a pool there only")
@pytest.mark.parametrize("handler", ["effect", "atomic_effect", "async_orm"])
def test_slots_share_the_few_connections_of_a_pool(start_worker: StartWorker, handler: str) -> None:
    enqueue_many(handler, ({} for _ in range(40)), max_retry=1)
    connection.close()
    options = connections.settings["default"]["OPTIONS"]
    options["pool"] = {"min_size": 1, "max_size": 2, "timeout": 60}
    try:
        worker = start_worker(pool_size=5)
        wait_until(succeeded(40), "all to succeed")
        worker.stop()
    finally:
        connection.close()
        connection.close_pool()
        del options["pool"]


@pytest.mark.parametrize("handler", ["effect", "async_orm"])
def test_a_slot_that_is_idle_closes_what_django_would_have_closed(
    start_worker: StartWorker, opened: set[int], handler: str
) -> None:
    start_worker(pool_size=1)
    wait_for_end(enqueue(handler))
    # The test's own, the loop's and the housekeeper's.
    wait_until(lambda: open_connections() <= 3, "the end of the job's connection")
    wait_for_end(enqueue(handler))
    assert len(opened) == 2


@pytest.mark.usefixtures("_long_lived")
def test_a_slot_that_is_idle_keeps_what_django_would_have_kept(
    start_worker: StartWorker, opened: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobu.worker.pool._BUSY_SECONDS", 0.01)
    is_idle = []
    monkeypatch.setattr(
        "jobu.worker.pool.close_old_connections",
        lambda: (of_jobs.close_old_connections(), is_idle.append(True)),
    )
    start_worker(pool_size=1)
    wait_for_end(enqueue("effect"))
    wait_until(lambda: bool(is_idle), "the slot to be idle")
    wait_for_end(enqueue("effect"))
    assert len(opened) == 1


def test_a_busy_slot_does_not_keep_a_connection_for_ever(
    start_worker: StartWorker, opened: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_jobs, "_KEEP_SECONDS", 0.0)
    enqueue_many("effect", ({} for _ in range(5)))
    start_worker(pool_size=1)
    wait_until(succeeded(5), "all to succeed")
    assert len(opened) == 5


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has no server")
@pytest.mark.parametrize("handler", ["session_id", "async_session_id"])
def test_a_connection_that_the_server_ended_between_two_jobs_is_replaced(
    start_worker: StartWorker, handler: str
) -> None:
    start_worker(pool_size=1)
    first = wait_for_end(enqueue(handler, max_retry=1)).result
    end_session(first)
    second = wait_for_end(enqueue(handler, max_retry=1))
    assert (second.status, second.error_message) == (Status.SUCCESS, "")
    assert second.result != first


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has no server")
def test_a_connection_that_the_server_ended_before_a_job_used_it_is_replaced(
    start_worker: StartWorker,
) -> None:
    GATE.clear()
    AT_GATE.clear()
    start_worker(pool_size=1)
    first = wait_for_end(enqueue("session_id", max_retry=1)).result
    second = enqueue("session_id", {"at_gate": True}, max_retry=1)
    assert AT_GATE.wait(60)
    end_session(first)
    GATE.set()
    assert wait_for_end(second).status == Status.SUCCESS
    assert second.result != first


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has no server")
def test_a_job_that_ends_its_own_session_fails_and_the_next_one_does_not(
    start_worker: StartWorker,
) -> None:
    start_worker(pool_size=1)
    broken = wait_for_end(enqueue("misbehave", {"way": "end_own_session"}, max_retry=1))
    assert broken.status == Status.FAILED
    assert wait_for_end(enqueue("effect", max_retry=1)).status == Status.SUCCESS


@pytest.mark.parametrize("handler", ["effect", "async_orm"])
def test_a_connection_that_could_only_half_be_opened_is_opened_anew(
    start_worker: StartWorker,
    monkeypatch: pytest.MonkeyPatch,
    opened: set[int],
    handler: str,
) -> None:
    wrapper = type(connections["default"])
    usual = wrapper.init_connection_state
    failures = iter([OperationalError("commands out of sync")])

    def fail_once(self: Any) -> None:
        if find_current_job() is not None and (error := next(failures, None)):
            raise error
        usual(self)

    monkeypatch.setattr(wrapper, "init_connection_state", fail_once)
    start_worker(pool_size=1)
    assert wait_for_end(enqueue(handler, max_retry=1)).status == Status.FAILED
    execution = wait_for_end(enqueue(handler, max_retry=1))
    assert execution.status == Status.SUCCESS
    assert opened == {execution.pk}


def test_the_server_is_not_asked_before_each_job(
    start_worker: StartWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    wrapper = type(connections["default"])
    usual = wrapper.is_usable
    monkeypatch.setattr(wrapper, "is_usable", lambda self: bool(asked.append(self)) or usual(self))
    enqueue_many("effect", ({} for _ in range(20)))
    start_worker(pool_size=1)
    wait_until(succeeded(20), "all to succeed")
    assert asked == []


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 1", False),
        ("  (SELECT 1) UNION (SELECT 2)", False),
        ('INSERT INTO "t" VALUES (%s)', False),
        ("UPDATE t SET a = 1", False),
        ("WITH t AS (SELECT 1) SELECT * FROM t", False),
        ('SAVEPOINT "s1"', False),
        ('ROLLBACK TO SAVEPOINT "s1"', False),
        ("SET x = 1", True),
        ("create temporary table t (id int)", True),
        ("PREPARE p AS SELECT 1", True),
        ("-- a comment\nSELECT 1", True),
        (b"SELECT 1", True),
    ],
)
def test_a_statement_that_is_not_known_to_be_plain_counts_as_a_change(
    sql: object, expected: bool
) -> None:
    assert dialect_for("default").may_change_session(sql) is expected


@pytest.mark.skipif(connection.vendor != "mysql", reason="no other database has such variables")
def test_only_variables_of_the_user_change_a_session_of_mysql() -> None:
    dialect = dialect_for("default")
    assert not dialect.may_change_session("SELECT VERSION(), @@sql_mode")
    assert dialect.may_change_session("SELECT @@sql_mode, @mine := 1")


@pytest.mark.django_db
def test_django_asks_is_usable_once_when_health_check_enabled_is_set_and_done_is_not() -> None:
    """Django documents neither attribute; `expect_check` sets both."""
    asked = []
    wrapper: Any = connections.create_connection("default")
    wrapper.is_usable = lambda: bool(asked.append(True)) or True
    try:
        wrapper.ensure_connection()
        wrapper.health_check_enabled, wrapper.health_check_done = True, False
        for _ in range(2):
            with wrapper.cursor() as cursor:
                cursor.execute("SELECT 1")
        assert asked == [True]
        wrapper.health_check_done = False
        wrapper.set_autocommit(False)
        assert asked == [True, True]
    finally:
        wrapper.close()


@pytest.mark.pure
def test_asgiref_keeps_a_thread_for_each_context_and_sets_one_variable_of_its_own() -> None:
    """asgiref documents none of `thread_sensitive_context`, `context_to_thread_executor` and
    `deadlock_context`; the pool and the connections of async handlers rely on them."""

    async def look() -> None:
        async with ThreadSensitiveContext() as context:
            assert SyncToAsync.thread_sensitive_context.get() is context
            assert context not in SyncToAsync.context_to_thread_executor
            await sync_to_async(int)()
            assert context in SyncToAsync.context_to_thread_executor
            assert SyncToAsync.deadlock_context.get() is False

    asyncio.run(look())


def succeeded(count: int) -> Callable[[], bool]:
    return lambda: JobExecution.objects.filter(status=Status.SUCCESS).count() == count


def end_session(session_id: Any) -> None:
    """End the session; the server does it a moment later."""
    dialect_for("default").abort(connection, session_id)
    sessions = {
        "postgresql": "SELECT count(*) FROM pg_stat_activity WHERE pid = %s",
        "mysql": "SELECT count(*) FROM information_schema.processlist WHERE id = %s",
    }

    def is_gone() -> bool:
        with connection.cursor() as cursor:
            cursor.execute(sessions[connection.vendor], [session_id])
            return bool(cursor.fetchone()[0] == 0)

    wait_until(is_gone, "the end of the session")
