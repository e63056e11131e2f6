"""Watch a process's own connections: a statement that hangs must not stop its thread."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.db import connections

from jobu import logs
from jobu.conf import settings
from jobu.dialects import dialect_of, statement_bound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from django.db.backends.base.base import BaseDatabaseWrapper

_TICK_SECONDS = 1.0


class WatchedConnection:
    """The connection of one thread, and when its last statement began."""

    def __init__(self, who: str, connection: BaseDatabaseWrapper) -> None:
        self.who = who
        self.connection = connection
        self._began = time.monotonic()

    def seconds(self) -> float:
        """Return how long ago the last statement began; it may have ended since."""
        return time.monotonic() - self._began

    def note(self, execute: Callable[..., Any], *statement: Any) -> Any:
        self._began = time.monotonic()
        return execute(*statement)


class ConnectionWatch(threading.Thread):
    """Drops a connection from outside when its server has not answered for too long.

    The server and TCP have shorter bounds of their own. This one is needed when a proxy, or a
    server that stands still, keeps the connection alive. Its thread uses no database itself.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self._watched: list[WatchedConnection] = []
        self._stopping = threading.Event()

    @contextmanager
    def over(self, who: str) -> Iterator[WatchedConnection]:
        """Watch the calling thread's connection while the block runs."""
        connection = connections[settings.DATABASE]
        watched = WatchedConnection(who, connection)
        with connection.execute_wrapper(watched.note):
            self._watched.append(watched)
            try:
                yield watched
            finally:
                self._watched.remove(watched)

    def stop(self) -> None:
        self._stopping.set()

    def run(self) -> None:
        while not self._stopping.wait(_TICK_SECONDS):
            for watched in list(self._watched):
                # Django reports no commit and no rollback; they count with the statement before.
                if watched.seconds() > statement_bound() + _TICK_SECONDS:
                    self._drop(watched)

    def _drop(self, watched: WatchedConnection) -> None:
        try:
            if dialect_of(watched.connection).drop_if_it_waits(watched.connection):
                logs.statement_hangs(watched.who, watched.seconds())
        except Exception as error:  # noqa: BLE001 - the watch must not stop
            logs.unexpected(self.name, error)
