"""jobu beside what its database does without it, in turns: a machine is not always as fast."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.measures import rate_of, timed_rate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.ours.queue import Jobu
    from benchmarks.raw.limit import RawLimit
    from benchmarks.sizes import Sizes
    from benchmarks.subject import Figure

_BATCH = ", 100"
"""How those measures of a raw subject end that drains are compared with."""
_SHORTER = 4
"""So many times shorter are the turns of one enqueue, and as many times more: a disk is uneven."""


def beside_raw(jobu: Jobu, raw: RawLimit, sizes: Sizes) -> Iterator[Figure]:
    """Compare jobu's enqueues and its drains with the raw statements; each ratio is a median."""
    raw.prepare()
    # In this order: for a while after a drain, the server is busy writing.
    yield from _enqueues(jobu, raw, sizes)
    yield from _drains(jobu, raw, sizes)


def _enqueues(jobu: Jobu, raw: RawLimit, sizes: Sizes) -> Iterator[Figure]:
    seconds = sizes.enqueue_seconds / _SHORTER
    measures = dict(raw.measures(replace(sizes, enqueue_seconds=seconds)))
    if "insert" not in measures:
        return
    one_by_one = [
        rate_of(jobu.enqueue, seconds) / dict(measures["insert"]())["enqueue"]
        for _ in range(_SHORTER * sizes.turns)
    ]
    yield "enqueue beside the raw insert", median(one_by_one)
    in_bulk = [
        _bulk_rate(jobu, sizes) / dict(measures["insert many"]())["enqueue_many"]
        for _ in range(sizes.turns)
    ]
    yield "enqueue_many beside the raw unnest", median(in_bulk)


def _bulk_rate(jobu: Jobu, sizes: Sizes) -> float:
    jobs = sizes.jobs(jobu.expected_rate)
    jobu.clear()
    return timed_rate(lambda: jobu.fill(jobs, jobu.ways()[0]), jobs)


def _drains(jobu: Jobu, raw: RawLimit, sizes: Sizes) -> Iterator[Figure]:
    """Where there are several raw ways, the one that leaves jobu the least counts."""
    ways = jobu.ways()[:2]
    ratios: dict[str, dict[str, list[float]]] = {way.name: {} for way in ways}
    for _ in range(sizes.turns):
        limits = {
            figure: rate
            for name, measure in raw.measures(sizes)
            if name.endswith(_BATCH)
            for figure, rate in measure()
        }
        for way in ways:
            rate = dict(jobu.drain(way, sizes))[f"drain {way.name}"]
            for figure, limit in limits.items():
                ratios[way.name].setdefault(figure, []).append(rate / limit)
    for name, found in ratios.items():
        yield f"{name} beside the raw limit", min(map(median, found.values()))
