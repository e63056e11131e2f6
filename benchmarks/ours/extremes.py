"""jobu beside its database's limit, among a million rows and many cron jobs, and with no work.

One round is enough: these are ratios of what is measured side by side, or far from their bounds.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, ClassVar

from benchmarks import stores
from benchmarks.measures import drain
from benchmarks.ours.endurance import cost, slot_use, soak
from benchmarks.ours.lanes import many_lanes
from benchmarks.ours.limits import beside_raw
from benchmarks.ours.queue import Jobu, JobuOnMariaDB, JobuOnPostgreSQL, JobuOnSQLite
from benchmarks.raw.mysql import RawMariaDB
from benchmarks.raw.postgres import RawPostgreSQL
from benchmarks.raw.sqlite import RawSQLite
from benchmarks.workers import started

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.raw.limit import RawLimit
    from benchmarks.sizes import Sizes
    from benchmarks.subject import Figure, Measure

_SEED_ROWS = 10_000


class Extremes(Jobu):
    rounds = 1
    raw: ClassVar[type[RawLimit]]

    def measures(self, sizes: Sizes) -> list[Measure]:
        found: list[Measure] = [
            ("raw limit", partial(beside_raw, self, self.raw(), sizes)),
            ("backlog pending", partial(self.pending, sizes)),
            ("backlog finished", partial(self.finished, sizes, 1)),
            ("idle", partial(self.idle, sizes)),
            ("cron poll", partial(self.cron_poll, sizes)),
            ("many lanes", partial(many_lanes, self, sizes)),
            ("cost", partial(cost, self, sizes)),
            ("slot use", partial(slot_use, self, sizes)),
        ]
        if sizes.has_ten_times:
            found.append(("backlog of ten times", partial(self.finished, sizes, 10)))
            found.append(("soak", partial(soak, self, sizes)))
        return found

    def pending(self, sizes: Sizes) -> Iterator[Figure]:
        self.clear()
        self._seed(sizes.pending, "PENDING")
        yield from self._beside_empty(
            "backlog pending", lambda: drain(self.ways()[0], sizes.backlog_jobs).ran, sizes
        )

    def finished(self, sizes: Sizes, times: int) -> Iterator[Figure]:
        self.clear()
        self._seed(times * sizes.finished, "SUCCESS")
        name = "backlog finished" if times == 1 else "backlog finished, ten times as many"
        yield from self._beside_empty(name, lambda: self._fill_and_drain(sizes), sizes)

    def idle(self, sizes: Sizes) -> Iterator[Figure]:
        """Measure what a worker with nothing to do uses of one core, in percent."""
        self.clear()
        with started(self.ways()[0]) as workers:
            self.enqueue()
            workers.wait_until(lambda: workers.tally.count() > 0, "the first job")
            used, begin = workers.cpu_seconds(), time.perf_counter()
            time.sleep(sizes.idle_seconds)
            used = workers.cpu_seconds() - used
            yield "idle", 100 * used / (time.perf_counter() - begin)

    def cron_poll(self, sizes: Sizes) -> Iterator[Figure]:
        """Measure how much longer a dispatcher's poll takes among a hundred times the cron jobs."""
        few, many = (
            min(_poll_seconds(crons) for _ in range(3))
            for crons in (sizes.crons // 100, sizes.crons)
        )
        yield "cron poll growth", many / few

    def _beside_empty(self, name: str, rate: Callable[[], float], sizes: Sizes) -> Iterator[Figure]:
        """Compare the rate with that in an empty database, measured in turns with it."""
        rates, empty_rates = [], []
        with self._empty_database() as empty:
            for _ in range(sizes.turns):
                rates.append(rate())
                with _using(empty):
                    self.clear()
                    empty_rates.append(self._fill_and_drain(sizes))
        yield "drain, empty table", max(empty_rates)
        # Of each pair: the machine, and what the server writes behind them, change meanwhile.
        yield name, median(a / b for a, b in zip(rates, empty_rates, strict=True))

    @contextmanager
    def _empty_database(self) -> Iterator[stores.Store]:
        empty = stores.make(self.stores[0], "empty")
        try:
            with _using(empty):
                self.prepare()
            yield empty
        finally:
            empty.drop()

    def _fill_and_drain(self, sizes: Sizes) -> float:
        self.fill(sizes.backlog_jobs, self.ways()[0])
        return drain(self.ways()[0], sizes.backlog_jobs).ran

    def _seed(self, rows: int, status: str) -> None:
        """Enqueue some, and let the database copy them until there are enough."""
        from django.db import connection
        from django.utils import timezone

        from jobu.models import JobExecution

        first = min(rows, _SEED_ROWS)
        self.fill(first, self.ways()[0])
        if status != "PENDING":
            # Older than what the charts show: as if it were new, each worker would summarise it.
            then = timezone.now() - timedelta(days=10)
            JobExecution.objects.update(
                status=status, attempt=1, started_at=then, finished_at=then, result={"sent": True}
            )
        quote = connection.ops.quote_name
        table = quote(JobExecution._meta.db_table)
        columns = ", ".join(
            quote(field.column)
            for field in JobExecution._meta.concrete_fields
            if not field.primary_key
        )
        count = first
        with connection.cursor() as cursor:
            while count < rows:
                more = min(count, rows - count)
                cursor.execute(
                    f"INSERT INTO {table} ({columns}) SELECT {columns} FROM {table} LIMIT {more}"
                )
                count += more
            # History was written long ago, not a second before: nothing of it is left to write.
            if connection.vendor == "postgresql":
                cursor.execute("CHECKPOINT")
            elif connection.vendor == "mysql":
                cursor.execute(f"FLUSH TABLES {table} FOR EXPORT")
                cursor.execute("UNLOCK TABLES")


@contextmanager
def _using(store: stores.Store) -> Iterator[None]:
    """Let this process, and the workers that it starts, use the store instead of their own."""
    from django.db import connection

    own, name = dict(os.environ), connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = store.django()["NAME"]
    os.environ.update(stores.announce([store]))
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = name
        os.environ.update(own)


def _poll_seconds(crons: int) -> float:
    from jobu.dispatchers.dispatch import dispatch
    from jobu.models import CronJob
    from tests.builders import many_crons

    due = min(100, crons)
    CronJob.objects.all().delete()
    many_crons(crons, due=due)
    begin = time.perf_counter()
    dispatched = dispatch()
    seconds = time.perf_counter() - begin
    if dispatched != due:
        raise AssertionError(f"{dispatched} of {due} due cron jobs were dispatched")
    return seconds


class ExtremesOnPostgreSQL(Extremes, JobuOnPostgreSQL):
    title = "jobu on PostgreSQL, extremes"
    raw = RawPostgreSQL


class ExtremesOnMariaDB(Extremes, JobuOnMariaDB):
    title = "jobu on MariaDB, extremes"
    raw = RawMariaDB


class ExtremesOnSQLite(Extremes, JobuOnSQLite):
    title = "jobu on SQLite, extremes"
    raw = RawSQLite
