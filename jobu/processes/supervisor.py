"""Keep processes alive: start them, restart those that die, stop all of them together."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobu import logs
from jobu.conf import SUPERVISOR_VARIABLE
from jobu.processes.probe import Probe
from jobu.processes.shutdown import ShutdownSignals

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jobu.processes.prefixed import PrefixedOutput

_LOOK_SECONDS = 0.2
_FIRST_DELAY_SECONDS = 0.5
_MAX_DELAY_SECONDS = 30.0
_HEALTHY_AFTER_SECONDS = 60.0


@dataclass(slots=True)
class _Child:
    """One process to keep alive, and what has happened to it so far."""

    name: str
    command: Sequence[str]
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    deaths: int = 0
    start_at: float = 0.0
    is_done: bool = False
    probe: Probe | None = None
    # We have loaded the code of the first start ourselves.
    is_loadable: bool = True
    problem: str = ""

    def end_probe(self) -> None:
        if self.probe is not None:
            self.probe.end()
        self.probe = None

    def next_delay(self) -> float:
        """Return how long to wait before the next start; longer after each early death."""
        lived = time.monotonic() - self.started
        self.deaths = 0 if lived > _HEALTHY_AFTER_SECONDS else self.deaths + 1
        return min(_MAX_DELAY_SECONDS, _FIRST_DELAY_SECONDS * 2.0 ** min(self.deaths, 10))


class Supervisor:
    """Starts a process for each named command and restarts, with backoff, those that die.

    With `until_done` a process that ends with exit code 0 has done its work and is not restarted.
    The processes write to `output`, if it is given, and otherwise to our own streams. When
    `is_outdated` returns True, all of them are stopped and started again.

    `probe` are arguments with which each command only loads the code. Before a process is started
    again this is tried, so that code that cannot be loaded is logged once, not by each process at
    each start.
    """

    def __init__(
        self,
        commands: Mapping[str, Sequence[str]],
        *,
        until_done: bool = False,
        output: PrefixedOutput | None = None,
        is_outdated: Callable[[], bool] = bool,
        probe: Sequence[str] = (),
    ) -> None:
        self._children = [_Child(name, command) for name, command in commands.items()]
        self._until_done = until_done
        self._output = output
        self._is_outdated = is_outdated
        self._probe = probe

    def run(self) -> int:
        """Supervise until a signal comes or every process is done; return the exit code."""
        with ShutdownSignals(at_second=self._kill) as signals:
            while not signals.received and not all(child.is_done for child in self._children):
                if self._is_outdated():
                    self._renew()
                    continue
                for child in self._children:
                    self._tend(child)
                time.sleep(_LOOK_SECONDS)
            return self._stop()

    def _tend(self, child: _Child) -> None:
        if child.is_done:
            return
        if child.process is None:
            if time.monotonic() >= child.start_at and self._can_start(child):
                self._start(child)
            return
        code = child.process.poll()
        if code is None:
            return
        if code == 0 and self._until_done:
            child.is_done = True
            return
        delay = child.next_delay()
        logs.child_died(child.name, child.process.pid, code, delay)
        child.process = None
        child.start_at = time.monotonic() + delay
        self._begin_probe(child)

    def _can_start(self, child: _Child) -> bool:
        """Tell whether the code is known to load; log once why it does not."""
        if child.is_loadable:
            return True
        if child.probe is None:
            self._begin_probe(child)
            return False
        problem = child.probe.problem()
        if problem is None:
            return False
        child.end_probe()
        if problem and all(problem != each.problem for each in self._children):
            logs.code_fails(problem)
        child.problem, child.is_loadable = problem, not problem
        if problem:
            child.start_at = time.monotonic() + child.next_delay()
        return child.is_loadable

    def _begin_probe(self, child: _Child) -> None:
        child.end_probe()
        child.is_loadable = not self._probe
        if self._probe:
            child.started = time.monotonic()
            child.probe = Probe([*child.command, *self._probe])

    def _start(self, child: _Child) -> None:
        child.process = subprocess.Popen(  # noqa: S603 - our own command line
            child.command,
            # A session of its own: a Ctrl-C in the terminal reaches it only through us.
            start_new_session=True,
            env={**os.environ, SUPERVISOR_VARIABLE: str(os.getpid())},
            stdout=subprocess.PIPE if self._output else None,
            stderr=subprocess.STDOUT if self._output else None,
        )
        child.started = time.monotonic()
        if self._output is not None and child.process.stdout is not None:
            self._output.follow(child.name, child.process.stdout)
        logs.child_started(child.name, child.process.pid)

    def _renew(self) -> None:
        logs.children_outdated()
        for child in self._children:
            self._begin_probe(child)
        self._terminate()
        for child in self._children:
            child.process = None
            child.start_at = 0.0
            child.deaths = 0
            child.problem = ""

    def _stop(self) -> int:
        for child in self._children:
            child.end_probe()
        codes = self._terminate()
        if self._output is not None:
            self._output.close()
        # A child that died of the signal, because it did not catch it (yet), has stopped as asked.
        return max((abs(code) for code in codes if code != -signal.SIGTERM), default=0)

    def _terminate(self) -> list[int]:
        """Pass the signal on and wait; each child's own shutdown timeout bounds the wait."""
        processes = [child.process for child in self._children if child.process is not None]
        for process in processes:
            process.terminate()
        return [process.wait() for process in processes]

    def _kill(self) -> None:
        for child in self._children:
            child.end_probe()
            if child.process is not None:
                child.process.kill()
