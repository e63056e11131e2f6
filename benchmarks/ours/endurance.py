"""What a job costs the worker, how well slots are used, and whether a worker stays as it began."""

from __future__ import annotations

import os
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.jobs import NAP_SECONDS
from benchmarks.workers import started

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.ours.queue import Jobu
    from benchmarks.sizes import Sizes
    from benchmarks.subject import Figure
    from benchmarks.workers import Workers

_SLOTS = 5
_SETTLED_IN = 100_000
"""After so many jobs, nothing should grow any more."""
_PARTS = 10
_SOAKS = 3
_PATIENCE_SECONDS = 600


def cost(jobu: Jobu, sizes: Sizes) -> Iterator[Figure]:
    """Measure what a job that does nothing costs; these figures need no quiet machine."""
    jobs = sizes.jobs(jobu.expected_rate)
    jobu.clear()
    jobu.fill(jobs, jobu.ways()[0])
    with started(jobu.ways()[0]) as workers:
        workers.wait_until(lambda: workers.tally.count() > 0, "the first job")
        used, already = workers.cpu_seconds(), workers.tally.count()
        workers.wait_until(lambda: workers.tally.count() >= jobs, f"{jobs} jobs to run")
        yield "processor time per job", 1e6 * (workers.cpu_seconds() - used) / (jobs - already)
    jobu.clear()
    jobu.fill(jobs, jobu.ways()[0])
    yield "statements for 1,000 jobs", 1000 * _statements_of_a_drain() / jobs


def _statements_of_a_drain() -> int:
    """Count what a worker, here in this process, asks of the database from its start to its end."""
    from django.db.backends.signals import connection_created

    from jobu import Worker

    statements: list[str] = []

    def count(execute: Any, sql: str, *arguments: Any) -> Any:
        statements.append(sql)
        return execute(sql, *arguments)

    def watch(connection: Any, **_: Any) -> None:
        connection.execute_wrappers.append(count)

    # Its threads have connections of their own.
    connection_created.connect(watch)
    try:
        worker = Worker(drain=True)
        worker.start()
        worker.join()
    finally:
        connection_created.disconnect(watch)
    return len(statements)


def slot_use(jobu: Jobu, sizes: Sizes) -> Iterator[Figure]:
    """Measure which part of the time five slots were busy with jobs that take a while."""
    jobs = int(_SLOTS * sizes.nap_seconds / NAP_SECONDS)
    jobu.clear()
    jobu.fill_with("nap", jobs)
    with started(jobu.ways()[0]) as workers:
        # All of them: what was begun before the clock started must not count as done after it.
        workers.wait_until(lambda: workers.tally.count() >= _SLOTS, "the first job of each slot")
        begin, already = time.perf_counter(), workers.tally.count()
        workers.wait_until(lambda: workers.tally.count() >= jobs, f"{jobs} jobs to run")
        elapsed = time.perf_counter() - begin
    yield "slot use", 100 * (jobs - already) * NAP_SECONDS / (_SLOTS * elapsed)


def soak(jobu: Jobu, sizes: Sizes) -> Iterator[Figure]:
    """Measure whether the last of very many jobs are as fast as the first, in as much memory.

    Of several soaks the median: the last tenth of a fast one takes a few seconds, no longer than
    a slow moment of the machine.
    """
    speeds, memories = zip(*(_soak(jobu, sizes.soak_jobs) for _ in range(_SOAKS)), strict=True)
    yield "soak, last tenth beside the first", median(speeds)
    yield "soak, memory at the end beside that after the beginning", median(memories)


def _soak(jobu: Jobu, jobs: int) -> tuple[float, float]:
    """Return the rate of the last tenth beside the first, and the memory at the end likewise."""
    jobu.clear()
    jobu.fill(jobs, jobu.ways()[0])
    with started(jobu.ways()[0]) as workers:
        _wait_for(workers, 1)
        first = _best_rate(workers, jobs // 10)
        _wait_for(workers, max(_SETTLED_IN, jobs // 10))
        memory = _memory(workers)
        _wait_for(workers, jobs - jobs // 10)
        last = _best_rate(workers, jobs)
        return last / first, _memory(workers) / memory


def _best_rate(workers: Workers, count: int) -> float:
    """Return the best of several rates until `count` have run: others use the machine, too."""
    rates = []
    already = workers.tally.count()
    for part in range(1, _PARTS + 1):
        begin, before = time.perf_counter(), workers.tally.count()
        _wait_for(workers, already + (count - already) * part // _PARTS)
        rates.append((workers.tally.count() - before) / (time.perf_counter() - begin))
    return max(rates)


def _wait_for(workers: Workers, count: int) -> None:
    workers.wait_until(
        lambda: workers.tally.count() >= count, f"{count} jobs to run", patience=_PATIENCE_SECONDS
    )


def _memory(workers: Workers) -> int:
    pages = Path(f"/proc/{workers.processes[0].pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
