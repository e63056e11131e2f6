"""Hear of changes before the next poll. Polling makes a process correct, wake-ups make it quick."""

from __future__ import annotations

import os
import select
import threading
import time
from contextlib import closing
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from django.db import connections

from jobu.conf import settings
from jobu.dialects.postgresql_schema import CHANNEL, CRON_CHANNEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.backends.base.base import BaseDatabaseWrapper

_LOOK_SECONDS = 0.03
_SQLITE_LOOK_SECONDS = 0.015


class Channel(StrEnum):
    """What a process wants to hear of."""

    EXECUTIONS = CHANNEL
    CRON_JOBS = CRON_CHANNEL


class Listener:
    """Hears nothing: for databases that do not announce changes."""

    hears_executions = False
    """Whether it hears of new executions only; otherwise it hears of any change."""

    def __init__(self, channel: Channel, queues: Sequence[str], table: str) -> None:
        self._channel = channel
        self._queues = frozenset(queues)
        self._table = table
        self._interrupted = threading.Event()

    @property
    def can_hear(self) -> bool:
        return False

    def wait(self, timeout: float) -> bool:
        """Return True as soon as something may have changed, False after `timeout` seconds."""
        self._interrupted.wait(timeout)
        return False

    def interrupt(self) -> None:
        """End the current `wait` and all later ones at once; called from another thread."""
        self._interrupted.set()

    def close(self) -> None:
        """Free what `wait` used."""


class LookingListener(Listener):
    """Asks again and again for something that changes when others commit."""

    look_seconds = _LOOK_SECONDS

    def __init__(self, channel: Channel, queues: Sequence[str], table: str) -> None:
        super().__init__(channel, queues, table)
        self._seen: Any = None

    @property
    def can_hear(self) -> bool:
        return True

    def wait(self, timeout: float) -> bool:
        end = time.monotonic() + timeout
        while not self._interrupted.is_set():
            found = self.look()
            if found != self._seen:
                self._seen = found
                return True
            left = end - time.monotonic()
            if left <= 0:
                break
            # Not by waiting for the event, which takes several times the processor time.
            time.sleep(min(left, self.look_seconds))
        return False

    def look(self) -> Any:
        raise NotImplementedError


class SQLiteListener(LookingListener):
    """Watches `PRAGMA data_version`, which changes when another connection commits."""

    look_seconds = _SQLITE_LOOK_SECONDS

    def look(self) -> Any:
        connection = connections[settings.DATABASE]
        connection.ensure_connection()
        # Without Django's cursor, because this runs many times a second.
        raw: Any = connection.connection
        with connection.wrap_database_errors:
            # With the connection's id, because each connection counts from its own start.
            return id(raw), raw.execute("PRAGMA data_version").fetchone()[0]


class NewestListener(LookingListener):
    """Watches the highest id of the executions, by the primary key.

    What was inserted earlier and committed later is found by the next poll. Nothing tells of cron
    jobs that were edited; they, too, wait for the next poll.
    """

    hears_executions = True

    @property
    def can_hear(self) -> bool:
        return self._channel is Channel.EXECUTIONS

    def wait(self, timeout: float) -> bool:
        if self._channel is Channel.EXECUTIONS:
            return super().wait(timeout)
        return Listener.wait(self, timeout)

    def look(self) -> Any:
        connection = connections[settings.DATABASE]
        connection.ensure_connection()
        # The driver's cursor, because this runs many times a second.
        raw: Any = connection.connection
        with connection.wrap_database_errors, closing(raw.cursor()) as cursor:
            cursor.execute(f"SELECT MAX(id) FROM {self._table}")  # noqa: S608 - our name
            return cursor.fetchone()[0]


class PostgreSQLListener(NewestListener):
    """Listens on a channel that the tables' triggers notify.

    Where no notification arrives, it watches the highest id instead: behind a proxy that shares
    sessions, and with `JOBU_NOTIFY = False`.
    """

    def __init__(self, channel: Channel, queues: Sequence[str], table: str) -> None:
        super().__init__(channel, queues, table)
        self._listening: Any = None
        self._is_told = False
        self._read_end, self._write_end = os.pipe()

    @property
    def can_hear(self) -> bool:
        return self._is_told or super().can_hear

    def wait(self, timeout: float) -> bool:
        connection = connections[settings.DATABASE]
        connection.ensure_connection()
        raw: Any = connection.connection
        if raw is not self._listening:
            self._is_told = self._listen(connection)
            self._listening = raw
            # Something may have changed before the LISTEN.
            return True
        if not self._is_told:
            return super().wait(timeout)
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

    def _listen(self, connection: BaseDatabaseWrapper) -> bool:
        """Listen; tell whether notifications will arrive."""
        raw: Any = connection.connection
        # An older driver cannot be asked for notifications.
        if not settings.NOTIFY or not hasattr(raw, "pgconn"):
            return False
        with connection.cursor() as cursor:
            cursor.execute(f"LISTEN {self._channel}")
            # A proxy that shares sessions makes up the pids that it tells its clients.
            cursor.execute("SELECT pg_backend_pid() = %s", [raw.info.backend_pid])
            return bool(cursor.fetchone()[0])

    def _heard(self, raw: Any) -> bool:
        queues = {notification.payload for notification in raw.notifies(timeout=0)}
        return bool(queues & self._queues if self._queues else queues)


_LISTENERS: dict[str, type[Listener]] = {
    "mysql": NewestListener,
    "postgresql": PostgreSQLListener,
    "sqlite": SQLiteListener,
}


def make_listener(channel: Channel, queues: Sequence[str], table: str) -> Listener:
    """Return a listener of the jobu database's kind; the executions are in the table."""
    kind = _LISTENERS.get(connections[settings.DATABASE].vendor, Listener)
    return kind(channel, queues, table)
