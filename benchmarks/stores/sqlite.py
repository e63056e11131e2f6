"""A file of SQLite, with the options that docs/settings.md recommends."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from benchmarks.stores.server import Store

PRAGMAS = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"


class SQLite(Store):
    @classmethod
    def make(cls, name: str) -> Self:
        return cls(name)

    def drop(self) -> None:
        for suffix in ("", "-wal", "-shm", "-journal"):
            with suppress(FileNotFoundError):
                Path(f"{self.path}{suffix}").unlink()

    @property
    def path(self) -> Path:
        return Path(tempfile.gettempdir()) / f"{self.name}.sqlite3"

    def connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, isolation_level=None, timeout=20)
        connection.executescript(PRAGMAS)
        return connection

    def django(self) -> dict[str, Any]:
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": self.path,
            "OPTIONS": {
                "transaction_mode": "IMMEDIATE",
                "init_command": PRAGMAS,
                "timeout": 20,
            },
        }

    def facts(self) -> dict[str, str]:
        return {
            "version": sqlite3.sqlite_version,
            "journal_mode": "WAL",
            "synchronous": "NORMAL",
            "folder": tempfile.gettempdir(),
        }
