"""The database connections of jobs: kept while a slot is busy, and for each job as if new."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from asgiref.sync import SyncToAsync, sync_to_async
from django.db import connections
from django.db.backends.signals import connection_created

from jobu.dialects import dialect_of
from jobu.handlers.context import find_current_job

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.db.backends.base.base import BaseDatabaseWrapper

_KEEP_SECONDS = 60.0
"""How old a connection of a busy slot may become, where Django would close it earlier."""
_SURE_SECONDS = 1.0
"""How long after its last answer a server counts as being there, if it has not said otherwise."""


class _Session:
    """What jobs did in one thread with a connection of Django's."""

    def __init__(self, connection: BaseDatabaseWrapper) -> None:
        self.connection = connection
        self._dialect = dialect_of(connection)
        self._server_cursors: WeakSet[Any] = WeakSet()
        connection.execute_wrappers.append(self._note)
        # Django asks it before the first statement of a job; see `expect_check`.
        connection.is_usable = self._is_usable  # type: ignore[method-assign]
        self.begin()

    def begin(self) -> None:
        """The connection was just opened."""
        # The project may add hooks to each new connection; those are to stay.
        self._hooks = _hooks(self.connection)
        self._may_have_changed = False
        self._server_cursors.clear()
        self._opened = self._answered = time.monotonic()

    def is_unchanged(self) -> bool:
        """Tell whether the next job would find the connection as it was opened."""
        return not (
            self.connection.in_atomic_block
            or self._may_have_changed
            or _hooks(self.connection) != self._hooks
            or any(not cursor.closed for cursor in self._server_cursors)
        )

    def close_if_old_or_broken(self, *, is_busy: bool) -> None:
        """Apply Django's rule for the end of a request (CONN_MAX_AGE)."""
        connection = self.connection
        if is_busy and self._may_be_kept():
            close_at, connection.close_at = connection.close_at, None
            connection.close_if_unusable_or_obsolete()
            connection.close_at = close_at
        else:
            connection.close_if_unusable_or_obsolete()

    def expect_check(self) -> None:
        """Let Django ask, before the first statement of the next job, whether it is usable."""
        connection: Any = self.connection
        connection.health_check_enabled = True
        connection.health_check_done = False

    def _may_be_kept(self) -> bool:
        # A pool has few connections for many slots, and another one at once.
        has_pool = bool(self.connection.settings_dict["OPTIONS"].get("pool"))
        return not has_pool and time.monotonic() - self._opened < _KEEP_SECONDS

    def _note(
        self, execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Any
    ) -> Any:
        if not self._may_have_changed:
            self._may_have_changed = self._dialect.may_change_session(sql)
        cursor = context["cursor"].cursor
        if self._dialect.is_server_cursor(cursor):
            self._server_cursors.add(cursor)
        result = execute(sql, params, many, context)
        self._answered = time.monotonic()
        return result

    def _is_usable(self) -> bool:
        """Ask the server only if it has had time to vanish, or an error makes one doubt."""
        connection = self.connection
        is_recent = time.monotonic() - self._answered < _SURE_SECONDS
        if is_recent and not connection.errors_occurred and self._is_silent():
            return True
        return bool(type(connection).is_usable(connection))

    def _is_silent(self) -> bool:
        try:
            return self._dialect.is_silent(self.connection)
        except Exception:  # noqa: BLE001 - the last job may have done anything to it
            return False


class _Thread(threading.local):
    is_slot = False
    has_connections = False

    def __init__(self) -> None:
        self.sessions: dict[str, _Session] = {}


_thread = _Thread()


def begin_slot() -> None:
    """Say that this thread runs jobs, one after the other."""
    _thread.is_slot = True


def has_connections() -> bool:
    """Tell whether a job has left connections to this thread."""
    return _thread.has_connections


def keep_connections(*, after_failure: bool) -> None:
    """Make this thread's connections ready for the next job of a busy slot.

    What a job has changed or broken is closed. Never raises.
    """
    # Nobody tells of a connection that could only half be opened.
    _thread.has_connections |= after_failure
    _tidy(is_busy=True)


def close_old_connections() -> None:
    """Close what Django would have closed after a request: the slot is not busy any more."""
    _tidy(is_busy=False)


def close_connections() -> None:
    """Close every connection of this thread. Never raises."""
    _tidy(is_busy=False)
    with suppress(Exception):
        connections.close_all()
    _thread.has_connections = False


def has_orm_thread() -> bool:
    """Tell whether a handler of this task has used the ORM; only then there is a thread for it."""
    context = SyncToAsync.thread_sensitive_context.get(None)
    return context in SyncToAsync.context_to_thread_executor


async def keep_async_connections() -> None:
    """Do what `keep_connections` does in this task's thread for the ORM."""
    if has_orm_thread():
        await asyncio.shield(sync_to_async(keep_connections)(after_failure=True))


def close_async_connections() -> None:
    """Let this task's thread for the ORM close its connections once it has time."""
    if has_orm_thread():
        context = SyncToAsync.thread_sensitive_context.get()
        SyncToAsync.context_to_thread_executor[context].submit(close_connections)


def _tidy(*, is_busy: bool) -> None:
    if not _thread.has_connections:
        return
    _thread.has_connections = False
    for connection in connections.all(initialized_only=True):
        if _is_reusable(connection, is_busy=is_busy):
            connection.queries_log.clear()
            _thread.has_connections |= connection.connection is not None
        else:
            _drop(connection)


def _is_reusable(connection: BaseDatabaseWrapper, *, is_busy: bool) -> bool:
    """Close the connection if it is old or broken; tell whether the next job may use it."""
    session = _thread.sessions.get(connection.alias)
    try:
        # Another thread's connection may stand in its place.
        if session is None or session.connection is not connection or not session.is_unchanged():
            return False
        connection.validate_thread_sharing()
        if connection.connection is not None:
            session.close_if_old_or_broken(is_busy=is_busy)
        if connection.connection is not None:
            session.expect_check()
            return dialect_of(connection).is_as_opened(connection)
    except Exception:  # noqa: BLE001 - the job may have done anything to it
        return False
    return True


def _drop(connection: BaseDatabaseWrapper) -> None:
    """Close the connection, which ends its transaction; Django makes a new one when asked."""
    with suppress(Exception):
        # By itself Django would return it to the pool, if it has one.
        connection.connection.close()
    with suppress(Exception):
        connection.close()
    with suppress(AttributeError):
        del connections[connection.alias]
    _thread.sessions.pop(connection.alias, None)


def _hooks(connection: BaseDatabaseWrapper) -> tuple[Any, ...]:
    """Return the functions that Django calls for each statement; they outlive a connection."""
    return (*connection.execute_wrappers, connection.force_debug_cursor)


def _note_connection(connection: BaseDatabaseWrapper, **_: Any) -> None:
    # Not those of other threads, such as the worker's own. The thread in which an async handler
    # uses the ORM is known by its job.
    if not _thread.is_slot and find_current_job() is None:
        return
    # Most jobs open no connection, and asking Django for those of a thread takes a while.
    _thread.has_connections = True
    session = _thread.sessions.get(connection.alias)
    if session is not None and session.connection is connection:
        session.begin()
    else:
        _thread.sessions[connection.alias] = _Session(connection)


connection_created.connect(_note_connection)
