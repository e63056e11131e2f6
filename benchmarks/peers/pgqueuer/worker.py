"""A worker of pgqueuer: `python -m benchmarks.peers.pgqueuer.worker BATCH_SIZE`.

It does what `pgq run` does, uvloop included, which itself fails under typer 0.29.
"""

from __future__ import annotations

import sys
from typing import Any

import asyncpg
import uvloop
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver

from benchmarks import stores, tally


async def main(batch_size: int) -> None:
    connection = await asyncpg.connect(stores.current("postgres").url)
    pgqueuer = PgQueuer(AsyncpgDriver(connection))

    @pgqueuer.entrypoint("noop")
    async def noop(_job: Any) -> None:
        tally.note()

    @pgqueuer.entrypoint("stamp")
    async def stamp(_job: Any) -> None:
        tally.stamp()

    await pgqueuer.run(batch_size=batch_size)


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))
