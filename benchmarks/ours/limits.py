"""jobu beside what its database does without it, in turns: a machine is not always as fast."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.ours.queue import Jobu
    from benchmarks.raw.limit import RawLimit
    from benchmarks.sizes import Sizes
    from benchmarks.subject import Figure

_LIMIT = "batch 100"
_MEASURES = (", 100", "insert")
"""How the measures of a raw subject end that jobu's are compared with."""


def beside_raw(jobu: Jobu, raw: RawLimit, sizes: Sizes) -> Iterator[Figure]:
    """Compare jobu's drains and its enqueue with the raw statements; each ratio is a median.

    Where there are several raw ways, the one that leaves jobu the least counts.
    """
    raw.prepare()
    turns = [(_rates(jobu, sizes), _raw_rates(raw, sizes)) for _ in range(sizes.turns)]

    def ratio(ours: str, theirs: str) -> float:
        return median(rates[ours] / limits[theirs] for rates, limits in turns)

    raw_figures = turns[0][1]
    limits = [figure for figure in raw_figures if figure.endswith(_LIMIT)]
    for handlers in ("sync", "async"):
        least = min(ratio(f"drain {handlers}", limit) for limit in limits)
        yield f"{handlers} beside the raw limit", least
    if "enqueue" in raw_figures:
        yield "enqueue beside the raw insert", ratio("enqueue", "enqueue")


def _rates(jobu: Jobu, sizes: Sizes) -> dict[str, float]:
    sync, asynchronous = jobu.ways()[:2]
    return {
        **dict(jobu.drain(sync, sizes)),
        **dict(jobu.drain(asynchronous, sizes)),
        **dict(jobu.enqueue_rate(sizes)),
    }


def _raw_rates(raw: RawLimit, sizes: Sizes) -> dict[str, float]:
    return {
        figure: rate
        for name, measure in raw.measures(sizes)
        if name.endswith(_MEASURES)
        for figure, rate in measure()
    }
