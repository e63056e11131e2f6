"""The loop that worker and dispatchers share."""

from __future__ import annotations

import random
import threading
import time
from typing import TYPE_CHECKING, ClassVar, Self

from django.db import Error, connections

from jobu import logs
from jobu.conf import settings
from jobu.dialects import dialect_of, statement_bound
from jobu.dialects.postgresql_schema import CHANNEL
from jobu.processes.heartbeat import Heartbeat
from jobu.processes.housekeeper import Chore, Housekeeper
from jobu.processes.outage import Outage
from jobu.processes.wakeups import make_listener
from jobu.processes.watch import Watch, Watched
from jobu.queue.prune import prune
from jobu.queue.rescue import rescue
from jobu.reading import summarize

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

_PRUNE_INTERVAL_SECONDS = 60
_PRUNE_BUDGET_SECONDS = 1.0
_SUMMARIZE_INTERVAL_SECONDS = (40, 60)
_SUMMARIZE_BUDGET_SECONDS = 2.0


class PollingProcess:
    """Owns the only loop: `poll()` does the work and returns how long to wait for the next one.

    `start()` runs it in a background thread, `stop()` ends it; a context manager does both.
    """

    kind: ClassVar[str]
    channel: ClassVar[str] = CHANNEL
    shutdown_seconds = 20.0
    """How long its end may take before a command gives up waiting for it."""

    def __init__(self, *, queues: Sequence[str] = (), slots: int = 0) -> None:
        self.queues = tuple(queues)
        self.heartbeat = Heartbeat(self.kind, queues, slots)
        self.exit_code = 0
        self._wake = threading.Event()
        self._stop_requested = threading.Event()
        self._thread: threading.Thread | None = None
        self._outage = Outage(self.name)
        self._watched: Watched | None = None
        self._listener = make_listener(self.channel, self.queues)

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.heartbeat.process_id.hex[:8]}"

    def poll(self) -> float:
        """Do what is to be done now; return the seconds until the next look."""
        raise NotImplementedError

    def begin(self) -> None:
        """Get ready, before the first poll."""

    def finish(self) -> None:
        """Bring what runs to an end, after the last poll."""

    def chores(self) -> list[Chore]:
        """Return what the housekeeper does besides beating, rescuing and pruning."""
        return []

    def describe(self) -> str:
        return ""

    def start(self) -> None:
        """Work in a background thread until `stop()`."""
        if self._thread is not None:
            raise RuntimeError(f"This {self.kind} was started before; make a new one.")
        self._thread = threading.Thread(target=self._main, name=self.name, daemon=True)
        self._thread.start()

    def request_stop(self) -> None:
        """Ask to stop, without waiting for it."""
        self._stop_requested.set()
        self.wake()

    def stop(self) -> None:
        """Take nothing new, finish what runs, wait for it. May be called twice."""
        self.request_stop()
        self.join()

    def join(self, timeout: float | None = None) -> bool:
        """Wait for the end; False if it did not come within `timeout` seconds."""
        if self._thread is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def wake(self) -> None:
        """Let the next poll come at once."""
        self._wake.set()

    @property
    def is_stopping(self) -> bool:
        return self._stop_requested.is_set()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def _main(self) -> None:
        watch = Watch(f"{self.name}-watch")
        watch.start()
        with watch.over(self.name) as self._watched:
            self._work(watch)

    def _work(self, watch: Watch) -> None:
        housekeeper = Housekeeper(
            f"{self.name}-housekeeper", self._all_chores(), self._listener, self.wake, watch
        )
        try:
            self._register()
            housekeeper.start()
            self.begin()
            while not self.is_stopping:
                self._wake.clear()
                self._wake.wait(self.attempt_poll())
            logs.process_stopping(self.kind, self.heartbeat.process_id)
            self.heartbeat.stopping = True
            self.finish()
            # A beat after the deregistration would register it again.
            housekeeper.stop()
            self._deregister()
            logs.process_stopped(self.kind, self.heartbeat.process_id)
        except BaseException as error:
            self.exit_code = 1
            logs.crashed(self.name, error)
            raise
        finally:
            # Whatever happened, the heartbeat ends with the loop, or nobody would be rescued.
            housekeeper.stop()
            watch.stop()
            connections.close_all()

    def attempt_poll(self) -> float:
        """Poll; whatever fails is logged and tried again a little later."""
        try:
            self._prepare_connection()
            delay = self.poll()
        except Error as error:
            return self._outage.failed(error)
        except Exception as error:  # noqa: BLE001 - one bad poll must not end the process
            logs.unexpected(self.name, error)
            return 1.0
        self._outage.over()
        return delay

    def _register(self) -> None:
        """Register before anything else; wait for a database that is not up yet."""
        while not self.is_stopping:
            try:
                self._prepare_connection()
                self.heartbeat.register()
            except Error as error:
                self._stop_requested.wait(self._outage.failed(error))
                continue
            self._outage.over()
            logs.process_started(self.kind, self.heartbeat.process_id, self.describe())
            connection = connections[settings.DATABASE]
            if advice := dialect_of(connection).advice(connection):
                logs.advice(advice)
            return

    def _deregister(self) -> None:
        try:
            self.heartbeat.deregister()
        except Error as error:
            # The row goes when others find that it does not beat any more.
            self._outage.failed(error)

    def _prepare_connection(self) -> None:
        connection = connections[settings.DATABASE]
        if self._watched is not None and self._watched.seconds() > 2 * statement_bound():
            # A server may end a session that is silent for longer.
            connection.close()
        if connection.connection is None:
            dialect_of(connection).prepare_control_connection(connection)

    def _all_chores(self) -> list[Chore]:
        beat = settings.HEARTBEAT_INTERVAL_SECONDS
        return [
            Chore(beat, self._beat_and_rescue),
            *self.chores(),
            Chore(_PRUNE_INTERVAL_SECONDS, self._prune),
            # Each process at its own pace, so that one of them has done it when the next comes.
            Chore(random.uniform(*_SUMMARIZE_INTERVAL_SECONDS), self._summarize),  # noqa: S311
        ]

    def _beat_and_rescue(self) -> None:
        self.heartbeat.beat()
        if self.heartbeat.may_judge_others() and rescue(self.heartbeat.process_id):
            self.wake()

    def _prune(self) -> None:
        days = settings.RETENTION_DAYS
        if days is None:
            return
        end = time.monotonic() + _PRUNE_BUDGET_SECONDS
        pruned = 0
        for count in prune(days):
            pruned += count
            if time.monotonic() > end or self.is_stopping:
                break
        if pruned:
            logs.pruned(pruned)

    def _summarize(self) -> None:
        summarize(_SUMMARIZE_BUDGET_SECONDS)
