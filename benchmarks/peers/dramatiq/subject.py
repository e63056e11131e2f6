"""Drive dramatiq: one process of 8 threads, and two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from benchmarks import stores
from benchmarks.peers.programs import program
from benchmarks.subject import QueueSubject
from benchmarks.workers import Way

if TYPE_CHECKING:
    from collections.abc import Sequence

_MESSAGES = "dramatiq:default.msgs"


class Dramatiq(QueueSubject):
    title = "dramatiq, Redis"
    package = "dramatiq"
    chosen = "8 threads, its default, in one process and in two; no results, as by default"
    stores: ClassVar[tuple[str, ...]] = ("redis",)
    expected_rate = 2_000

    def prepare(self) -> None:
        from benchmarks.peers.dramatiq import app

        self._app: Any = app
        self._redis = stores.current("redis").connect()

    def ways(self) -> Sequence[Way]:
        return [Way("8 threads", [_run("1")]), Way("2 processes", [_run("2")])]

    def clear(self) -> None:
        self._redis.flushdb()

    def fill(self, jobs: int, way: Way) -> None:
        self._filled = jobs
        for _ in range(jobs):
            self._app.noop.send()

    def enqueue(self) -> object:
        return self._app.noop.send()

    def enqueue_stamp(self) -> object:
        return self._app.stamp.send()

    def settled(self) -> int:
        return self._filled - int(self._redis.hlen(_MESSAGES))


def _run(processes: str) -> list[str]:
    options = ["--processes", processes, "--threads", "8"]
    return program("dramatiq", *options, "benchmarks.peers.dramatiq.app")
