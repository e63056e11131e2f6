"""What handlers should not do, each way by its name, and what the next handler sees of it."""

from __future__ import annotations

import asyncio
import ctypes
import decimal
import logging
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, ContextVar
from typing import Any, NoReturn
from weakref import WeakSet

from asgiref.sync import sync_to_async
from django.db import DatabaseError, IntegrityError, connection, connections, transaction
from django.utils import timezone, translation

from jobu import current_job
from jobu.dialects import dialect_for
from jobu.exceptions import JobInterrupted, JobReleased
from tests.project.shop.models import Effect

RELEASE = threading.Event()
"""Ends what a way has left behind on purpose."""
KEPT: list[Any] = []
"""What a way keeps alive on purpose."""
_UNENDED: list[Any] = []
"""Tasks that no loop will end, lest the garbage collector complains."""
HELD: WeakSet[Any] = WeakSet()
"""What handlers had in memory and is there yet."""
_VARIABLE: ContextVar[Any] = ContextVar("variable", default="unset")


def act(way: str) -> Any:
    """Do it; return what it returns, or something to await."""
    if way in ERRORS:
        raise ERRORS[way]()
    if way in RESULTS:
        return RESULTS[way]()
    return globals()[way]()


_SESSION_SQL = {
    "postgresql": [
        "SHOW search_path",
        "SELECT to_regclass('left_behind')::text",
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711",
        "SELECT count(*) FROM pg_cursors WHERE is_holdable",
    ],
    "mysql": [
        "SELECT @@sql_mode, @left_behind",
        "SELECT IS_FREE_LOCK('left_behind')",
    ],
    "sqlite": ["PRAGMA query_only", "SELECT count(*) FROM sqlite_temp_master"],
}


def look_around() -> dict[str, Any]:
    """Return what a run finds, which must not depend on the runs before it."""
    with connection.cursor() as cursor:
        cursor.execute(_isolation_sql())
        [isolation] = cursor.fetchone()
    with transaction.atomic():
        left = Effect.objects.filter(note="left behind").count()
    return {
        "autocommit": connection.get_autocommit(),
        "in_transaction": connection.in_atomic_block,
        "isolation": isolation,
        "session": _what_the_session_keeps(),
        "left": left,
        "hooks": [
            *(hook.__qualname__ for hook in connection.execute_wrappers),
            connection.force_debug_cursor,
        ],
        **look_at_context(),
    }


def _what_the_session_keeps() -> list[Any]:
    """Return what `leave_setting`, `leave_temporary_table` and `leave_lock` would have changed."""
    with connection.cursor() as cursor:
        found: list[Any] = []
        for sql in _SESSION_SQL[connection.vendor]:
            cursor.execute(sql)
            found += cursor.fetchone() or ()
    return found


def look_at_context() -> dict[str, Any]:
    return {
        "language": translation.get_language(),
        "timezone": timezone.get_current_timezone_name(),
        "variable": str(_VARIABLE.get()),
        "precision": decimal.getcontext().prec,
    }


def _isolation_sql() -> str:
    if connection.vendor == "mysql":
        is_mariadb = connection.mysql_is_mariadb  # type: ignore[attr-defined]
        return "SELECT @@tx_isolation" if is_mariadb else "SELECT @@transaction_isolation"
    return "SHOW transaction_isolation" if connection.vendor == "postgresql" else "SELECT 1"


class _Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


class _ExitsWhenPrinted(Exception):
    def __str__(self) -> str:
        raise SystemExit("no text")

    __repr__ = __str__


class _Incomparable:
    def __eq__(self, other: object) -> NoReturn:
        raise RuntimeError("no comparison")

    __hash__ = None  # type: ignore[assignment]


class _Undumpable:
    def __init__(self, error: Exception) -> None:
        self._error = error

    def model_dump(self, mode: str) -> NoReturn:
        raise self._error


def _causing_each_other(kind: type[Exception]) -> Exception:
    first, second = kind("first"), kind("second")
    first.__cause__, second.__cause__ = second, first
    return first


def _chain(length: int) -> Exception:
    error = ValueError("the cause of all")
    for number in range(length):
        cause, error = error, ValueError(f"error {number}")
        error.__cause__ = cause
    return error


