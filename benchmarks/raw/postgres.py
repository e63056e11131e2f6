"""PostgreSQL through psycopg."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from benchmarks import stores
from benchmarks.measures import rate_of, timed_rate
from benchmarks.raw.limit import RawLimit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.sizes import Sizes
    from benchmarks.subject import Figure, Measure

_TABLE = """
CREATE TABLE job (
    id bigserial PRIMARY KEY,
    state text NOT NULL DEFAULT 'pending',
    params text NOT NULL,
    result text,
    claimed_at timestamptz,
    finished_at timestamptz
);
CREATE INDEX job_pending ON job (id) WHERE state = 'pending';
"""
_CLAIM = """
UPDATE job SET state = 'running', claimed_at = now() WHERE id IN (
    SELECT id FROM job WHERE state = 'pending' ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED
) RETURNING id, params
"""
_COMPLETE = "UPDATE job SET state = 'done', result = 'null', finished_at = now() WHERE id = ANY(%s)"
_BOTH = f"WITH done AS ({_COMPLETE}), next AS ({_CLAIM}) SELECT id, params FROM next"
_INSERT = "INSERT INTO job (params) VALUES ('{}')"
_INSERT_MANY = "INSERT INTO job (params) SELECT * FROM unnest(%s::text[])"
_BULK_ROWS = 50_000
_CHUNK = 5_000


class RawPostgreSQL(RawLimit):
    title = "raw PostgreSQL"
    chosen = (
        "psycopg; one connection, a table with six columns and one partial index; a claim with "
        "SKIP LOCKED and one completing UPDATE, each its own commit; *one statement* completes a "
        "batch and claims the next"
    )
    stores: ClassVar[tuple[str, ...]] = ("postgres",)
    batches: ClassVar[tuple[int, ...]] = (1, 10, 100, 500)

    def prepare(self) -> None:
        self._connection = stores.current("postgres").connect()
        self._connection.execute(_TABLE)

    def measures(self, sizes: Sizes) -> list[Measure]:
        return [
            *super().measures(sizes),
            *(
                (f"one statement, {batch}", partial(self._in_one_statement, batch, sizes))
                for batch in self.batches
            ),
            ("insert", partial(self._insert, sizes)),
            ("insert many", self._insert_many),
        ]

    def fill(self, rows: int) -> None:
        self._connection.execute("TRUNCATE job")
        self._connection.execute(_INSERT_MANY, [["{}"] * rows])
        self._connection.execute("ANALYZE job")

    def claim(self, batch: int) -> list[Any]:
        return [row[0] for row in self._connection.execute(_CLAIM, [batch])]

    def complete(self, ids: list[Any]) -> None:
        self._connection.execute(_COMPLETE, [ids])

    def _in_one_statement(self, batch: int, sizes: Sizes) -> Iterator[Figure]:
        ids: list[Any] = []

        def step() -> int:
            ids[:] = [row[0] for row in self._connection.execute(_BOTH, [list(ids), batch])]
            return len(ids)

        yield f"one statement, batch {batch}", self.rate(step, sizes)

    def _insert(self, sizes: Sizes) -> Iterator[Figure]:
        yield "enqueue", rate_of(lambda: self._connection.execute(_INSERT), sizes.enqueue_seconds)

    def _insert_many(self) -> Iterator[Figure]:
        def insert() -> None:
            for _ in range(_BULK_ROWS // _CHUNK):
                self._connection.execute(_INSERT_MANY, [["{}"] * _CHUNK])

        yield "enqueue_many", timed_rate(insert, _BULK_ROWS)
