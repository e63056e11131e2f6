"""SQLite through the standard library."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from benchmarks import stores
from benchmarks.raw.limit import RawLimit

_TABLE = """
CREATE TABLE job (
    id integer PRIMARY KEY,
    state text NOT NULL DEFAULT 'pending',
    params text NOT NULL,
    result text,
    claimed_at text,
    finished_at text
);
CREATE INDEX job_pending ON job (id) WHERE state = 'pending';
"""
_CLAIM = """
UPDATE job SET state = 'running', claimed_at = datetime('now') WHERE id IN (
    SELECT id FROM job WHERE state = 'pending' ORDER BY id LIMIT ?
) RETURNING id, params
"""
_COMPLETE = """
UPDATE job SET state = 'done', result = 'null', finished_at = datetime('now')
WHERE id IN (SELECT value FROM json_each(?))
"""


class RawSQLite(RawLimit):
    title = "raw SQLite"
    chosen = (
        "one connection, WAL, synchronous NORMAL, a table with six columns and one partial index; "
        "an UPDATE … RETURNING and one completing UPDATE, each its own commit"
    )
    stores: ClassVar[tuple[str, ...]] = ("sqlite",)
    batches: ClassVar[tuple[int, ...]] = (100,)
    fastest_rate = 200_000

    def prepare(self) -> None:
        self._connection = stores.current("sqlite").connect()
        self._connection.executescript(_TABLE)

    def fill(self, rows: int) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute("DELETE FROM job")
        self._connection.executemany("INSERT INTO job (params) VALUES (?)", [["{}"]] * rows)
        self._connection.execute("COMMIT")

    def claim(self, batch: int) -> list[Any]:
        return [row[0] for row in self._connection.execute(_CLAIM, [batch]).fetchall()]

    def complete(self, ids: list[Any]) -> None:
        self._connection.execute(_COMPLETE, [json.dumps(ids)])
