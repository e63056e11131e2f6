"""Drive pgqueuer: on asyncpg, its faster driver, at several batch sizes."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

from benchmarks.peers.postgres_peer import PostgresPeer
from benchmarks.workers import Way

if TYPE_CHECKING:
    from collections.abc import Sequence

_CHUNK = 5_000


class PgQueuer(PostgresPeer):
    title = "pgqueuer"
    package = "pgqueuer"
    chosen = (
        "asyncpg, its faster driver; async handlers, all it has; batches of 500, 100 and 10 (its "
        "default), two processes at 500; a job's row is deleted and its log line written in "
        "batches; no result, it has none"
    )
    expected_rate = 9_000
    has_bulk = True

    def prepare(self) -> None:
        super().prepare()
        self._loop = asyncio.new_event_loop()
        self._queries = self._loop.run_until_complete(self._install())

    async def _install(self) -> Any:
        import asyncpg
        from pgqueuer.db import AsyncpgDriver
        from pgqueuer.queries import Queries

        queries = Queries(AsyncpgDriver(await asyncpg.connect(self.store.url)))
        await queries.install()
        return queries

    def ways(self) -> Sequence[Way]:
        return [
            *(Way(f"batch {batch}", [_run(batch)]) for batch in (500, 100, 10)),
            Way("2 processes", [_run(500), _run(500)]),
        ]

    def clear(self) -> None:
        self.execute("TRUNCATE pgqueuer, pgqueuer_log")

    def fill(self, jobs: int, way: Way) -> None:
        for begin in range(0, jobs, _CHUNK):
            size = min(_CHUNK, jobs - begin)
            self._enqueue(["noop"] * size, [None] * size, [0] * size)
        self._filled = jobs

    def enqueue(self) -> object:
        return self._enqueue("noop", None)

    def enqueue_stamp(self) -> object:
        return self._enqueue("stamp", None)

    def settled(self) -> int:
        return self._filled - self.count("pgqueuer")

    def _enqueue(self, *arguments: Any) -> object:
        return self._loop.run_until_complete(self._queries.enqueue(*arguments))


def _run(batch: int) -> list[str]:
    return [sys.executable, "-m", "benchmarks.peers.pgqueuer.worker", str(batch)]
