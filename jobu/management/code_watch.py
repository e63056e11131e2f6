"""Notice that the project's code has changed."""

from __future__ import annotations

import os
import sysconfig
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from django.apps import apps
from django.utils.autoreload import StatReloader

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOOK_SECONDS = 1.0
_WITHOUT_CODE = {"node_modules", "__pycache__"}


class CodeWatch:
    """Compares the times of files: those that Django's reloader watches, and all of the apps.

    A file that is new in an app counts, too: a module that was missing may be what was wrong.
    """

    def __init__(self) -> None:
        self._reloader = StatReloader()
        self._folders = _own_folders()
        self._loaded, self._in_apps = self._read_times()
        self._looked = time.monotonic()

    def has_changed(self) -> bool:
        """Tell whether a file is newer than at the last look, about once a second."""
        if time.monotonic() < self._looked + _LOOK_SECONDS:
            return False
        loaded, in_apps = self._loaded, self._in_apps
        self._loaded, self._in_apps = self._read_times()
        self._looked = time.monotonic()
        # A module that we have loaded since then is no change.
        both = loaded.keys() & self._loaded.keys()
        return any(loaded[file] != self._loaded[file] for file in both) or any(
            in_apps.get(file) != changed for file, changed in self._in_apps.items()
        )

    def _read_times(self) -> tuple[dict[Path, float], dict[Path, float]]:
        return dict(self._reloader.snapshot_files()), dict(_python_files(self._folders))


def _own_folders() -> set[str]:
    """Return the folders of the apps that are the project's own, not installed packages."""
    installed = tuple(sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib"))
    return {app.path for app in apps.get_app_configs() if not app.path.startswith(installed)}


def _python_files(folders: set[str]) -> Iterator[tuple[Path, float]]:
    for folder in folders:
        for root, children, names in os.walk(folder):
            children[:] = [n for n in children if n not in _WITHOUT_CODE and n[0] != "."]
            for name in names:
                path = Path(root, name)
                if path.suffix == ".py":
                    # An editor may have removed it in this moment, to write it anew.
                    with suppress(OSError):
                        yield path, path.stat().st_mtime
