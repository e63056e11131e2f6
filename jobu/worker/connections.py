"""Each job gets healthy database connections, and leaves none behind that it has changed."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from django.db import connections
from django.db.backends.signals import connection_created

from jobu.dialects import dialect_of

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper


class _Thread(threading.local):
    has_connections = False

    def __init__(self) -> None:
        self.hooks: dict[str, tuple[Any, ...]] = {}


_thread = _Thread()


def close_dead_connections() -> None:
    """Do not hand a job a connection that the server has closed since the last one."""
    if not _thread.has_connections:
        return
    for connection in connections.all(initialized_only=True):
        if connection.connection is not None and not _is_alive(connection):
            _drop(connection)


def close_finished_connections() -> None:
    """Apply Django's rule for the end of a request (CONN_MAX_AGE) to the end of a job.

    Never raises, whatever the job has done to its connections.
    """
    if not _thread.has_connections:
        return
    _thread.has_connections = False
    for connection in connections.all(initialized_only=True):
        if _is_reusable(connection):
            connection.queries_log.clear()
            _thread.has_connections |= connection.connection is not None
        else:
            _drop(connection)


def close_connections() -> None:
    """Close every connection of this thread; never raises either."""
    close_finished_connections()
    with suppress(Exception):
        connections.close_all()
    _thread.has_connections = False


def _is_alive(connection: BaseDatabaseWrapper) -> bool:
    try:
        return dialect_of(connection).is_alive(connection)
    except Exception:  # noqa: BLE001 - the last job may have done anything to it
        return False


def _is_reusable(connection: BaseDatabaseWrapper) -> bool:
    """Close it if it is old or broken; tell whether another job may use what is left."""
    try:
        if connection.in_atomic_block or _hooks(connection) != _thread.hooks.get(connection.alias):
            return False
        connection.validate_thread_sharing()
        if connection.connection is not None:
            connection.close_if_unusable_or_obsolete()
        return connection.connection is None or dialect_of(connection).is_as_opened(connection)
    except Exception:  # noqa: BLE001 - the job may have done anything to it
        return False


def _drop(connection: BaseDatabaseWrapper) -> None:
    """Close the connection, which ends its transaction, and let Django make a new one."""
    with suppress(Exception):
        # Django would only give it back to its pool, if there is one.
        connection.connection.close()
    with suppress(Exception):
        connection.close()
    with suppress(AttributeError):
        del connections[connection.alias]


def _hooks(connection: BaseDatabaseWrapper) -> tuple[Any, ...]:
    """Return what is called for each statement; Django keeps it when a connection is closed."""
    return (*connection.execute_wrappers, connection.force_debug_cursor)


def _note_connection(connection: BaseDatabaseWrapper, **_: Any) -> None:
    # Most jobs of most queues open none; asking Django for each thread's takes a while.
    _thread.has_connections = True
    # As the project wants them, if it adds some to each connection that is opened.
    _thread.hooks[connection.alias] = _hooks(connection)


connection_created.connect(_note_connection)
