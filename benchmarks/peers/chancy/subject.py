"""Drive chancy: its asyncio executor, which has the least overhead."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from benchmarks.peers.postgres_peer import PostgresPeer
from benchmarks.peers.programs import program
from benchmarks.workers import Way

if TYPE_CHECKING:
    from collections.abc import Sequence


class Chancy(PostgresPeer):
    title = "chancy"
    package = "chancy"
    chosen = (
        "the asyncio executor with 500 jobs at a time and eager polling; states are stored, once a "
        "second in a batch, which is its fixed interval"
    )
    expected_rate = 2_500
    has_bulk = True

    def prepare(self) -> None:
        super().prepare()
        from benchmarks.peers.chancy import app

        self._app: Any = app
        asyncio.run(self._install())

    async def _install(self) -> None:
        async with self._app.app as chancy:
            await chancy.migrate()
            await chancy.declare(self._app.queue, upsert=True)

    def ways(self) -> Sequence[Way]:
        return [
            Way("asyncio", [program("chancy", "--app", f"{_APP}.app", "worker", "start")]),
        ]

    def clear(self) -> None:
        self.execute("TRUNCATE chancy_jobs")

    def fill(self, jobs: int, way: Way) -> None:
        for _ in self._app.app.sync_push_many([self._app.noop_job] * jobs):
            pass

    def enqueue(self) -> object:
        return self._app.app.sync_push(self._app.noop_job)

    def enqueue_stamp(self) -> object:
        return self._app.app.sync_push(self._app.stamp_job)

    def settled(self) -> int:
        return self.count("chancy_jobs WHERE state = 'succeeded'")


_APP = "benchmarks.peers.chancy.app"
