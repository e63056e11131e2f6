"""MariaDB through mysqlclient."""

from __future__ import annotations

from typing import Any, ClassVar

from benchmarks import stores
from benchmarks.raw.limit import RawLimit

_TABLE = """
CREATE TABLE job (
    id bigint AUTO_INCREMENT PRIMARY KEY,
    state varchar(8) NOT NULL DEFAULT 'pending',
    params text NOT NULL,
    result text,
    claimed_at datetime(6),
    finished_at datetime(6),
    KEY job_state (state, id)
)
"""
_FIND = (
    "SELECT id, params FROM job WHERE state = 'pending' ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED"
)
_CLAIM = "UPDATE job SET state = 'running', claimed_at = now(6) WHERE id IN %s"
_COMPLETE = "UPDATE job SET state = 'done', result = 'null', finished_at = now(6) WHERE id IN %s"
_INSERT = "INSERT INTO job (params) VALUES (%s)"


class RawMariaDB(RawLimit):
    title = "raw MariaDB"
    chosen = (
        "mysqlclient; one connection, a table with six columns and one index; SELECT … SKIP LOCKED "
        "and UPDATE, commit, one completing UPDATE, commit"
    )
    stores: ClassVar[tuple[str, ...]] = ("mysql",)
    batches: ClassVar[tuple[int, ...]] = (100, 500)
    fastest_rate = 40_000

    def prepare(self) -> None:
        self._connection = stores.current("mysql").connect()
        self._cursor = self._connection.cursor()
        self._cursor.execute(_TABLE)

    def fill(self, rows: int) -> None:
        self._cursor.execute("TRUNCATE job")
        self._cursor.executemany(_INSERT, [["{}"]] * rows)
        self._connection.commit()

    def claim(self, batch: int) -> list[Any]:
        self._cursor.execute(_FIND, [batch])
        ids = [row[0] for row in self._cursor.fetchall()]
        if ids:
            self._cursor.execute(_CLAIM, [ids])
        self._connection.commit()
        return ids

    def complete(self, ids: list[Any]) -> None:
        if ids:
            self._cursor.execute(_COMPLETE, [ids])
        self._connection.commit()
