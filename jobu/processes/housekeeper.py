"""The thread that beats, does the recurring chores and listens for wake-ups in between."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import Error, connections

from jobu import logs
from jobu.conf import settings
from jobu.dialects import dialect_of
from jobu.processes.outage import Outage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from django.db.backends.base.base import BaseDatabaseWrapper

    from jobu.dialects.wakeups import Listener
    from jobu.processes.watch import Watch


@dataclass(slots=True)
class Chore:
    """Something to do every `interval` seconds."""

    interval: float
    do: Callable[[], object]
    due: float = 0.0


class Housekeeper(threading.Thread):
    """Has a connection of its own, so that it goes on while the loop or a job is busy."""

    def __init__(
        self,
        name: str,
        chores: Sequence[Chore],
        listener: Listener,
        on_wake: Callable[[], None],
        watch: Watch,
    ) -> None:
        super().__init__(name=name, daemon=True)
        self._chores = chores
        self._listener = listener
        self._on_wake = on_wake
        self._watch = watch
        self._outage = Outage(name)
        self._stopping = threading.Event()

    def stop(self) -> None:
        """End the thread, if it runs, after the chore that it has begun."""
        if self._stopping.is_set():
            return
        self._stopping.set()
        self._listener.interrupt()
        if self.is_alive():
            self.join()
        self._listener.close()

    def run(self) -> None:
        connection = connections[settings.DATABASE]
        try:
            with self._watch.over(self.name):
                while not self._stopping.is_set():
                    self._keep_house(connection)
        finally:
            connection.close()

    def _keep_house(self, connection: BaseDatabaseWrapper) -> None:
        try:
            if connection.connection is None:
                dialect_of(connection).prepare_control_connection(connection)
            self._do_due_chores()
            if self._listener.wait(self._seconds_to_next_chore()):
                self._on_wake()
            self._outage.over()
        except Error as error:
            self._stopping.wait(self._outage.failed(error))
        except Exception as error:  # noqa: BLE001 - the heartbeat must not stop
            logs.unexpected(self.name, error)
            self._stopping.wait(1)

    def _do_due_chores(self) -> None:
        for chore in self._chores:
            if time.monotonic() >= chore.due and not self._stopping.is_set():
                chore.do()
                chore.due = time.monotonic() + chore.interval

    def _seconds_to_next_chore(self) -> float:
        return max(0.0, min(chore.due for chore in self._chores) - time.monotonic())
