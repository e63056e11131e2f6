"""Hear of new executions before the next poll. Polling makes it right, this makes it quick."""

from __future__ import annotations

import os
import select
import threading
import time
from typing import TYPE_CHECKING, Any

from django.db import connections

from jobu.conf import settings

if TYPE_CHECKING:
    from collections.abc import Sequence

_SQLITE_LOOK_SECONDS = 0.045


class Listener:
    """Hears nothing: for databases that cannot call."""

    can_hear = False
    hears_executions = False
    """Whether what is heard is a new execution, rather than just any change."""

    def __init__(self, channel: str, queues: Sequence[str]) -> None:
        self._channel = channel
        self._queues = frozenset(queues)
        self._interrupted = threading.Event()

    def wait(self, timeout: float) -> bool:
        """Return True as soon as there may be something new, False after `timeout` seconds."""
        self._interrupted.wait(timeout)
        return False

    def interrupt(self) -> None:
        """Let `wait` return, now and ever after; called from another thread."""
        self._interrupted.set()

    def close(self) -> None:
        """Let go of what `wait` used."""


class SQLiteListener(Listener):
    """Watches `PRAGMA data_version`, which changes when another connection commits."""

    can_hear = True

    def __init__(self, channel: str, queues: Sequence[str]) -> None:
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
        # Many times a second, so not through Django's cursor.
        raw: Any = connection.connection
        with connection.wrap_database_errors:
            # A new connection counts from its own beginning.
            return id(raw), raw.execute("PRAGMA data_version").fetchone()[0]


class PostgreSQLListener(Listener):
    """Listens on a channel that the tables' triggers notify.

    Behind a transaction-pooling proxy notifications do not arrive; polling is all there is then.
    """

    can_hear = True
    hears_executions = True

    def __init__(self, channel: str, queues: Sequence[str]) -> None:
        super().__init__(channel, queues)
        self._listening: Any = None
        self._read_end, self._write_end = os.pipe()

    def wait(self, timeout: float) -> bool:
        connection = connections[settings.DATABASE]
        connection.ensure_connection()
        raw: Any = connection.connection
        if not hasattr(raw, "pgconn"):
            # An older driver: polling has to do.
            return super().wait(timeout)
        if raw is not self._listening:
            with connection.cursor() as cursor:
                cursor.execute(f"LISTEN {self._channel}")
            self._listening = raw
            # What came before the LISTEN was not heard.
            return True
        with connection.wrap_database_errors:
            if self._heard(raw):
                return True
            # What arrives in between is in the socket by now, so select sees it.
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


def make_listener(channel: str, queues: Sequence[str]) -> Listener:
    return _LISTENERS.get(connections[settings.DATABASE].vendor, Listener)(channel, queues)
