"""Notice that the project's code has changed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from django.utils.autoreload import StatReloader

if TYPE_CHECKING:
    from pathlib import Path

_LOOK_SECONDS = 1.0


class CodeWatch:
    """Compares the times of the files that Django's own reloader would watch."""

    def __init__(self) -> None:
        self._reloader = StatReloader()
        self._times = self._read_times()
        self._looked = time.monotonic()

    def has_changed(self) -> bool:
        """Tell whether a known file is newer than at the last look, about once a second."""
        if time.monotonic() < self._looked + _LOOK_SECONDS:
            return False
        before, self._times = self._times, self._read_times()
        self._looked = time.monotonic()
        return any(before[file] != self._times[file] for file in before.keys() & self._times.keys())

    def _read_times(self) -> dict[Path, float]:
        return dict(self._reloader.snapshot_files())
