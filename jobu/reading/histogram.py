"""Histograms of durations, for percentiles with an error of about a tenth. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_SHORTEST_SECONDS = 0.001
_GROWTH = 1.2


def bin_of(seconds: float) -> str:
    """Return the name of the bin of a duration; a text, because it becomes a key in JSON.

    Bin n ends at `_SHORTEST_SECONDS * _GROWTH ** n`.
    """
    if seconds <= _SHORTEST_SECONDS:
        return "0"
    return str(math.ceil(math.log(seconds / _SHORTEST_SECONDS, _GROWTH) - 1e-9))


def percentile(histogram: Mapping[str, int], share: float) -> float | None:
    """Return the percentile `share` (0 to 1) in seconds; None if there are no durations."""
    wanted = share * sum(histogram.values())
    seen = 0
    last: int | None = None
    for number in sorted(map(int, histogram)):
        seen, last = seen + histogram[str(number)], number
        if seen >= wanted - 1e-9:
            break
    return None if last is None else _middle(last)


def _middle(number: int) -> float:
    """Return a duration that differs by a tenth at most from any in the bin."""
    if number == 0:
        return _SHORTEST_SECONDS
    return float(_SHORTEST_SECONDS * _GROWTH ** (number - 0.5))
