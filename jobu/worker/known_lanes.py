"""Where a worker claims next: it looks at all lanes when it must, and guesses when it can."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from jobu.queue.lanes import find_lanes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jobu.queue.lanes import Lane, Place

_AGE_SECONDS = 1.0
_REST = 20
"""A look is followed by a rest of this many times its length, while there is something to claim.

Claimed rows stay in the index until they are vacuumed or purged, and a look reads over them.
"""


class Wanted(NamedTuple):
    """What to claim: up to `limit` executions of the lanes; the first `free` start at once."""

    lanes: list[Lane]
    limit: int
    free: int
    is_guess: bool


class KnownLanes:
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
        self._has_guessed = False

    def note_change(self, *, is_new_execution: bool) -> None:
        """Look again soon, because something has changed; guess if it is a new execution."""
        self._may_guess = is_new_execution
        self.must_look = True

    def forget(self) -> None:
        """Drop what was found, because it is no longer true; the next claim begins with a look."""
        self._found = []
        self.must_look = True

    def keep_for(self, seconds: float) -> None:
        """Look again after so many seconds at the latest, as an idle worker's poll is to do."""
        self._fresh_until = min(self._fresh_until, time.monotonic() + seconds)

    def choose(self, room: int, free: int) -> Wanted:
        """Choose what to claim for `room` attempts, of which `free` would start at once."""
        # Never guess twice in a row: only a look finds what the other lanes have.
        guessed = self.guess() if free and not self._has_guessed else []
        self._has_guessed = bool(guessed)
        if guessed:
            return Wanted(guessed, free, free, is_guess=True)
        return Wanted(self.due() if room else [], room, free, is_guess=False)

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
        """Return the one lane in which a new execution most likely is, if a guess may help.

        An idle worker that claims there at once saves half of the time until the execution starts.
        A look must follow, whether the guess was right or not: only a look keeps the order of
        priorities.
        """
        may_guess, self._may_guess = self._may_guess, False
        is_idle = not self._known_due()
        return [replace(self._likely)] if may_guess and is_idle and self._likely else []

    def _look(self, now: float) -> None:
        # Set before the look: a change that is noted meanwhile needs another look.
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