def _nested_groups(depth: int) -> Exception:
    error: Exception = ValueError("innermost")
    for _ in range(depth):
        error = ExceptionGroup("nested", [error])
    return error


def _cycle() -> list[Any]:
    cycle: list[Any] = []
    cycle.append(cycle)
    return cycle


ERRORS: dict[str, Callable[[], BaseException]] = {
    "nul": lambda: ValueError("a NUL \0 in it"),
    "surrogate": lambda: ValueError("a lone \ud800 in it"),
    "long": lambda: ValueError("x" * 1_000_000),
    "unprintable": _Unprintable,
    "exits_when_printed": _ExitsWhenPrinted,
    "bad_name": lambda: type("Na\0me\ud800", (Exception,), {"__module__": None})("bad name"),
    "cycle": lambda: _causing_each_other(ValueError),
    "database_cycle": lambda: _causing_each_other(DatabaseError),
    "chain": lambda: _chain(2_000),
    "group": lambda: BaseExceptionGroup("several", [ValueError("one"), SystemExit("two")]),
    "nested_groups": lambda: _nested_groups(2_000),
    "system_exit": lambda: SystemExit(3),
    "keyboard_interrupt": KeyboardInterrupt,
    "generator_exit": GeneratorExit,
    "cancelled": asyncio.CancelledError,
    "released": JobReleased,
    "interrupted": JobInterrupted,
    "memory": MemoryError,
}
RESULTS: dict[str, Callable[[], Any]] = {
    "not_json": object,
    "undumpable": lambda: _Undumpable(KeyError("no \0 dump \ud800" * 10_000)),
    "nested_undumpable": lambda: [_Undumpable(KeyError("no \0 dump \ud800" * 10_000))],
    "cyclic": _cycle,
    "with_nul": lambda: {"a": "\0"},
    "with_surrogate": lambda: {"a": "\ud800"},
    "too_large": lambda: "x" * 2_000_000,
}


def recurse() -> NoReturn:
    recurse()


def return_a_megabyte() -> str:
    return '"\u1234' * 130_000


class _Held:
    """Something that a handler has in memory."""


def hold_and_fail() -> NoReturn:
    held = _Held()
    HELD.add(held)
    raise ValueError("held by the traceback")


def log_much() -> None:
    logger = logging.getLogger("shop")
    for number in range(100_000):
        logger.info("line %d", number)


def report_progress_much() -> None:
    for number in range(100_000):
        current_job().progress(number, 100_000, f"step {number}")


def leave_transaction_open() -> None:
    transaction.atomic().__enter__()
    Effect.objects.create(execution_id=current_job().id, note="left behind")


def leave_transaction_broken() -> None:
    transaction.atomic().__enter__()
    effect = Effect.objects.create(execution_id=current_job().id, note="left behind")
    with suppress(IntegrityError):
        Effect.objects.create(pk=effect.pk, execution_id=1)


def leave_autocommit_off() -> None:
    transaction.set_autocommit(False)
    Effect.objects.create(execution_id=current_job().id, note="left behind")


def leave_transaction_of_sql() -> None:
    """Begin a transaction that Django does not know of."""
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
    Effect.objects.create(execution_id=current_job().id, note="left behind")


def leave_setting() -> None:
    _run_sql(
        postgresql="SET search_path = nowhere, public",
        mysql="SET SESSION sql_mode = 'ANSI_QUOTES'",
        sqlite="PRAGMA query_only = ON",
    )


def leave_setting_by_function() -> None:
    _run_sql(
        postgresql="SELECT set_config('search_path', 'nowhere, public', false)",
        mysql="SELECT @left_behind := 1",
        sqlite="PRAGMA query_only = ON",
    )


def leave_temporary_table() -> None:
    _run_sql(default="CREATE TEMPORARY TABLE left_behind (id integer)")


def leave_lock() -> None:
    _run_sql(
        postgresql="SELECT pg_advisory_lock(4711)",
        mysql="SELECT GET_LOCK('left_behind', 0)",
        sqlite="BEGIN IMMEDIATE",
    )


