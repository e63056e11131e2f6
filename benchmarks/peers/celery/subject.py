"""Drive Celery: prefork, with and without results, the better one counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from benchmarks import stores
from benchmarks.peers.programs import program
from benchmarks.subject import QueueSubject
from benchmarks.workers import Way

if TYPE_CHECKING:
    from collections.abc import Sequence

_IGNORE = {"JOBU_BENCH_IGNORE_RESULT": "1"}


class Celery(QueueSubject):
    title = "Celery, Redis"
    package = "celery"
    chosen = (
        "prefork with 2 processes (one for each core), prefetch multiplier 100, no gossip, mingle, "
        "heartbeat or events; once with results in Redis, once with results ignored"
    )
    stores: ClassVar[tuple[str, ...]] = ("redis",)
    expected_rate = 800

    def prepare(self) -> None:
        from benchmarks.peers.celery import app

        self._app: Any = app
        self._redis = stores.current("redis").connect()

    def ways(self) -> Sequence[Way]:
        options = ["--pool", "prefork", "--concurrency", "2", "--loglevel", "WARNING"]
        options += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
        command = program("celery", "-A", "benchmarks.peers.celery.app", "worker", *options)
        return [Way("prefork 2", [command]), Way("prefork 2, no results", [command], _IGNORE)]

    def clear(self) -> None:
        self._redis.flushdb()

    def fill(self, jobs: int, way: Way) -> None:
        self._filled = jobs
        self._has_results = way.environment is None
        for _ in range(jobs):
            self._app.noop.apply_async(ignore_result=not self._has_results)

    def enqueue(self) -> object:
        return self._app.noop.delay()

    def enqueue_stamp(self) -> object:
        return self._app.stamp.delay()

    def settled(self) -> int:
        if self._has_results:
            return sum(1 for _ in self._redis.scan_iter("celery-task-meta-*", count=1000))
        return self._filled - self._redis.llen("celery") - self._redis.hlen("unacked")
