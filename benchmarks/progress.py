"""Tell what is being measured, on one line that is overwritten where that is possible."""

from __future__ import annotations

import sys
import time


class Progress:
    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._step = 0
        self._begin = time.monotonic()
        self._what = ""

    def next(self, what: str) -> None:
        self._step += 1
        self._what = what
        if not sys.stderr.isatty():
            self._show()

    def detail(self, text: str) -> None:
        if sys.stderr.isatty():
            self._show(text)

    def close(self) -> None:
        if sys.stderr.isatty():
            sys.stderr.write("\r\033[K")

    def _show(self, text: str = "") -> None:
        minutes, seconds = divmod(int(time.monotonic() - self._begin), 60)
        line = f"[{self._step}/{self._steps} {minutes}:{seconds:02}] {self._what}"
        line += f": {text}" if text else ""
        is_terminal = sys.stderr.isatty()
        sys.stderr.write(f"\r\033[K{line[:110]}" if is_terminal else f"{line}\n")
        sys.stderr.flush()
