"""The slots of a worker: attempts that wait for one, runs that have one, and their outcomes."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING

from jobu.outcomes import released
from jobu.worker.pace import Pace
from jobu.worker.run import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jobu.attempts import Attempt
    from jobu.outcomes import Outcome

_MOMENT_SECONDS = 0.00005
_MAX_PAUSE_SECONDS = 0.02
"""The loop may wait for a database that does not answer; that must not stop the slots."""


class RightOfWay:
    """Decides who goes first: the worker's loop, then the holder of the lock, then the slots."""

    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock
        self._paused_until = 0.0

    def pause(self) -> None:
        """Let the worker's loop go first: no slot starts its next run until `resume()`.

        The loop needs the interpreter shortly and often, to give the database its next work. Slots
        want it all the time, and a thread that has it may keep it for five milliseconds. Without a
        pause the database would wait for the slots, and then the slots for the database.
        """
        self._paused_until = time.monotonic() + _MAX_PAUSE_SECONDS

    def resume(self) -> None:
        """Let the slots go on."""
        self._paused_until = 0.0

    def give_way(self) -> None:
        """Wait while the slots are paused, and until the lock looks free.

        A thread that stands in line for a lock owns it the moment it is released, long before
        that thread has the interpreter. The next thread, which is running already, must then wait
        for a thread that does not run, and so on: soon each job costs a switch between threads.
        So nobody stands in line, and a thread that runs goes on running.

        Not by `acquire(blocking=False)`: an interrupt that was meant for another handler of the
        event loop could strike right after it, and nobody would release the lock.
        """
        while time.monotonic() < self._paused_until or self._lock.locked():
            time.sleep(_MOMENT_SECONDS)


class Slots:
    """Room for `size` runs at once. One lock guards all of its state; public methods take it.

    `start` gives a run its thread or its task. It is called with the lock held, so that the lock
    guards what `start` uses, too: `idle_threads`, for one. `on_batch` is called without it, when
    the outcomes that are here should be settled.
    """

    def __init__(
        self,
        size: int,
        *,
        batch_size: int,
        max_wait: float,
        start: Callable[[Run], None],
        on_batch: Callable[[], None],
    ) -> None:
        self.size = size
        self.lock = threading.Lock()
        self.right_of_way = RightOfWay(self.lock)
        self.idle_threads = 0
        self._batch_size = batch_size
        self._max_wait = max_wait
        self._start = start
        self._on_batch = on_batch
        self._waiting: deque[tuple[float, Attempt]] = deque()
        self._runs: set[Run] = set()
        self._outcomes: list[Outcome] = []
        self._abandoned: list[Run] = []
        self._pace = Pace()

    def add(self, attempts: Sequence[Attempt]) -> None:
        """Start attempts in free slots; the others wait here."""
        now = time.monotonic()
        with self.lock:
            self._waiting.extend((now, attempt) for attempt in attempts)
            self._fill()

    def room(self) -> tuple[int, int]:
        """Return how many attempts to claim now, and how many of them will start at once."""
        with self.lock:
            free = self.size - len(self._runs)
            # One batch to run while the next is being claimed.
            ahead = self._pace.ahead(self.size, 2 * self._batch_size)
            return max(0, min(self._batch_size, free + ahead - len(self._waiting))), free

    def take_outcomes(self) -> list[Outcome]:
        with self.lock:
            taken, self._outcomes = self._outcomes, []
        self._pace.observe([outcome.seconds for outcome in taken])
        return taken

    def take_waiting(self, *, older_than: float = 0) -> list[Attempt]:
        """Take back the attempts that have waited for a slot for `older_than` seconds."""
        latest = time.monotonic() - older_than
        taken = []
        with self.lock:
            while self._waiting and self._waiting[0][0] <= latest:
                taken.append(self._waiting.popleft()[1])
        return taken

    def runs(self) -> list[Run]:
        with self.lock:
            return list(self._runs)

    def unended(self) -> list[Run]:
        """Return the runs whose handlers have not ended, abandoned ones included."""
        with self.lock:
            return [*self._runs, *self._abandoned]

    def held(self) -> list[Attempt]:
        """Return the attempts of everything that waits, runs or is to be settled."""
        with self.lock:
            attempts = [attempt for _since, attempt in self._waiting]
            attempts += [run.attempt for run in self._runs]
            attempts += [outcome.attempt for outcome in self._outcomes]
        return attempts

    def disown(self, keys: set[tuple[int, int]]) -> None:
        """Drop the attempts with these keys; of those that run, drop the outcomes."""
        with self.lock:
            for run in self._runs:
                run.is_disowned |= run.attempt.key in keys
            self._waiting = deque(each for each in self._waiting if each[1].key not in keys)
            self._outcomes = [each for each in self._outcomes if each.attempt.key not in keys]

    def has_waiting(self) -> bool:
        return bool(self._waiting)

    def is_empty(self) -> bool:
        with self.lock:
            return not (self._runs or self._waiting or self._outcomes)

    def abandoned(self) -> int:
        """Count the handlers that ignored their interrupt and still run."""
        with self.lock:
            return len(self._abandoned)

    def finish(self, run: Run, outcome: Outcome) -> Run | None:
        """Report the run from its own thread or task; return the next run for the same one.

        A thread or task that was interrupted gets no next run: its connections may be in any
        state.
        """
        if run.interrupt is None:
            return self._free(run, outcome, after=run)
        if not self.report(run, outcome):
            self._forget_abandoned(run)
        return None

    def report(self, run: Run, outcome: Outcome, *, abandon: bool = False) -> bool:
        """Report an interrupted run and free its slot; False if it was reported before.

        `abandon` says that the handler ignores its interrupt and still runs.
        """
        if not run.may_report():
            return False
        self._free(run, outcome, abandon=abandon)
        return True

    def _free(
        self, run: Run, outcome: Outcome, *, after: Run | None = None, abandon: bool = False
    ) -> Run | None:
        """Keep the outcome and fill the slots; return the run that follows `after`, if one does."""
        self.right_of_way.give_way()
        with self.lock:
            self._runs.discard(run)
            if not run.is_disowned:
                self._outcomes.append(outcome)
            if abandon:
                self._abandoned.append(run)
            next_run = self._fill(after)
            if next_run is None and after is not None and not after.is_async:
                self.idle_threads += 1
            # A full batch, or all that there will be.
            is_batch = not self._waiting or len(self._outcomes) >= self._batch_size
        if is_batch:
            self._on_batch()
        return next_run

    def _fill(self, after: Run | None = None) -> Run | None:
        """Start waiting attempts in free slots; return the first that can go where `after` ran.

        Needs the lock.
        """
        if after is not None and not after.can_be_followed():
            after = None
        while self._waiting and len(self._runs) < self.size:
            since, attempt = self._waiting.popleft()
            if time.monotonic() - since > self._max_wait:
                # The machine slept; others may have rescued it by now.
                self._outcomes.append(released(attempt))
                continue
            run = Run(attempt)
            self._runs.add(run)
            if after is not None and run.is_async is after.is_async:
                run.event_loop = after.event_loop
                return run
            self._start(run)
        return None

    def _forget_abandoned(self, run: Run) -> None:
        """An abandoned handler came to its end after all."""
        with self.lock:
            if run in self._abandoned:
                self._abandoned.remove(run)
