"""Start a subject's workers as real processes, watch what they have run, and end them."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ROOT = Path(__file__).parent.parent
_LOG_TAIL = 2_000
_LOOK_SECONDS = 0.005


class MeasureError(Exception):
    """A figure that could not be had; the message says why."""


@dataclass(frozen=True)
class Way:
    """One way to run a subject's workers: a name for the table, and a command for each process."""

    name: str
    commands: Sequence[Sequence[str]]
    environment: dict[str, str] | None = None


class Workers:
    """The processes of one way, and the tally of what they have run."""

    def __init__(self, processes: list[subprocess.Popen[bytes]], folder: Path) -> None:
        self.processes = processes
        self.tally = tally.Tally(folder / "tally")
        self._log = folder / "log"

    def wait_until(
        self, condition: Callable[[], bool], what: str, *, patience: float = 60, look: float = 0
    ) -> None:
        """Wait for `condition`; give up once nothing has run for `patience` seconds."""
        seen, since = -1, time.monotonic()
        while not condition():
            now = time.monotonic()
            if any(process.poll() is not None for process in self.processes):
                raise MeasureError(f"a worker ended before {what}: {self._log_tail()}")
            count = self.tally.count()
            if count != seen:
                seen, since = count, now
            elif now - since > patience:
                raise MeasureError(f"{patience} s in vain for {what}: {self._log_tail()}")
            time.sleep(look or _LOOK_SECONDS)

    def cpu_seconds(self) -> float:
        """Return what the processes themselves have used of the processors so far."""
        ticks = os.sysconf("SC_CLK_TCK")
        total = 0
        for process in self.processes:
            fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
        return total / ticks

    def kill(self) -> None:
        """Kill them with all their descendants, in whatever session those are."""
        children = _children()
        family = [process.pid for process in self.processes]
        for pid in family:
            family += children.get(pid, [])
        ends = []
        for pid in family:
            with suppress(ProcessLookupError):
                ends.append(os.pidfd_open(pid))
                os.kill(pid, signal.SIGKILL)
        # Until it has ended, a killed worker that waits at Redis may still be handed a job.
        for end in ends:
            select.select([end], [], [])
            os.close(end)
        for process in self.processes:
            process.wait()

    def _log_tail(self) -> str:
        return self._log.read_text(errors="replace")[-_LOG_TAIL:].strip() or "its log is empty"


def _children() -> dict[int, list[int]]:
    """Return the ids of all processes by that of their parent."""
    found: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            found.setdefault(parent, []).append(int(stat.parent.name))
    return found


@contextmanager
def started(way: Way) -> Iterator[Workers]:
    """Run the workers of `way`; they are killed at the end, which they all must stand."""
    # What was filled in or dropped before them is not theirs to write.
    os.sync()
    with tempfile.TemporaryDirectory(prefix="jobu-bench-") as name:
        folder = Path(name)
        workers = Workers([], folder)
        environment = {
            **os.environ,
            **(way.environment or {}),
            tally.VARIABLE: str(workers.tally.path),
            "PYTHONPATH": str(ROOT),
        }
        with (folder / "log").open("wb") as log:
            try:
                for command in way.commands:
                    workers.processes.append(
                        subprocess.Popen(
                            command,
                            stdin=subprocess.DEVNULL,
                            stdout=log,
                            stderr=log,
                            cwd=folder,
                            env=environment,
                            start_new_session=True,
                        )
                    )
                yield workers
            finally:
                workers.kill()
