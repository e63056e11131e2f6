"""huey on Redis."""

from __future__ import annotations

from huey import RedisHuey

from benchmarks import stores
from benchmarks.peers.huey.tasks import register

huey = RedisHuey("benchmarks", url=stores.current("redis").url)
noop, stamp = register(huey)
