"""Try whether the code can be loaded, before a process is started that would need it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_MAX_CHARACTERS = 20_000


class Probe:
    """Runs a command that loads the code and ends."""

    def __init__(self, command: Sequence[str]) -> None:
        # A file, not a pipe: nobody has to read it meanwhile.
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`
        self._process = subprocess.Popen(  # noqa: S603 - our own command line
            command,
            # A session of its own: a Ctrl-C in the terminal does not reach it.
            start_new_session=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
        )

    def problem(self) -> str | None:
        """Return what was printed if the code cannot be loaded; None while that is not known.

        It is empty if the code can be loaded.
        """
        code = self._process.poll()
        if code is None or code == 0:
            return None if code is None else ""
        self._output.seek(0)
        printed = self._output.read().decode(errors="replace").strip()
        return printed[-_MAX_CHARACTERS:] or f"It ends with exit code {code}."

    def end(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._output.close()
