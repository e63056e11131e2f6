"""Drive procrastinate: async tasks with its own command, sync tasks in Django."""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING, Any, ClassVar

from benchmarks.django_subject import DjangoSubject
from benchmarks.peers.postgres_peer import PostgresPeer
from benchmarks.peers.programs import program
from benchmarks.workers import Way

if TYPE_CHECKING:
    from collections.abc import Sequence

_CHUNK = 1_000
_CLEAR = "TRUNCATE procrastinate_jobs, procrastinate_events CASCADE"
_SUCCEEDED = "procrastinate_jobs WHERE status = 'succeeded'"


class ProcrastinateAsync(PostgresPeer):
    title = "procrastinate, async"
    package = "procrastinate"
    chosen = "async tasks, 16 at a time (`-c 16`); the states are stored, results it has none"
    expected_rate = 600
    has_bulk = True

    def prepare(self) -> None:
        super().prepare()
        from benchmarks.peers.procrastinate.app import producer

        self._producer: Any = producer.open()
        atexit.register(producer.close)
        producer.schema_manager.apply_schema()

    def ways(self) -> Sequence[Way]:
        app = "benchmarks.peers.procrastinate.app.app"
        options = ["--log-level", "warning", "--app", app, "worker", "--concurrency", "16"]
        return [Way("-c 16", [program("procrastinate", *options)])]

    def clear(self) -> None:
        self.execute(_CLEAR)

    def fill(self, jobs: int, way: Way) -> None:
        _defer_many(self._producer.configure_task("noop"), jobs)

    def enqueue(self) -> object:
        return self._producer.configure_task("noop").defer()

    def enqueue_stamp(self) -> object:
        return self._producer.configure_task("stamp").defer()

    def settled(self) -> int:
        return self.count(_SUCCEEDED)


class ProcrastinateDjango(DjangoSubject):
    title = "procrastinate, sync in Django"
    package = "procrastinate"
    chosen = "sync tasks in Django, 8 at a time (`-c 8`), connections kept (CONN_MAX_AGE)"
    stores: ClassVar[tuple[str, ...]] = ("postgres",)
    settings_module = "benchmarks.peers.procrastinate.settings"
    expected_rate = 400
    has_bulk = True

    def ways(self) -> Sequence[Way]:
        return [Way("-c 8", [self.manage("procrastinate", "worker", "--concurrency", "8")])]

    def clear(self) -> None:
        self._execute(_CLEAR)

    def fill(self, jobs: int, way: Way) -> None:
        from benchmarks.peers.procrastinate.tasks import noop

        _defer_many(noop, jobs)

    def enqueue(self) -> object:
        from benchmarks.peers.procrastinate.tasks import noop

        return noop.defer()

    def enqueue_stamp(self) -> object:
        from benchmarks.peers.procrastinate.tasks import stamp

        return stamp.defer()

    def settled(self) -> int:
        found: int = self._execute(f"SELECT count(*) FROM {_SUCCEEDED}")[0][0]
        return found

    def _execute(self, sql: str) -> list[tuple[Any, ...]]:
        from django.db import connection

        with connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall() if cursor.description else []


def _defer_many(task: Any, jobs: int) -> None:
    for begin in range(0, jobs, _CHUNK):
        task.batch_defer(*[{}] * min(_CHUNK, jobs - begin))
