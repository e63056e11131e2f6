"""The jobu processes of a scenario, and a producer that gives them work all the time."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from tests.chaos.history import FINAL, Figures, History
from tests.waiting import wait_until
from tests.workers import MANAGE, WorkerProcess, WorkerProcesses

OUTAGE = ("cannot use the database", "will be tried again in")
"""The errors that a process may log while it has no database: its own, and its handlers'."""
SEEN = ("cannot use", "waits for the database", "(1213,", "late result", "rescued", "claimed again")
"""What a scenario provokes; how often is said in the end."""
_ERROR = re.compile(r"^\S+ \S+ (?:ERROR|CRITICAL) .*$", re.MULTILINE)
_PATIENCE_SECONDS = 90


class Fleet:
    """Workers, dispatchers and a producer; each environment given is one worker's."""

    def __init__(
        self,
        folder: Path,
        seed: int,
        environments: Sequence[dict[str, str]],
        say: Callable[[str], None],
    ) -> None:
        self.say = say
        self._processes = WorkerProcesses(str(folder))
        self._journal = folder / "journal"
        self._seed = seed
        self._environments = [
            {
                "JOBU_TEST_RUN": "private",
                "JOBU_TEST_PROCESS": "1",
                "JOBU_LEASE_SECONDS": "5",
                **environment,
            }
            for environment in environments
        ]
        self._workers: list[WorkerProcess] = []
        self._dispatchers: list[WorkerProcess] = []

    def start(self, *, pause: float, shared: float) -> None:
        """Start everything, and wait until it works."""
        self._manage("migrate", "--verbosity", "0")
        for environment in self._environments:
            self._workers.append(
                self._processes.start("--pool-size", "4", "--max-poll-interval", "1", **environment)
            )
        for environment in self._environments[-2:]:
            options = ("rundispatcher", "--poll-interval", "0.5")
            self._dispatchers.append(self._processes.start_command(*options, **environment))
        chances = {"seed": self._seed, "pause": pause, "shared": shared}
        self._producer = self._processes.start_command(
            "produce_test_jobs",
            str(self._journal),
            *(f"--{name}={value}" for name, value in chances.items()),
            **self._environments[0],
        )
        self.goes_on()

    def work(self, seconds: float) -> None:
        """Let it go on for so long; its length is what is tried."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, 1))
            self._check_alive()

    def goes_on(self) -> None:
        """Wait until something new was enqueued, and each worker has settled something new."""
        enqueued = self._enqueued()
        settled = [self._settled_by(worker) for worker in self._workers]
        wait_until(
            lambda: (
                self._enqueued() > enqueued
                and all(
                    self._settled_by(worker) > before
                    for worker, before in zip(self._workers, settled, strict=True)
                )
            ),
            "all workers to work",
            self._processes.logs,
            timeout=_PATIENCE_SECONDS,
        )
        self._check_alive()

    def notices(self) -> None:
        """Wait until some process has trouble with its database."""
        wait_until(
            lambda: "cannot use the database" in self._processes.logs(),
            "trouble",
            self._processes.logs,
            timeout=_PATIENCE_SECONDS,
        )

    def finish(
        self,
        *,
        may_lose: bool = False,
        tolerated: Callable[[int], Sequence[str]] = lambda worker: OUTAGE,
    ) -> Figures:
        """Enqueue no more, wait until nothing is left to do, and check what it came to.

        `tolerated` names the errors that the worker of this number may have logged.
        """
        self.goes_on()
        self._producer.send(signal.SIGTERM)
        assert self._producer.wait() == 0, self._producer.log
        report = self._last_report()
        self._check_alive()
        figures = History(self._journal, report).check(may_lose=may_lose)
        logs = self._processes.logs()
        for text in SEEN:
            if times := logs.count(text):
                self.say(f"{times} times in the logs: {text}")
        self._stop()
        self._check_logs(tolerated)
        return figures

    def close(self) -> None:
        self._processes.kill_all()

    def _last_report(self) -> dict[str, Any]:
        report: dict[str, Any] = {}

        def is_over() -> bool:
            report.update(json.loads(self._manage("report_executions")))
            return not report["due"] and all(r["status"] in FINAL for r in report["executions"])

        wait_until(is_over, "all to be final", self._processes.logs, timeout=_PATIENCE_SECONDS)
        return report

    def _stop(self) -> None:
        processes = [*self._workers, *self._dispatchers]
        for process in processes:
            process.send(signal.SIGTERM)
        assert [process.wait() for process in processes] == [0] * len(processes)

    def _check_logs(self, tolerated: Callable[[int], Sequence[str]]) -> None:
        for number, process in enumerate(self._workers):
            errors = _ERROR.findall(process.log)
            bad = [e for e in errors if not any(text in e for text in tolerated(number))]
            assert not bad, "\n".join(bad)

    def _check_alive(self) -> None:
        for process in (*self._workers, *self._dispatchers):
            assert process.popen.poll() is None, process.log

    def _settled_by(self, worker: WorkerProcess) -> int:
        return worker.log.count("SUCCESS after")

    def _enqueued(self) -> int:
        return self._journal.read_text().count('"id"') if self._journal.exists() else 0

    def _manage(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, str(MANAGE), *arguments],
            env={**os.environ, **self._environments[0]},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


class Chaos:
    """What a scenario is run with: chance from a seed, a length, a folder, and a voice."""

    def __init__(self, folder: Path, seed: int, seconds: float, say: Callable[[str], None]) -> None:
        self.random = Random(seed)
        self.say = say
        self._folder = folder
        self._seed = seed
        self._seconds = seconds

    def part(self, share: float = 0.25) -> float:
        """Return about this share of the length."""
        return self._seconds * share * self.random.uniform(0.5, 1.5)

    @contextmanager
    def fleet(
        self, *environments: dict[str, str], pause: float = 0.02, shared: float = 0.05
    ) -> Iterator[Fleet]:
        fleet = Fleet(self._folder, self._seed, environments, self.say)
        try:
            fleet.start(pause=pause, shared=shared)
            yield fleet
        finally:
            fleet.close()
