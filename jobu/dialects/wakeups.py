"""Hear of changes before the next poll. Polling makes a process correct, wake-ups make it quick."""

from __future__ import annotations

import os
import select
import threading
import time
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from django.db import connections

from jobu.conf import settings
from jobu.dialects.postgresql_schema import CHANNEL, CRON_CHANNEL

if TYPE_CHECKING:
    from collections.abc import Sequence

_SQLITE_LOOK_SECONDS = 0.045


class Channel(StrEnum):
    """What a process wants to hear of."""

    EXECUTIONS = CHANNEL
    CRON_JOBS = CRON_CHANNEL


class Listener:
    """Hears nothing: for databases that do not announce changes."""

    can_hear = False
    hears_executions = False
    """Whether it hears of new executions only; otherwise it hears of any change."""

    def __init__(self, channel: Channel, queues: Sequence[str]) -> None:
        self._channel = channel
        self._queues = frozenset(queues)
        self._interrupted = threading.Event()

    def wait(self, timeout: float) -> bool:
        """Return True as soon as something may have changed, False after `timeout` seconds."""
        self._interrupted.wait(timeout)
        return False

    def interrupt(self) -> None:
        """End the current `wait` and all later ones at once; called from another thread."""
        self._interrupted.set()

    def close(self) -> None:
        """Free what `wait` used."""


class SQLiteListener(Listener):
    """Watches `PRAGMA data_version`, which changes when another connection commits."""

    can_hear = True

    def __init__(self, channel: Channel, queues: Sequence[str]) -> None:
        super().__init__(channel, queues)
        self._seen: Any = None

    def wait(self, timeout: float) -> bool:
        end = time.monotonic() + timeout
        while True:
            version = self._data_version()
            if version != self._seen:
                self._seen = version
                return True
            left = end - time.monotonic()
            if left <= 0 or self._interrupted.wait(min(left, _SQLITE_LOOK_SECONDS)):
                return False

    def _data_version(self) -> Any:
        connection = connections[settings.DATABASE]
        connection.ensure_connection()
        # Without Django's cursor, because this runs many times a second.
        raw: Any = connection.connection
        with connection.wrap_database_errors:
            # With the connection's id, because each connection counts from its own start.
            return id(raw), raw.execute("PRAGMA data_version").fetchone()[0]


class PostgreSQLListener(Listener):
    """Listens on a channel that the tables' triggers notify.

    Behind a transaction-pooling proxy no notification arrives; then the process only polls.
    """

    can_hear = True
    hears_executions = True

    def __init__(self, channel: Channel, queues: Sequence[str]) -> None:
        super().__init__(channel, queues)
        self._listening: Any = None
        self._read_end, self._write_end = os.pipe()

    def wait(self, timeout: float) -> bool:
        connection = connections[settings.DATABASE]
        connection.ensure_connection()
        raw: Any = connection.connection
        if not hasattr(raw, "pgconn"):
            # An older driver: the process only polls.
            return super().wait(timeout)
        if raw is not self._listening:
            with connection.cursor() as cursor:
                cursor.execute(f"LISTEN {self._channel}")
            self._listening = raw
            # Something may have changed before the LISTEN.
            return True
        with connection.wrap_database_errors:
            if self._heard(raw):
                return True
            # A notification that arrives in between is in the socket, so select sees it.
            ready, _, _ = select.select([raw.fileno(), self._read_end], [], [], timeout)
            return raw.fileno() in ready and self._heard(raw)

    def interrupt(self) -> None:
        super().interrupt()
        os.write(self._write_end, b".")

    def close(self) -> None:
        os.close(self._read_end)
        os.close(self._write_end)

    def _heard(self, raw: Any) -> bool:
        queues = {notification.payload for notification in raw.notifies(timeout=0)}
        return bool(queues & self._queues if self._queues else queues)


_LISTENERS: dict[str, type[Listener]] = {
    "postgresql": PostgreSQLListener,
    "sqlite": SQLiteListener,
}


def make_listener(channel: Channel, queues: Sequence[str]) -> Listener:
    """Return a listener of the jobu database's kind."""
    return _LISTENERS.get(connections[settings.DATABASE].vendor, Listener)(channel, queues)
