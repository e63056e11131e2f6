"""The output of several processes in one stream, where each line begins with a process's name."""

from __future__ import annotations

import threading
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_LAST_LINES_SECONDS = 1.0


class PrefixedOutput:
    """Copies lines to `stream` as they come; only whole lines, so that two never mix."""

    def __init__(self, stream: IO[bytes], names: Iterable[str]) -> None:
        self._stream = stream
        self._width = max(map(len, names), default=0)
        self._lock = threading.Lock()
        self._readers: list[threading.Thread] = []

    def prefix(self, name: str) -> str:
        return f"{name:{self._width}} | "

    def follow(self, name: str, source: IO[bytes]) -> None:
        """Copy `source` until its end, in a thread of its own."""
        reader = threading.Thread(
            target=self._copy, args=(name, source), name=f"output of {name}", daemon=True
        )
        self._readers = [each for each in self._readers if each.is_alive()]
        self._readers.append(reader)
        reader.start()

    def close(self) -> None:
        """Wait for the last lines, but not for long: a grandchild may keep its end open."""
        for reader in self._readers:
            reader.join(_LAST_LINES_SECONDS)

    def _copy(self, name: str, source: IO[bytes]) -> None:
        prefix = self.prefix(name).encode()
        with source:
            for line in source:
                with self._lock:
                    self._stream.write(prefix + line.rstrip(b"\r\n") + b"\n")
                    self._stream.flush()