def end_own_session() -> None:
    dialect = dialect_for("default")
    connection.ensure_connection()
    session_id = dialect.session_id(connection)
    other = connections.create_connection("default")
    try:
        dialect.abort(other, session_id)
    finally:
        other.close()
    Effect.objects.count()


def leave_server_cursor() -> None:
    """Keep an iterator, and with it a cursor in the server; only PostgreSQL has such cursors."""
    if connection.vendor != "postgresql":
        return
    for number in range(3):
        Effect.objects.create(execution_id=current_job().id, note=f"row {number}")
    rows = Effect.objects.iterator(chunk_size=1)
    next(rows)
    KEPT.append(rows)


def _run_sql(default: str = "", **by_vendor: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(by_vendor.get(connection.vendor, default))


def leave_isolation_level() -> None:
    """Change it in the driver; on MySQL, where it has no such attribute, what comes nearest."""
    connection.ensure_connection()
    if connection.vendor == "mysql":
        connection.connection.autocommit(False)
    else:
        serializable = {"postgresql": 4, "sqlite": "EXCLUSIVE"}
        connection.connection.isolation_level = serializable[connection.vendor]


def leave_hooks() -> None:
    def refuse(*_: Any) -> NoReturn:
        raise DatabaseError("a wrapper that was left behind")

    connection.ensure_connection()
    connection.execute_wrappers.append(refuse)
    connection.force_debug_cursor = True


def leave_foreign_connection() -> None:
    """Put the connection of another thread in one's own place; Django refuses to close it here."""
    thread = threading.Thread(target=lambda: KEPT.append(connections["default"]))
    thread.start()
    thread.join()
    connection.ensure_connection()
    connection.close()
    connections["default"] = KEPT[-1]


def close_all_connections() -> None:
    connection.ensure_connection()
    connections.close_all()


def close_driver() -> None:
    connection.ensure_connection()
    connection.connection.close()


def leave_context() -> None:
    translation.activate("ko")
    timezone.activate("Asia/Seoul")
    _VARIABLE.set(_Incomparable())
    decimal.getcontext().prec = 3


def end_process() -> NoReturn:
    os._exit(0)


def crash() -> None:
    ctypes.string_at(0)


def close_descriptors() -> None:
    """Close the files and sockets of the whole process, as one that becomes a daemon would."""
    os.closerange(3, 1024)


def fork() -> int:
    """Fork with a connection open, and return in the child, too."""
    Effect.objects.create(execution_id=current_job().id, note="forked")
    if child := os.fork():
        _pid, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status)
    return -1


def leave_thread() -> None:
    threading.Thread(target=RELEASE.wait, args=(60,)).start()


async def leave_task() -> None:
    KEPT.append(asyncio.create_task(asyncio.sleep(3600), name="left"))
    KEPT.append(asyncio.create_task(asyncio.sleep(3600), context=Context()))


async def exit_in_task() -> None:
    async def leave() -> NoReturn:
        sys.exit(3)

    await asyncio.gather(leave())


async def exit_in_callback() -> None:
    asyncio.get_running_loop().call_soon(sys.exit, 3)
    await asyncio.sleep(0)


async def stop_loop() -> None:
    asyncio.get_running_loop().stop()


async def break_loop() -> None:
    loop: Any = asyncio.get_running_loop()
    _UNENDED.append(asyncio.current_task())
    os.close(loop._selector.fileno())
    await asyncio.sleep(3600)


async def cancel_itself() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()


async def swallow_cancellation() -> None:
    while not RELEASE.is_set():
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0.05)


async def leave_blocked_thread() -> None:
    """Give up on a blocking call, as a careless timeout does: its thread goes on."""
    with suppress(TimeoutError):
        await asyncio.wait_for(sync_to_async(RELEASE.wait)(60), 0.1)


async def leave_transaction_in_thread() -> None:
    await sync_to_async(leave_transaction_open)()


async def leave_foreign_connection_in_thread() -> None:
    await sync_to_async(leave_foreign_connection)()


async def leave_hooks_in_thread() -> None:
    await sync_to_async(leave_hooks)()
