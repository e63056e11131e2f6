"""Start `manage.py runworker` as real processes and watch what they do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tests.waiting import wait_until

ENGINE = "tests.project.engine_settings"
ENGINE_COMMANDS = (
    "runworker",
    "jobu_worker",
    "rundispatcher",
    "jobu_dispatcher",
    "runqueuedispatcher",
    "jobu_queuedispatcher",
)
MANAGE = Path(__file__).parent / "project" / "manage.py"


class WorkerProcess:
    """One started command, its log in a file."""

    def __init__(
        self,
        arguments: Sequence[str],
        log: Path,
        environment: dict[str, str],
        through: Sequence[str],
    ) -> None:
        self._log = log
        settings = {"DJANGO_SETTINGS_MODULE": ENGINE} if arguments[0] in ENGINE_COMMANDS else {}
        with log.open("w") as stream:
            self.popen = subprocess.Popen(
                [*through, sys.executable, str(MANAGE), *arguments],
                stdout=stream,
                stderr=subprocess.STDOUT,
                env={**os.environ, "JOBU_TEST_PROCESS": "1", **settings, **environment},
                start_new_session=True,
            )

    @property
    def log(self) -> str:
        return self._log.read_text()

    def send(self, number: signal.Signals) -> None:
        self.popen.send_signal(number)

    def send_to_group(self, number: signal.Signals) -> None:
        """Send the signal to the process and its children, as a terminal does."""
        os.killpg(self.popen.pid, number)

    def kill(self) -> None:
        self.popen.kill()
        self.popen.wait()

    def wait(self, timeout: float = 30) -> int:
        return self.popen.wait(timeout)

    def wait_for_log(self, text: str) -> None:
        wait_until(lambda: text in self.log, f"{text!r} in the worker's log", lambda: self.log)


class WorkerProcesses:
    """The worker processes of one test, started `through` another command if it is given."""

    def __init__(self, folder: str, through: Sequence[str] = ()) -> None:
        self._folder = Path(folder)
        self._through = through
        self._all: list[WorkerProcess] = []

    def start(self, *options: str, **environment: str) -> WorkerProcess:
        """Start `runworker` with these options; environment variables win over the settings."""
        return self.start_command("runworker", *options, **environment)

    def start_command(self, *arguments: str, **environment: str) -> WorkerProcess:
        log = self._folder / f"worker{len(self._all)}.log"
        worker = WorkerProcess(arguments, log, environment, self._through)
        self._all.append(worker)
        return worker

    def kill_all(self) -> None:
        for worker in self._all:
            # Those of a supervisor have groups of their own, and would claim what the next test
            # enqueues until they notice that they are orphans.
            descendants = descendants_of(worker.popen.pid)
            with suppress(ProcessLookupError):
                worker.send_to_group(signal.SIGKILL)
            worker.wait()
            for pid in descendants:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            wait_until(lambda pids=descendants: not any(map(is_there, pids)), "their end")  # type: ignore[misc]

    def logs(self) -> str:
        return "\n".join(worker.log for worker in self._all)


def descendants_of(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [each for child in map(int, children) for each in (child, *descendants_of(child))]


def is_there(pid: int) -> bool:
    """Tell whether the process has not ended; a zombie has."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
