"""The measures that are taken of every subject in the same way."""

from __future__ import annotations

import random
import statistics
import time
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.workers import MeasureError, Way, Workers, started

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.sizes import Sizes

_LATENCY_LOOK_SECONDS = 0.0005
_WARM_UP_JOBS = 3
_FEWEST_SAMPLES = 3
_GAP_SECONDS = (0.005, 0.025)


class Drain(NamedTuple):
    """Jobs per second: until the last handler had run, and until the last outcome was stored."""

    ran: float
    settled: float


def drain(way: Way, jobs: int, settled: Callable[[], int] | None = None) -> Drain:
    """Start the workers of `way` on `jobs` that wait already, and time them.

    The clock starts when the first handler has run, so that starting Python is not counted, and
    stops when `settled` says that all are; it is asked only once all handlers have run.
    """
    with started(way) as workers:
        workers.wait_until(lambda: workers.tally.count() > 0, "the first job")
        begin, already = time.perf_counter(), workers.tally.count()
        workers.wait_until(lambda: workers.tally.count() >= jobs, f"{jobs} jobs to run")
        ran = time.perf_counter() - begin
        if settled is not None:
            workers.wait_until(
                lambda: settled() >= jobs, f"{jobs} jobs to be settled", look=2 * _seconds(settled)
            )
        took = time.perf_counter() - begin
    if already >= jobs:
        raise MeasureError("all jobs had run before the first look: too few jobs")
    return Drain((jobs - already) / ran, (jobs - already) / took)


def latency(way: Way, enqueue: Callable[[], object], sizes: Sizes) -> list[float]:
    """Return the milliseconds from enqueue's return to the handler's start, one job at a time."""
    with started(way) as workers:
        samples: list[float] = []
        for _ in range(_WARM_UP_JOBS):
            _latency(workers, enqueue)
        end = time.monotonic() + sizes.latency_seconds
        while len(samples) < sizes.latency_jobs:
            if time.monotonic() > end and len(samples) >= _FEWEST_SAMPLES:
                break
            # A poller must be met at any time of its interval, not always just after it looked.
            time.sleep(random.uniform(*_GAP_SECONDS))
            time.sleep(random.uniform(0, 2 * statistics.median(samples or [0]) / 1000))
            samples.append(_latency(workers, enqueue))
    return samples


def percentiles(samples: list[float]) -> Iterator[tuple[str, float]]:
    ordered = sorted(samples)
    for percent in (50, 99):
        yield f"latency p{percent}", ordered[min(len(ordered) * percent // 100, len(ordered) - 1)]


def rate_of(action: Callable[[], object], seconds: float) -> float:
    """Return how often a second `action` can be done, one at a time."""
    action()
    count, begin = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - begin) < seconds:
        action()
        count += 1
    return count / elapsed


def timed_rate(action: Callable[[], object], jobs: int) -> float:
    """Return jobs per second of one `action` that covers them all."""
    begin = time.perf_counter()
    action()
    return jobs / (time.perf_counter() - begin)


def _latency(workers: Workers, enqueue: Callable[[], object]) -> float:
    enqueue()
    enqueued = time.time()
    stamps: list[float] = []

    def has_started() -> bool:
        stamp = workers.tally.take_stamp()
        if stamp is not None:
            stamps.append(stamp)
        return bool(stamps)

    workers.wait_until(has_started, "a job to start", patience=20, look=_LATENCY_LOOK_SECONDS)
    # A handler may be ahead of the call that enqueued it; a ratio needs more than nothing.
    return max(0.01, (stamps[0] - enqueued) * 1000)


def _seconds(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return max(0.01, time.perf_counter() - begin)
