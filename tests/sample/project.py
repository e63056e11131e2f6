"""The sample project, or one like it, in processes of its own, on databases of its own."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.servers import free_port

FOLDER = Path(__file__).parents[2] / "sample_project"


class SampleProject:
    def __init__(self, folder: Path, code: Path = FOLDER, **environment: str) -> None:
        self.folder = folder
        self._code = code
        self.port = free_port()
        ours = {name: value for name, value in os.environ.items() if not name.startswith("JOBU_")}
        self._environment = {
            **ours,
            "DATABASE_URL": f"sqlite:///{folder / 'default.sqlite3'}",
            "SQLITE_2_URL": f"sqlite:///{folder / 'second.sqlite3'}",
            "PYTHONWARNINGS": "error",
            **environment,
        }
        # What the tests were started with is for the test project.
        self._environment.pop("DJANGO_SETTINGS_MODULE", None)

    @property
    def log(self) -> str:
        return (self.folder / "runjobu.log").read_text()

    def manage(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=self._code,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    @contextmanager
    def running(self, *options: str) -> Iterator[None]:
        """Run `runjobu` for the block; its end must be a clean one."""
        command = ["runjobu", "--bind", f"127.0.0.1:{self.port}", *options]
        with (self.folder / "runjobu.log").open("w") as log:
            process = subprocess.Popen(
                [sys.executable, "manage.py", *command],
                cwd=self._code,
                env=self._environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            yield
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0, self.log
        finally:
            process.kill()
            process.wait()

    def executions(self, where: str = "1 = 1") -> set[tuple[str, str]]:
        """Return handler and status of the executions; straight from the file."""
        with closing(sqlite3.connect(self.folder / "default.sqlite3", timeout=20)) as database:
            rows = database.execute(
                f"SELECT handler_name, status FROM jobu_jobexecution WHERE {where}"
            )
            return set(rows.fetchall())
