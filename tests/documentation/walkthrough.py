"""Do what a document says, block by block and word by word.

`sh` blocks go to a shell whose folder and variables last; what would run until Ctrl-C runs in the
background. A `python` block that begins with `# some/file.py` becomes that file, any other goes to
`manage.py shell`. The lines of a `text` block must be in what the block before it has written.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

from tests.documentation.blocks import Block, blocks_of
from tests.packaging.distributions import ROOT, clean_environment, run
from tests.servers import free_port
from tests.waiting import wait_until

_UNTIL_CTRL_C = ("make demo", "make run", "python manage.py runworker", "python manage.py runjobu")
_RELOADED = "all processes are started again"
_TAKEN_ALONG = (
    "jobu",
    "docs",
    "sample_project",
    "Makefile",
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
)


def fresh_checkout(folder: Path) -> Path:
    """Copy what a clone has, and nothing that was made in this one."""
    folder.mkdir(parents=True)
    ignored = shutil.ignore_patterns("__pycache__", "*.sqlite3*", ".env")
    for name in _TAKEN_ALONG:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


class Walkthrough:
    def __init__(self, checkout: Path, scratch: Path) -> None:
        self.port = free_port()
        self._folder = checkout
        self._scratch = scratch
        self._variables = {**clean_environment(), "PORT": str(self.port)}
        self._variables.pop("VIRTUAL_ENV", None)
        self._output = ""
        self._background: subprocess.Popen[bytes] | None = None
        self._reloads = False

    @property
    def folder(self) -> Path:
        return self._folder

    def follow(self, markdown: str) -> None:
        for block in blocks_of(markdown):
            match block.language:
                case "sh":
                    self._run_shell(block.text)
                case "python" if block.file:
                    self._write(block.file, block.text)
                case "python":
                    self._run_python(block.text)
                case "text":
                    self._compare(block)
                case _:
                    raise AssertionError(f"Nobody can follow a block in {block.language}.")

    def executions(self) -> list[tuple[str, ...]]:
        return self._query("SELECT handler_name, status FROM jobu_jobexecution ORDER BY id")

    def cron_jobs(self) -> list[tuple[str, ...]]:
        return self._query("SELECT handler_name FROM jobu_cronjob WHERE is_enabled")

    @property
    def log(self) -> str:
        log = self._scratch / "background.log"
        return log.read_text(errors="replace") if log.exists() else ""

    def wait_for_log(self, text: str) -> None:
        # The first one waits for pip and its downloads, too.
        wait_until(lambda: text in self.log, repr(text), lambda: self.log, timeout=180)

    def stop(self) -> None:
        """Press Ctrl-C, if something runs."""
        process, self._background = self._background, None
        if process is None:
            return
        os.killpg(process.pid, signal.SIGINT)
        # make ends as interrupted, even if what it ran ends well.
        assert process.wait(60) in (0, 2, 130, -signal.SIGINT), self.log
        assert "restart in" not in self.log

    def _write(self, name: str, text: str) -> None:
        """Write a file; nobody is quicker than the reloader that watches the handlers."""
        restarts = self.log.count(_RELOADED)
        (self._folder / name).write_text(text)
        if self._reloads and name.endswith("jobs.py"):
            wait_until(lambda: self.log.count(_RELOADED) > restarts, "the reload", lambda: self.log)

    def _run_shell(self, text: str) -> None:
        *lines, last = text.strip().splitlines()
        goes_on = last.startswith(_UNTIL_CTRL_C) and "--drain" not in last
        script = "\n".join(lines if goes_on else [*lines, last])
        variables = self._scratch / "variables"
        self._output = self._check(
            f"{script}\nenv -0 > {variables}", ["bash", "-euo", "pipefail", "-s"]
        )
        pairs = (each.split("=", 1) for each in variables.read_text().split("\0") if each)
        self._variables = dict(pairs)
        self._folder = Path(self._variables["PWD"])
        if goes_on:
            self._start(last)

    def _start(self, command: str) -> None:
        self.stop()
        self._reloads = command == "make run"
        with (self._scratch / "background.log").open("w") as log:
            self._background = subprocess.Popen(
                command.split(),
                cwd=self._folder,
                env={**self._variables, "PYTHONUNBUFFERED": "1"},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _run_python(self, text: str) -> None:
        self._wait_for_workers()
        command = "import sys; exec(sys.stdin.read())"
        self._output = self._check(text, ["python", "manage.py", "shell", "-c", command])

    def _wait_for_workers(self) -> None:
        """Come a little later, as the text says: when the workers have nothing to do."""
        if self._background is not None and (self._folder / "db.sqlite3").exists():
            wait_until(
                lambda: all(
                    status not in ("PENDING", "RUNNING") for _, status in self.executions()
                ),
                "idle workers",
                lambda: self.log,
            )

    def _check(self, text: str, command: list[str]) -> str:
        # bash and python are those of the virtual environment, once there is one.
        program = shutil.which(command[0], path=self._variables["PATH"])
        assert program is not None, command
        return run(program, *command[1:], cwd=self._folder, given=text, variables=self._variables)

    def _compare(self, block: Block) -> None:
        for line in block.text.splitlines():
            assert line in self._output, f"{line!r} is not in:\n{self._output}"

    def _query(self, sql: str) -> list[tuple[str, ...]]:
        with closing(sqlite3.connect(self._folder / "db.sqlite3", timeout=20)) as database:
            return database.execute(sql).fetchall()
