"""The slots of a worker: room for so many jobs at once, in threads or on the event loop."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from contextvars import Context
from queue import SimpleQueue
from typing import TYPE_CHECKING

from asgiref.sync import ThreadSensitiveContext

from jobu.exceptions import JobReleased
from jobu.outcomes import released
from jobu.worker.connections import (
    close_connections,
    close_dead_connections,
    close_finished_connections,
)
from jobu.worker.event_loop import EventLoopThread
from jobu.worker.executor import execute, execute_async, outcome_of_abandoned
from jobu.worker.pace import Pace
from jobu.worker.run import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jobu.attempts import Attempt
    from jobu.outcomes import Outcome

_MOMENT_SECONDS = 0.00005
_LONGEST_PAUSE_SECONDS = 0.02
"""A loop that does not come back, because its database does not, must not stop the slots."""
_TURN_SECONDS = 0.001
"""How long async handlers that never await may follow one another, before others have a turn."""


class Pool:
    """Runs attempts in `size` slots and collects their outcomes.

    A synchronous handler has a thread to itself, an async one a task on the shared event loop.
    Whoever finishes a run takes the next waiting attempt itself.
    """

    def __init__(
        self,
        size: int,
        *,
        name: str,
        batch_size: int,
        max_wait: float,
        on_batch: Callable[[], None],
    ) -> None:
        self.size = size
        self._name = name
        self._batch_size = batch_size
        self._max_wait = max_wait
        self._on_batch = on_batch
        self._lock = threading.Lock()
        self._waiting: deque[tuple[float, Attempt]] = deque()
        self._runs: set[Run] = set()
        self._outcomes: list[Outcome] = []
        self._pace = Pace()
        self._paused_until = 0.0
        self._handoff: SimpleQueue[Run | None] = SimpleQueue()
        self._idle_threads = 0
        self._threads = 0
        self._abandoned: list[Run] = []
        self.event_loop = EventLoopThread(f"{name}-event-loop", self._give_up_event_loop)

    def add(self, attempts: Sequence[Attempt]) -> None:
        """Start attempts in free slots; the rest waits here."""
        now = time.monotonic()
        with self._lock:
            self._waiting.extend((now, attempt) for attempt in attempts)
            self._start_waiting()

    def room(self) -> tuple[int, int]:
        """Return how many attempts to claim now, and how many of them will start at once."""
        with self._lock:
            free = self.size - len(self._runs)
            # One batch to run while the next is being claimed.
            ahead = self._pace.ahead(self.size, 2 * self._batch_size)
            return max(0, min(self._batch_size, free + ahead - len(self._waiting))), free

    def take_outcomes(self) -> list[Outcome]:
        with self._lock:
            taken, self._outcomes = self._outcomes, []
        self._pace.observe([outcome.seconds for outcome in taken])
        return taken

    def take_waiting(self, *, older_than: float = 0) -> list[Attempt]:
        """Take back attempts that found no slot within `older_than` seconds."""
        oldest = time.monotonic() - older_than
        taken = []
        with self._lock:
            while self._waiting and self._waiting[0][0] <= oldest:
                taken.append(self._waiting.popleft()[1])
        return taken

    def pause(self) -> None:
        """Let the worker's loop go first: start nothing for a moment, until `resume()`.

        The loop needs the interpreter shortly and often, to give the database its next work; slots
        want it all the time, and whoever has it may keep it for five milliseconds. Without a pause
        the database would wait for the slots, and then the slots for the database.
        """
        self._paused_until = time.monotonic() + _LONGEST_PAUSE_SECONDS

    def resume(self) -> None:
        self._paused_until = 0.0

    def runs(self) -> list[Run]:
        with self._lock:
            return list(self._runs)

    def holds(self) -> list[Attempt]:
        """Return everything that waits, runs or is to be settled."""
        with self._lock:
            attempts = [attempt for _since, attempt in self._waiting]
            attempts += [run.attempt for run in self._runs]
            attempts += [outcome.attempt for outcome in self._outcomes]
        return attempts

    def disown(self, keys: set[tuple[int, int]]) -> None:
        """Drop what is held under these keys, and whatever comes of what runs under them."""
        with self._lock:
            for run in self._runs:
                run.is_disowned |= run.attempt.key in keys
            self._waiting = deque(each for each in self._waiting if each[1].key not in keys)
            self._outcomes = [each for each in self._outcomes if each.attempt.key not in keys]

    def has_waiting(self) -> bool:
        return bool(self._waiting)

    def is_empty(self) -> bool:
        with self._lock:
            return not (self._runs or self._waiting or self._outcomes)

    def abandoned(self) -> int:
        """Count the handlers that ignored their interrupt and still run."""
        with self._lock:
            return len(self._abandoned)

    def report(self, run: Run, outcome: Outcome, *, abandon: bool = False) -> bool:
        """Hand in a run's outcome and free its slot; False if somebody else did before.

        A thread that was interrupted is not used again: its connections may be in any state.
        `abandon` says that the handler even ignores the interrupt and is still in there.
        """
        if not run.may_report():
            return False
        self._let_others_out()
        with self._lock:
            self._take_in(run, outcome)
            if abandon:
                self._abandoned.append(run)
            if not run.is_async:
                self._threads -= 1
            self._start_waiting()
            is_batch = self._has_batch()
        if is_batch:
            self._on_batch()
        return True

    def replace_event_loop(self, blocked: EventLoopThread) -> list[Run]:
        """Leave a blocked event loop to the handler that blocks it; return who is stuck with it."""
        with self._lock:
            if self.event_loop is blocked:
                name = f"{self._name}-event-loop"
                self.event_loop = EventLoopThread(name, self._give_up_event_loop)
            return [run for run in self._runs if run.event_loop is blocked]

    def close(self) -> None:
        """Let idle threads go. Those of abandoned handlers are daemons and end with the process."""
        with self._lock:
            for _ in range(self._threads):
                self._handoff.put(None)
        self.event_loop.stop()

    def _next_run(self) -> Run | None:
        """Take the next waiting attempt into a free slot. Needs the lock."""
        while self._waiting and len(self._runs) < self.size:
            since, attempt = self._waiting.popleft()
            if time.monotonic() - since > self._max_wait:
                # The machine slept; others may have rescued it by now.
                self._outcomes.append(released(attempt))
                continue
            run = Run(attempt)
            self._runs.add(run)
            return run
        return None

    def _start(self, run: Run) -> None:
        """Give the run to the event loop, to an idle thread or to a new one. Needs the lock."""
        if run.is_async:
            run.event_loop = self.event_loop
            self.event_loop.spawn(self._run_task(run))
        elif self._idle_threads:
            self._idle_threads -= 1
            self._handoff.put(run)
        else:
            self._threads += 1
            threading.Thread(
                target=self._run_thread, args=(run,), name=f"{self._name}-slot", daemon=True
            ).start()

    async def _run_task(self, first: Run) -> None:
        run: Run | None = first
        task = asyncio.current_task()
        turn_ends = time.monotonic() + _TURN_SECONDS
        # A thread of its own for the ORM: calls of different slots do not queue behind each other.
        async with ThreadSensitiveContext():
            while run is not None:
                run.task = task
                run.thread_id = threading.get_ident()
                outcome = await execute_async(run)
                run = self._report_and_go_on(run, outcome)
                if time.monotonic() > turn_ends:
                    await asyncio.sleep(0)
                    turn_ends = time.monotonic() + _TURN_SECONDS

    def _run_thread(self, first: Run) -> None:
        run: Run | None = first
        try:
            while run is not None:
                close_dead_connections()
                run.thread_id = threading.get_ident()
                # An empty context: no language, time zone or variable of the job before.
                outcome = Context().run(execute, run)
                close_finished_connections()
                may_go_on = run.interrupt is None
                run = self._report_and_go_on(run, outcome)
                if run is None and may_go_on:
                    run = self._handoff.get()
        finally:
            close_connections()

    def _report_and_go_on(self, run: Run, outcome: Outcome) -> Run | None:
        """Report, and take the next run for the same thread or task, if it may have one."""
        if run.interrupt is not None:
            if not self.report(run, outcome):
                self._forget(run)
            return None
        self._let_others_out()
        with self._lock:
            self._take_in(run, outcome)
            next_run = self._next_alike(run)
            if next_run is None and not run.is_async:
                self._idle_threads += 1
            is_batch = self._has_batch()
        if is_batch:
            self._on_batch()
        return next_run

    def _let_others_out(self) -> None:
        """Wait while the slots are paused, and until the lock looks free.

        Whoever stands in line for a lock owns it the moment it is released, long before that
        thread has the interpreter. The next one, running already, must then wait for a thread
        that does not run, and so on: soon each job costs a switch between threads. So nobody
        stands in line: who runs goes on running.

        Not by `acquire(blocking=False)`: an interrupt that was meant for another handler of the
        event loop could strike right after it, and nobody would release the lock.
        """
        while time.monotonic() < self._paused_until or self._lock.locked():
            time.sleep(_MOMENT_SECONDS)

    def _take_in(self, run: Run, outcome: Outcome) -> None:
        """Free the run's slot and keep its outcome. Needs the lock."""
        self._runs.discard(run)
        if not run.is_disowned:
            self._outcomes.append(outcome)

    def _has_batch(self) -> bool:
        """Tell whether there is a full batch of outcomes, or all there will be. Needs the lock."""
        return not self._waiting or len(self._outcomes) >= self._batch_size

    def _next_alike(self, run: Run) -> Run | None:
        """Take the next run that can follow where `run` ran; start others. Needs the lock."""
        may_go_on = not run.has_left_traces and run.event_loop in {None, self.event_loop}
        while (next_run := self._next_run()) is not None:
            if may_go_on and next_run.is_async is run.is_async:
                next_run.event_loop = run.event_loop
                return next_run
            self._start(next_run)
        return None

    def _start_waiting(self) -> None:
        """Fill the free slots. Needs the lock."""
        while (run := self._next_run()) is not None:
            self._start(run)

    def _give_up_event_loop(self, broken: EventLoopThread, error: Exception) -> None:
        for run in self.replace_event_loop(broken):
            # Its task may be closed some day, and must not take the next run then.
            run.ask_to_stop(JobReleased)
            self.report(run, outcome_of_abandoned(run, error, run.stack()), abandon=True)

    def _forget(self, run: Run) -> None:
        """An abandoned handler came to its end after all."""
        with self._lock:
            if run in self._abandoned:
                self._abandoned.remove(run)
