"""The application that `chancy worker start` and the producer share."""

from __future__ import annotations

import logging

from chancy import Chancy, Job, Queue

from benchmarks import stores, tally

logging.getLogger("chancy").addHandler(logging.NullHandler())
app = Chancy(stores.current("postgres").url, log=logging.getLogger("chancy"))
queue = Queue(
    "default",
    executor=Chancy.Executor.Async,
    concurrency=500,
    polling_interval=1,
    eager_polling=True,
)


async def noop() -> None:
    tally.note()


async def stamp() -> None:
    tally.stamp()


noop_job = Job.from_func(noop)
stamp_job = Job.from_func(stamp)
