"""SIGTERM and SIGINT: the first signal stops a process gracefully, the second one at once."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, NoReturn, Self

from jobu import logs
from jobu.conf import SUPERVISOR_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType

    from jobu.processes.polling import PollingProcess

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_LOOK_SECONDS = 0.2
_EXIT_SECONDS = 3.0


class ShutdownSignals:
    """Catches the signals while the block runs; `received` tells whether one has come.

    The handler only sets a flag. It runs between any two bytecodes of the main thread, where to
    take a lock could deadlock.
    """

    def __init__(self, *, at_second: Callable[[], None] | None = None) -> None:
        self.received = False
        self._at_second = at_second

    def __enter__(self) -> Self:
        self._previous: dict[int, Any] = {n: signal.signal(n, self._receive) for n in _SIGNALS}
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        for number, previous in self._previous.items():
            signal.signal(number, previous)

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        if self.received and self._at_second is not None:
            self._at_second()
            os.write(2, b"jobu: second signal, exits at once\n")
            os._exit(128 + number)
        self.received = True


def run_until_signal(process: PollingProcess) -> int:
    """Run the process until it ends or a signal comes; return the exit code.

    After the signal it has limited time to end: a database that does not answer must not keep it.

    Under a supervisor a second signal means nothing: the supervisor passes its signal on, and a
    service manager may send the same signal to each process of the group. A supervised process
    also stops when its supervisor is gone.
    """
    supervisor_pid = _take_supervisor_pid()
    at_second = None if supervisor_pid else _nothing_more
    with ShutdownSignals(at_second=at_second) as signals:
        process.start()
        end = float("inf")
        while not process.join(_LOOK_SECONDS):
            if time.monotonic() > end:
                logs.did_not_stop(
                    process.kind, process.heartbeat.process_id, process.shutdown_seconds
                )
                return 1
            if not process.is_stopping and (signals.received or _is_orphan_of(supervisor_pid)):
                process.request_stop()
            if process.is_stopping:
                end = min(end, time.monotonic() + process.shutdown_seconds)
        return process.exit_code


def end_with_supervisor() -> None:
    """End this process when its supervisor is gone; for those without `run_until_signal`."""
    supervisor_pid = _take_supervisor_pid()

    def watch() -> None:
        while not _is_orphan_of(supervisor_pid):
            time.sleep(_LOOK_SECONDS)
        os.kill(os.getpid(), signal.SIGTERM)

    if supervisor_pid is not None:
        threading.Thread(target=watch, name="supervisor watch", daemon=True).start()


def exit_soon(code: int) -> NoReturn:
    """Exit soon, even if Python would wait for the thread of a handler that never ended."""
    last_resort = threading.Timer(_EXIT_SECONDS, os._exit, [code])
    last_resort.daemon = True
    last_resort.start()
    sys.exit(code)


def _take_supervisor_pid() -> int | None:
    """Return our supervisor's id, and remove it: the processes that we start have no supervisor."""
    pid = os.environ.pop(SUPERVISOR_VARIABLE, "")
    return int(pid) if pid.isdigit() else None


def _is_orphan_of(supervisor_pid: int | None) -> bool:
    return supervisor_pid is not None and os.getppid() != supervisor_pid


def _nothing_more() -> None:
    """A process without children has nobody to end with it."""
