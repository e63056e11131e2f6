"""How much to claim ahead of free slots. Pure, apart from the clock."""

from __future__ import annotations

import time

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

    def observe(self, seconds: float) -> None:
        """Take note of a finished run's length."""
        self._mean += _WEIGHT * (seconds - self._mean)
        self._last = time.monotonic()

    def ahead(self, slots: int, limit: int) -> int:
        """Return how many executions `slots` slots will start within the horizon."""
        # Slots that have finished nothing lately are busy with something long, whatever the mean.
        if self._mean > _HORIZON_SECONDS or time.monotonic() - self._last > _HORIZON_SECONDS:
            return 0
        return min(limit, int(slots * _HORIZON_SECONDS / max(self._mean, 1e-6)))
