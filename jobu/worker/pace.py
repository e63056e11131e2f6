"""How much to claim ahead of free slots. Pure, apart from the clock."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_HORIZON_SECONDS = 0.1
_WEIGHT = 0.1


class Pace:
    """Follow how long jobs take, so that what is claimed ahead starts within the horizon.

    Short jobs are claimed in batches; long ones one per free slot, because an execution must not
    wait in one worker's memory while another worker is idle.
    """

    def __init__(self) -> None:
        self._mean = 0.0
        self._last = float("-inf")

    def observe(self, lengths: Sequence[float]) -> None:
        """Take note of how many seconds the runs took that finished since the last time.

        Their plain mean counts, as much as all of them together would one by one: the order in
        which they finished says nothing, and of a thousand short jobs a few always seem long,
        because their thread had to wait for the interpreter.
        """
        if not lengths:
            return
        weight = 1 - (1 - _WEIGHT) ** len(lengths)
        self._mean += weight * (sum(lengths) / len(lengths) - self._mean)
        self._last = time.monotonic()

    def ahead(self, slots: int, limit: int) -> int:
        """Return how many executions `slots` slots will start within the horizon."""
        # Slots that have finished nothing lately are busy with something long, whatever the mean.
        if self._mean > _HORIZON_SECONDS or time.monotonic() - self._last > _HORIZON_SECONDS:
            return 0
        return min(limit, int(slots * _HORIZON_SECONDS / max(self._mean, 1e-6)))
