"""jobu among very many lanes: each message may name a queue or a priority of its own."""

from __future__ import annotations

import json
import time
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.measures import drain, latency

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.ours.queue import Jobu
    from benchmarks.sizes import Sizes
    from benchmarks.subject import Figure

_FAR = "2999-01-01T00:00:00Z"
_BATCH = 500
_LOOKS = 20


def many_lanes(jobu: Jobu, sizes: Sizes) -> Iterator[Figure]:
    """Compare the latency with that without such lanes, in turns; time what looks at them."""
    ratios = []
    for _ in range(sizes.turns):
        jobu.clear()
        alone = median(latency(jobu.ways()[0], jobu.enqueue_stamp, sizes))
        _fill(sizes.lanes, _FAR)
        ratios.append(median(latency(jobu.ways()[0], jobu.enqueue_stamp, sizes)) / alone)
    yield "latency among many lanes", median(ratios)
    yield from _looks()
    jobu.clear()
    _fill(sizes.lanes, None)
    yield "drain of many lanes", drain(jobu.ways()[0], sizes.lanes).ran


def _looks() -> Iterator[Figure]:
    from django.http import HttpRequest

    from jobu.api.metrics import metrics
    from jobu.queue.lanes import look
    from jobu.stats import Range, read_overview

    yield "look among many lanes", median(_milliseconds(look) for _ in range(_LOOKS))
    yield "metrics among many lanes", _milliseconds(lambda: metrics(HttpRequest()))
    yield "dashboard among many lanes", _milliseconds(lambda: read_overview(Range.HOUR))


def _fill(lanes: int, available_at: str | None) -> None:
    """Store a message for each lane, half of them by queue and half by priority."""
    from jobu.adapters.base import QueueMessage
    from jobu.queue.events import store

    messages = [
        QueueMessage(id=str(number), body=json.dumps(event).encode())
        for number, event in enumerate(_events(lanes, available_at))
    ]
    for start in range(0, lanes, _BATCH):
        if store(messages[start : start + _BATCH], "benchmark"):
            raise AssertionError("a message became a dead letter")


def _events(lanes: int, available_at: str | None) -> Iterator[dict[str, object]]:
    for number in range(lanes):
        lane = {"queue": f"lane{number}"} if number % 2 else {"priority": number // 2 + 1}
        yield {"handler_name": "noop", "available_at": available_at, **lane}


def _milliseconds(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return 1000 * (time.perf_counter() - begin)
