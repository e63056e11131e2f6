"""How many executions to claim ahead of free slots. Pure, apart from the clock."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_HORIZON_SECONDS = 0.1
_WEIGHT = 0.1


class Pace:
    """Measures how long jobs take, so that executions claimed ahead start within the horizon.

    Short jobs are claimed in batches. Long jobs are claimed one per free slot, because an execution
    must not wait in one worker's memory while another worker is idle.
    """

    def __init__(self) -> None:
        self._mean = 0.0
        self._last = float("-inf")

    def observe(self, lengths: Sequence[float]) -> None:
        """Take note of how many seconds each run took that has finished since the last call.

        Their plain mean counts, with the weight of that many runs. Their order does not matter:
        among a thousand short jobs a few always seem long, because their thread had to wait for
        the interpreter.
        """
        if not lengths:
            return
        weight = 1 - (1 - _WEIGHT) ** len(lengths)
        self._mean += weight * (sum(lengths) / len(lengths) - self._mean)
        self._last = time.monotonic()

    def ahead(self, slots: int, limit: int) -> int:
        """Return how many executions the slots will start within the horizon, up to `limit`."""
        # Slots that have finished nothing lately are busy with long jobs, whatever the mean says.
        if self._mean > _HORIZON_SECONDS or time.monotonic() - self._last > _HORIZON_SECONDS:
            return 0
        return min(limit, int(slots * _HORIZON_SECONDS / max(self._mean, 1e-6)))
