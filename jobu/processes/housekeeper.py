"""The thread that beats, does the recurring chores and listens for wake-ups in between."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from django.db import Error, connections

from jobu import logs
from jobu.alerts.standing_in import StandIn
from jobu.alerts.telling import look_interval, tell_news
from jobu.conf import settings
from jobu.dialects import dialect_of
from jobu.models.process import ProcessKind
from jobu.processes.outage import Outage
from jobu.queue.prune import prune
from jobu.queue.rescue import rescue
from jobu.reading import summarize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from django.db.backends.base.base import BaseDatabaseWrapper

    from jobu.dialects.wakeups import Listener
    from jobu.processes.connection_watch import ConnectionWatch
    from jobu.processes.polling import PollingProcess

_PRUNE_INTERVAL_SECONDS = 60
_PRUNE_BUDGET_SECONDS = 1.0
_SUMMARIZE_INTERVAL_SECONDS = (40, 60)
_SUMMARIZE_BUDGET_SECONDS = 2.0


@dataclass(slots=True)
class Chore:
    """Something to do every `interval` seconds."""

    interval: float
    do: Callable[[], object]
    due: float = 0.0


def all_chores(process: PollingProcess) -> list[Chore]:
    """Return the chores that every process has, and those of its own."""
    return [
        Chore(settings.HEARTBEAT_INTERVAL_SECONDS, partial(_beat_and_rescue, process)),
        *process.chores(),
        Chore(_PRUNE_INTERVAL_SECONDS, partial(_prune, process)),
        Chore(
            # At a different pace in each process: one does the work, and the others find it done.
            random.uniform(*_SUMMARIZE_INTERVAL_SECONDS),  # noqa: S311
            partial(summarize, _SUMMARIZE_BUDGET_SECONDS),
        ),
        *_alert_chores(process),
    ]


def _alert_chores(process: PollingProcess) -> list[Chore]:
    """Return none where nobody is to be told: then nobody looks, either."""
    if not settings.ALERTS:
        return []
    chores = [Chore(look_interval(), partial(_safely, tell_news))]
    if process.kind != ProcessKind.WORKER:
        stand_in = StandIn(process.heartbeat.process_id)
        chores.append(Chore(look_interval(), partial(_safely, stand_in.send_if_needed)))
    return chores


def _safely(look: Callable[[], object]) -> None:
    """Look for alerts; a failure, such as a missing migration, must not disturb the other chores.

    A lost connection is not for us to hide: it is replaced by whoever catches the error.
    """
    try:
        look()
    except Exception as error:
        connection = connections[settings.DATABASE]
        if isinstance(error, Error) and not connection.is_usable():
            raise
        logs.unexpected("Looking for alerts", error)


def _beat_and_rescue(process: PollingProcess) -> None:
    heartbeat = process.heartbeat
    heartbeat.beat()
    if heartbeat.may_judge_others() and rescue(heartbeat.process_id):
        process.wake()


def _prune(process: PollingProcess) -> None:
    days = settings.RETENTION_DAYS
    if days is None:
        return
    end = time.monotonic() + _PRUNE_BUDGET_SECONDS
    pruned = 0
    for count in prune(days):
        pruned += count
        if time.monotonic() > end or process.is_stopping:
            break
    if pruned:
        logs.pruned(pruned)


class Housekeeper(threading.Thread):
    """Has a connection of its own, so that it goes on while the loop or a job is busy."""

    def __init__(
        self,
        name: str,
        chores: Sequence[Chore],
        listener: Listener,
        on_wake: Callable[[], None],
        watch: ConnectionWatch,
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
        except BaseException as error:  # noqa: BLE001 - the heartbeat must not stop
            logs.unexpected(self.name, error)
            self._stopping.wait(1)

    def _do_due_chores(self) -> None:
        for chore in self._chores:
            if time.monotonic() >= chore.due and not self._stopping.is_set():
                chore.do()
                chore.due = time.monotonic() + chore.interval

    def _seconds_to_next_chore(self) -> float:
        return max(0.0, min(chore.due for chore in self._chores) - time.monotonic())
