"""jobu with its default settings: `runworker` as a process, results stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from benchmarks.django_subject import DjangoSubject
from benchmarks.workers import Way

if TYPE_CHECKING:
    from collections.abc import Sequence


_RUNWORKER = ("runworker", "--verbosity", "0")


class Jobu(DjangoSubject):
    settings_module = "benchmarks.settings"
    package = "django-jobu"
    chosen = (
        "`runworker` with jobu's and Django's default settings (5 slots, batches of 500), the log "
        "at warnings; results stored; sync handlers on the thread pool, async ones on the event "
        "loop; its tables are not analysed before the drain, unlike those of the peers"
    )
    has_bulk = True

    def ways(self) -> Sequence[Way]:
        one = [self.manage(*_RUNWORKER)]
        two = [self.manage(*_RUNWORKER, "--processes", "2")]
        return [Way("sync", one), Way("async", one), Way("2 processes", two)]

    def clear(self) -> None:
        from django.core.management.color import no_style
        from django.db import connection

        from jobu.models import JobExecution

        tables = [JobExecution._meta.db_table]
        # With whatever refers to it, which a TRUNCATE asks for; and with the sequence, because
        # otherwise Django deletes row by row on MariaDB, whose index is then full of dead entries.
        flush = connection.ops.sql_flush(
            no_style(), tables, reset_sequences=True, allow_cascade=True
        )
        connection.ops.execute_sql_flush(flush)

    def fill(self, jobs: int, way: Way) -> None:
        self.fill_with("async_noop" if way.name == "async" else "noop", jobs)

    def fill_with(self, handler: str, jobs: int) -> None:
        from jobu import enqueue_many

        enqueue_many(handler, ({} for _ in range(jobs)))

    def enqueue(self) -> object:
        from jobu import enqueue

        return enqueue("noop")

    def enqueue_stamp(self) -> object:
        from jobu import enqueue

        return enqueue("stamp")

    def settled(self) -> int:
        from jobu.models import JobExecution, Status

        return JobExecution.objects.filter(status=Status.SUCCESS).count()

    def analyse(self) -> None:
        """Leave the table as it was filled: jobu must be as fast without statistics."""


class JobuOnPostgreSQL(Jobu):
    title = "jobu on PostgreSQL"
    stores: ClassVar[tuple[str, ...]] = ("postgres",)
    expected_rate = 15_000


class JobuOnMariaDB(Jobu):
    title = "jobu on MariaDB"
    stores: ClassVar[tuple[str, ...]] = ("mysql",)
    expected_rate = 8_000


class JobuOnSQLite(Jobu):
    title = "jobu on SQLite"
    stores: ClassVar[tuple[str, ...]] = ("sqlite",)
    expected_rate = 12_000
