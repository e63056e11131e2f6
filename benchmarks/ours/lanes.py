"""jobu among very many lanes: each execution may have a queue or a priority of its own."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.measures import drain, latency
from benchmarks.workers import Way, started

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.ours.queue import Jobu
    from benchmarks.sizes import Sizes
    from benchmarks.subject import Figure

_FAR = datetime(2999, 1, 1, tzinfo=UTC)
_LOOKS = 20
_BUSY = ("--poll-interval", "0.005", "--max-poll-interval", "0.005")
"""Where a worker polls, its latency is mostly the time until its next poll, which is not meant."""
_SAMPLES = 300


def many_lanes(jobu: Jobu, sizes: Sizes) -> Iterator[Figure]:
    """Compare the latency with that without such lanes, in turns; time what looks at them."""
    [command] = jobu.ways()[0].commands
    busy = Way("busy", [[*command, *_BUSY]])
    enough = replace(sizes, latency_jobs=min(_SAMPLES, 10 * sizes.latency_jobs), latency_seconds=15)
    ratios, setting_aside = [], []
    for _ in range(sizes.turns):
        jobu.clear()
        alone = median(latency(busy, jobu.enqueue_stamp, enough))
        _fill(sizes.lanes, _FAR)
        setting_aside.append(_set_aside(jobu))
        ratios.append(median(latency(busy, jobu.enqueue_stamp, enough)) / alone)
    yield "latency among many lanes", median(ratios)
    yield "setting many lanes aside", median(setting_aside)
    yield from _looks()
    jobu.clear()
    _fill(sizes.lanes, None)
    yield "drain of many lanes", drain(jobu.ways()[0], sizes.lanes).ran


def _set_aside(jobu: Jobu) -> float:
    """Return the milliseconds from a worker's start until it has set them aside."""
    from jobu.queue.lanes import look

    with started(jobu.ways()[0]) as workers:
        return _milliseconds(
            lambda: workers.wait_until(lambda: not look().end, "lanes to be set aside", look=0.05)
        )


def _looks() -> Iterator[Figure]:
    from django.http import HttpRequest

    from jobu.api.metrics import metrics
    from jobu.queue.lanes import look
    from jobu.reading import Range, read_overview

    yield "look among many lanes", median(_milliseconds(look) for _ in range(_LOOKS))
    yield "metrics among many lanes", _milliseconds(lambda: metrics(HttpRequest()))
    yield "dashboard among many lanes", _milliseconds(lambda: read_overview(Range.HOUR))


def _fill(lanes: int, available_at: datetime | None) -> None:
    """Insert an execution for each lane, half of them by queue and half by priority."""
    from jobu.models import JobExecution

    when = {} if available_at is None else {"available_at": available_at}
    JobExecution.objects.bulk_create(
        [
            JobExecution(
                handler_name="noop",
                queue=f"lane{number}" if number % 2 else "default",
                priority=0 if number % 2 else number // 2 + 1,
                **when,
            )
            for number in range(lanes)
        ],
        batch_size=1000,
    )


def _milliseconds(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return 1000 * (time.perf_counter() - begin)
