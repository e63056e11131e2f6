"""A peer that keeps its jobs in PostgreSQL without Django."""

from __future__ import annotations

from typing import Any, ClassVar

from benchmarks import stores
from benchmarks.subject import QueueSubject


class PostgresPeer(QueueSubject):
    stores: ClassVar[tuple[str, ...]] = ("postgres",)

    def prepare(self) -> None:
        self.store = stores.current("postgres")
        self._connection = self.store.connect()

    def analyse(self) -> None:
        self._connection.execute("ANALYZE")

    def execute(self, sql: str) -> Any:
        return self._connection.execute(sql)

    def count(self, sql: str) -> int:
        found: int = self.execute(f"SELECT count(*) FROM {sql}").fetchone()[0]
        return found
