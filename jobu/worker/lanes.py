"""Where a worker claims next: it looks at all lanes when it must, and guesses when it can."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from jobu.queue.lanes import find_lanes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jobu.queue.lanes import Lane, Place

_AGE_SECONDS = 1.0
_REST = 20
"""For how many times as long as a look took there is none, while there is something to claim.

Claimed rows stay in the index until they are vacuumed or purged, and a look reads over them.
"""


class Lanes:
    """The lanes of some queues, or of all, as the last look found them."""

    def __init__(self, queues: Sequence[str]) -> None:
        self.must_look = True
        """Whether something may have changed since the last look."""
        self.next_due = float("inf")
        self._queues = queues
        self._found: list[Lane] = []
        self._end: Place | None = None
        self._fresh_until = 0.0
        self._rests_until = 0.0
        self._likely: Lane | None = None
        self._may_guess = False

    def call(self, *, is_execution: bool) -> None:
        """Take notice: something has changed; `is_execution` if that is a new execution."""
        self._may_guess = is_execution
        self.must_look = True

    def forget(self) -> None:
        """Look at once the next time: what was found is not so any more."""
        self._found = []
        self.must_look = True

    def due(self) -> list[Lane]:
        """Return the lanes with executions to claim, in the order to claim from."""
        now = time.monotonic()
        due = self._known_due()
        if (self.must_look or now >= self._fresh_until) and not (due and now < self._rests_until):
            self._look(now)
            due = self._known_due()
        if due:
            self._likely = replace(due[0], claimed_to=None)
        return due

    def guess(self) -> list[Lane]:
        """Return the one lane where the execution that we were called for will be, most often.

        Who was idle and claims there at once saves half of the time until it starts. Afterwards
        look, whether the guess was right or not: only a look keeps the order of priorities.
        """
        may_guess, self._may_guess = self._may_guess, False
        is_idle = not self._known_due()
        return [replace(self._likely)] if may_guess and is_idle and self._likely else []

    def _look(self, now: float) -> None:
        # Before looking: whoever calls meanwhile wants another look.
        self.must_look = False
        found = find_lanes(self._queues, self._end)
        is_part = self._end is not None or found.end is not None
        self._found, self._end = found.lanes, found.end
        # Where there are very many lanes, one that is due may be behind those of this look.
        self.must_look = self.must_look or (is_part and not found.due)
        soonest = min((lane.due_in for lane in found.not_due), default=float("inf"))
        self.next_due = now + min(soonest, found.aside_in)
        self._fresh_until = min(now + _AGE_SECONDS, self.next_due)
        self._rests_until = now + (1 + _REST) * (time.monotonic() - now)

    def _known_due(self) -> list[Lane]:
        return [lane for lane in self._found if lane.due_in <= 0]
