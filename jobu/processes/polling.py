"""The loop that worker and dispatchers share."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, ClassVar, Self

from django.db import Error, connections

from jobu import logs
from jobu.conf import settings
from jobu.dialects import dialect_of, statement_bound
from jobu.dialects.wakeups import Channel, make_listener
from jobu.models import JobExecution
from jobu.processes.connection_watch import ConnectionWatch, WatchedConnection
from jobu.processes.heartbeat import Heartbeat
from jobu.processes.housekeeper import Housekeeper, all_chores
from jobu.processes.outage import Outage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from jobu.processes.housekeeper import Chore


_MAX_DEATHS = 5
_RESTART_SECONDS = 1.0


class PollingProcess:
    """Owns the only loop: `poll()` does the work and returns how long to wait for the next poll.

    `start()` runs it in a background thread, `stop()` ends it; a `with` block does both.
    """

    kind: ClassVar[str]
    channel: ClassVar[Channel] = Channel.EXECUTIONS
    """What wakes it up before its next poll."""
    shutdown_seconds = 20.0
    """How long a command waits for its end."""

    def __init__(self, *, queues: Sequence[str] = (), slots: int = 0) -> None:
        self.queues = tuple(queues)
        self.heartbeat = Heartbeat(self.kind, queues, slots)
        self.exit_code = 0
        self._wake = threading.Event()
        self._stop_requested = threading.Event()
        self._thread: threading.Thread | None = None
        self._outage = Outage(self.name)
        self._watched: WatchedConnection | None = None
        self._listener = make_listener(self.channel, self.queues, JobExecution._meta.db_table)

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.heartbeat.process_id.hex[:8]}"

    def poll(self) -> float:
        """Do the work that is there now; return the seconds until the next poll."""
        raise NotImplementedError

    def begin(self) -> None:
        """Prepare for the first poll."""

    def finish(self) -> None:
        """End what still runs, after the last poll."""

    def doubt(self) -> None:
        """Trust nothing that the last poll left behind: the loop died in it."""

    def chores(self) -> list[Chore]:
        """Return the chores of this kind of process; beating, rescuing and pruning are common."""
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
        """Ask it to stop, and return at once."""
        self._stop_requested.set()
        self.wake()

    def stop(self) -> None:
        """Start nothing new, finish what runs, and wait for the end.

        May be called twice, and changes nothing before `start()`.
        """
        if self._thread is not None:
            self.request_stop()
            self.join()

    def join(self, timeout: float | None = None) -> bool:
        """Wait for the end; return False if it does not come within `timeout` seconds."""
        if self._thread is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def wake(self) -> None:
        """Poll at once."""
        self._wake.set()

    @property
    def is_alive(self) -> bool:
        """Whether it was started and has not ended."""
        return self._thread is not None and self._thread.is_alive()

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
        watch = ConnectionWatch(f"{self.name}-watch")
        watch.start()
        with watch.over(self.name) as self._watched:
            self._work(watch)

    def _work(self, watch: ConnectionWatch) -> None:
        housekeeper = Housekeeper(
            f"{self.name}-housekeeper", all_chores(self), self._listener, self.wake, watch
        )
        try:
            if not self._register():
                return
            housekeeper.start()
            self.begin()
            self._poll_until_stopped()
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
            # The heartbeat always ends with the loop: otherwise nobody would rescue what it holds.
            housekeeper.stop()
            watch.stop()
            connections.close_all()

    def _poll_until_stopped(self) -> None:
        """Poll, and go on if the loop dies of more than an error: of a SystemExit, for one.

        If it dies again and again, the process ends, so that others take what it holds.
        """
        deaths = 0
        while not self.is_stopping:
            try:
                self._wake.clear()
                delay = self.poll_safely()
                deaths = 0
            except BaseException as error:
                deaths += 1
                if deaths > _MAX_DEATHS:
                    raise
                delay = _RESTART_SECONDS * deaths
                logs.loop_restarted(self.name, error, delay)
                self.doubt()
            self._wake.wait(delay)

    def poll_safely(self) -> float:
        """Poll; log whatever fails, and return how long to wait before the next poll."""
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

    def _register(self) -> bool:
        """Register before anything else; False if it is to stop before the database is up."""
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
            if advice := dialect_of(connection).advice(connection, JobExecution._meta.db_table):
                logs.advice(advice)
            return True
        return False

    def _deregister(self) -> None:
        try:
            self.heartbeat.deregister()
        except Error as error:
            # Others delete the row when it has not beaten for a lease.
            self._outage.failed(error)

    def _prepare_connection(self) -> None:
        connection = connections[settings.DATABASE]
        if self._watched is not None and self._watched.seconds() > 2 * statement_bound():
            # A server may end a session that has been silent for so long.
            connection.close()
        if connection.connection is None:
            dialect_of(connection).prepare_control_connection(connection)
