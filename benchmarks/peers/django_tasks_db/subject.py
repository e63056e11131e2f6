"""Drive django-tasks-db: one task at a time is all that a worker of it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from benchmarks.peers.tasks_peer import TasksPeer
from benchmarks.workers import Way

if TYPE_CHECKING:
    from collections.abc import Sequence


class TasksDB(TasksPeer):
    package = "django-tasks-db"
    settings_module = "benchmarks.peers.django_tasks_db.settings"
    chosen = (
        "`db_worker`, which runs one task at a time; connections kept (CONN_MAX_AGE); the default "
        "interval of one second, which matters to the latency alone"
    )

    def ways(self) -> Sequence[Way]:
        command = self.manage("db_worker", "--verbosity", "0", "--no-startup-delay")
        return [Way("1 worker", [command])]

    def clear(self) -> None:
        from django_tasks_db.models import DBTaskResult

        DBTaskResult.objects.all().delete()

    def fill(self, jobs: int, way: Way) -> None:
        for _ in range(jobs):
            self.enqueue()

    def settled(self) -> int:
        from django_tasks_db.models import DBTaskResult

        return int(DBTaskResult.objects.filter(status="SUCCESSFUL").count())


class TasksDBOnPostgreSQL(TasksDB):
    title = "django-tasks-db, PostgreSQL"
    stores: ClassVar[tuple[str, ...]] = ("postgres",)
    expected_rate = 300


class TasksDBOnSQLite(TasksDB):
    title = "django-tasks-db, SQLite"
    stores: ClassVar[tuple[str, ...]] = ("sqlite",)
    expected_rate = 350
