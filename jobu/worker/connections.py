"""The database connections of jobs: healthy when a job begins, unchanged when it ends."""

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
    """Close the connections that the server has ended since the last job."""
    if not _thread.has_connections:
        return
    for connection in connections.all(initialized_only=True):
        if connection.connection is not None and not _is_alive(connection):
            _drop(connection)


def close_finished_connections() -> None:
    """Apply Django's rule for the end of a request (CONN_MAX_AGE) to the end of a job.

    Never raises, even if the job has broken its connections.
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
    """Close every connection of this thread. Never raises."""
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
    """Close the connection if it is old or broken; tell whether the next job may use it."""
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
    """Close the connection, which ends its transaction; Django makes a new one when asked."""
    with suppress(Exception):
        # By itself Django would return it to the pool, if it has one.
        connection.connection.close()
    with suppress(Exception):
        connection.close()
    with suppress(AttributeError):
        del connections[connection.alias]


def _hooks(connection: BaseDatabaseWrapper) -> tuple[Any, ...]:
    """Return the functions that Django calls for each statement; they outlive a connection."""
    return (*connection.execute_wrappers, connection.force_debug_cursor)


def _note_connection(connection: BaseDatabaseWrapper, **_: Any) -> None:
    # Most jobs open no connection, and asking Django for those of a thread takes a while.
    _thread.has_connections = True
    # The project may add some to each new connection; those are to stay.
    _thread.hooks[connection.alias] = _hooks(connection)


connection_created.connect(_note_connection)
