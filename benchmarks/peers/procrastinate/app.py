"""The application that `procrastinate worker` runs, and the one that feeds it."""

from __future__ import annotations

from procrastinate import App, PsycopgConnector, SyncPsycopgConnector

from benchmarks import stores, tally

_url = stores.current("postgres").url
app = App(connector=PsycopgConnector(conninfo=_url))
producer = App(connector=SyncPsycopgConnector(conninfo=_url))


@app.task(name="noop")
async def noop() -> None:
    tally.note()


@app.task(name="stamp")
async def stamp() -> None:
    tally.stamp()
