"""When to leave messages where they are: enough waits in the database."""

from __future__ import annotations

import time

from jobu import logs
from jobu.queue.pending import count_claimable

_LOOK_SECONDS = 1.0
_RESUME_BELOW = 0.9


class Backpressure:
    """Counts now and then, and what was added since: a count for each batch would cost too much."""

    def __init__(self, max_pending: int | None, who: str) -> None:
        self._max_pending = max_pending
        self._who = who
        self._pending = 0
        self._counted_at = float("-inf")
        self._is_paused = False

    def room(self, wanted: int) -> int:
        """Return how many of the wanted messages may come now."""
        if self._max_pending is None:
            return wanted
        if time.monotonic() - self._counted_at >= _LOOK_SECONDS:
            self._count(self._max_pending)
        return 0 if self._is_paused else max(0, min(wanted, self._max_pending - self._pending))

    def add(self, count: int) -> None:
        self._pending += count

    def _count(self, limit: int) -> None:
        self._pending = count_claimable(limit)
        self._counted_at = time.monotonic()
        if not self._is_paused and self._pending >= limit:
            self._is_paused = True
            logs.queue_paused(self._who, self._pending)
        elif self._is_paused and self._pending <= limit * _RESUME_BELOW:
            self._is_paused = False
            logs.queue_resumed(self._who, self._pending)
