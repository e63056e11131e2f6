"""The actors that the `dramatiq` command and the producer share."""

from __future__ import annotations

import dramatiq
from dramatiq.brokers.redis import RedisBroker

from benchmarks import stores, tally

broker = RedisBroker(url=stores.current("redis").url)
dramatiq.set_broker(broker)


@dramatiq.actor
def noop() -> None:
    tally.note()


@dramatiq.actor
def stamp() -> None:
    tally.stamp()
