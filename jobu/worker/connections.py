"""Each job gets healthy database connections, and leaves none open behind it."""

from __future__ import annotations

import threading
from typing import Any

from django.db import connections
from django.db.backends.signals import connection_created


class _Thread(threading.local):
    has_connections = False


_thread = _Thread()


def close_dead_connections() -> None:
    """Do not hand a job a connection that the server has closed since the last one."""
    if not _thread.has_connections:
        return
    for connection in connections.all(initialized_only=True):
        if connection.connection is not None and not connection.is_usable():
            connection.close()


def close_finished_connections() -> None:
    """Apply Django's rule for the end of a request (CONN_MAX_AGE) to the end of a job."""
    if not _thread.has_connections:
        return
    still_open = False
    for connection in connections.all(initialized_only=True):
        if connection.in_atomic_block:
            # The handler left a transaction open; Django cannot reuse that connection.
            connection.close()
            del connections[connection.alias]
        else:
            connection.close_if_unusable_or_obsolete()
            still_open = still_open or connection.connection is not None
    _thread.has_connections = still_open


def _note_connection(**_: Any) -> None:
    # Most jobs of most queues open none; asking Django for each thread's takes a while.
    _thread.has_connections = True


connection_created.connect(_note_connection)
