"""Drive huey: one thread, and two processes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from benchmarks.peers.programs import program
from benchmarks.subject import QueueSubject
from benchmarks.workers import Way

if TYPE_CHECKING:
    from collections.abc import Sequence


class Huey(QueueSubject):
    package = "huey"
    app: ClassVar[str]

    def prepare(self) -> None:
        self._app: Any = import_module(self.app)

    def consumer(self, *options: str) -> list[str]:
        return program("huey_consumer", f"{self.app}.huey", "--no-periodic", "--quiet", *options)

    def clear(self) -> None:
        self._app.huey.flush()

    def fill(self, jobs: int, way: Way) -> None:
        self._filled = jobs
        for _ in range(jobs):
            self._app.noop()

    def enqueue(self) -> object:
        return self._app.noop()

    def enqueue_stamp(self) -> object:
        return self._app.stamp()

    def settled(self) -> int:
        return self._filled - int(self._app.huey.pending_count())


class HueyRedis(Huey):
    title = "huey, Redis"
    chosen = (
        "one thread, and two processes; results only of tasks that return something, as by default"
    )
    stores: ClassVar[tuple[str, ...]] = ("redis",)
    app = "benchmarks.peers.huey.redis_app"
    expected_rate = 1_500

    def ways(self) -> Sequence[Way]:
        return [
            Way("1 thread", [self.consumer("--worker-type", "thread", "--workers", "1")]),
            Way("2 processes", [self.consumer("--worker-type", "process", "--workers", "2")]),
        ]


class HueySQLite(Huey):
    title = "huey, SQLite"
    chosen = "one thread; WAL, its default"
    stores: ClassVar[tuple[str, ...]] = ("sqlite",)
    app = "benchmarks.peers.huey.sqlite_app"
    expected_rate = 1_500

    def ways(self) -> Sequence[Way]:
        return [Way("1 thread", [self.consumer("--worker-type", "thread", "--workers", "1")])]
