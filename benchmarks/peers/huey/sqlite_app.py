"""huey on SQLite, in WAL mode, which is its default."""

from __future__ import annotations

from huey import SqliteHuey

from benchmarks import stores
from benchmarks.peers.huey.tasks import register

huey = SqliteHuey("benchmarks", filename=str(stores.current("sqlite").path))
noop, stamp = register(huey)
