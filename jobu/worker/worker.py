"""The worker's loop: settle what is done, claim what is due, run it."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, TypeVar

from jobu import logs
from jobu.conf import settings
from jobu.exceptions import JobCancelled, JobReleased
from jobu.models import JobExecution
from jobu.models.process import ProcessKind
from jobu.processes.housekeeper import Chore
from jobu.processes.polling import PollingProcess
from jobu.queue.rescue import orphans
from jobu.worker.exchange import Exchange
from jobu.worker.known_lanes import KnownLanes
from jobu.worker.pool import Pool
from jobu.worker.run_logs import RunLogs
from jobu.worker.watchdog import Watchdog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jobu.attempts import Attempt
    from jobu.handlers.context import CurrentJob
    from jobu.worker.known_lanes import Wanted

_Number = TypeVar("_Number", int, float)

_STALE_SECONDS = 0.25
"""How long a claimed execution waits for a slot before it is given back to other workers."""
_LINGER_SECONDS = 0.02
"""The maximum time that an outcome waits for others to be settled with, while more is to run."""
_CHORE_INTERVAL_SECONDS = 1.0
_CONTENDED_SECONDS = 0.1
_LAST_SETTLE_SECONDS = 10.0


class Worker(PollingProcess):
    """Runs executions of some queues, or of all, until it is stopped.

        with Worker(queues=["mail"]) as worker:
            ...
            worker.running_jobs

    Options that are not given come from the settings. With `drain` it stops by itself when nothing
    is claimable.
    """

    kind = ProcessKind.WORKER.value

    def __init__(
        self,
        *,
        queues: Sequence[str] = (),
        pool_size: int | None = None,
        poll_interval: float | None = None,
        max_poll_interval: float | None = None,
        claim_batch_size: int | None = None,
        shutdown_timeout: float | None = None,
        drain: bool = False,
    ) -> None:
        self._pool_size = _positive("pool_size", pool_size, settings.WORKER_POOL_SIZE)
        super().__init__(queues=queues, slots=self._pool_size)
        self._poll_interval = _positive(
            "poll_interval", poll_interval, settings.WORKER_POLL_INTERVAL_SECONDS
        )
        maximum = _positive(
            "max_poll_interval", max_poll_interval, settings.WORKER_MAX_POLL_INTERVAL_SECONDS
        )
        self._max_poll_interval = max(self._poll_interval, maximum)
        self._claim_batch_size = _positive(
            "claim_batch_size", claim_batch_size, settings.WORKER_CLAIM_BATCH_SIZE
        )
        self._shutdown_timeout = _given(shutdown_timeout, settings.WORKER_SHUTDOWN_TIMEOUT_SECONDS)
        self.shutdown_seconds = self._shutdown_timeout + _LAST_SETTLE_SECONDS + 1
        self._drain = drain
        self._idle_interval = self._poll_interval
        self._pool = Pool(
            self._pool_size,
            name=self.name,
            batch_size=self._claim_batch_size,
            max_wait=settings.LEASE_SECONDS / 2,
            on_batch=self._wake.set,
        )
        self._slots = self._pool.slots
        self._lanes = KnownLanes(self.queues)
        self._exchange = Exchange(self._slots, self._lanes, self.heartbeat.process_id, self.name)
        self._watchdog = Watchdog(self._pool, f"{self.name}-watchdog")
        self._run_logs = RunLogs(self.heartbeat.process_id, lambda: self.running_jobs)

    @property
    def running_jobs(self) -> list[CurrentJob]:
        """The jobs that run right now."""
        return [run.job for run in self._slots.runs()]

    def wake(self) -> None:
        """Poll at once, and look again at the lanes."""
        self._lanes.note_change(is_new_execution=self._listener.hears_executions)
        super().wake()

    def describe(self) -> str:
        queues = ", ".join(self.queues) or "all queues"
        return f"{queues}; {self._pool_size} slots; pid {os.getpid()}"

    def begin(self) -> None:
        self._run_logs.start()
        self._watchdog.start()

    def poll(self) -> float:
        self._beat_if_late()
        self._exchange.give_back_unknown()
        self._slots.right_of_way.pause()
        self._collect()
        wanted = self._choose()
        attempts = self._settle_and_claim(wanted)
        self._slots.add(attempts)
        self._watchdog.notice()
        self._stop_if_over(wanted)
        delay = self._delay(wanted, len(attempts))
        if delay:
            self._slots.right_of_way.resume()
        return delay

    def finish(self) -> None:
        self._exchange.give_back(self._slots.take_waiting())
        self._settle_until(time.monotonic() + self._shutdown_timeout)
        for run in self._slots.runs():
            run.ask_to_stop(JobReleased)
        self._settle_until(time.monotonic() + _LAST_SETTLE_SECONDS)
        if unsettled := self._exchange.unsettled:
            logs.left_unsettled(len(unsettled))
        self._run_logs.stop()
        self._watchdog.stop()
        self._pool.close()

    def doubt(self) -> None:
        self._exchange.doubt()

    def chores(self) -> list[Chore]:
        return [
            Chore(_CHORE_INTERVAL_SECONDS, self._pass_on_cancels_and_progress),
            Chore(_CHORE_INTERVAL_SECONDS, self._run_logs.flush),
        ]

    def _beat_if_late(self) -> None:
        if self.heartbeat.is_late():
            # The machine slept for longer than a lease: be alive again before claiming.
            self.heartbeat.beat()

    def _collect(self) -> None:
        """Take from the slots what is to be settled: outcomes, and attempts that wait too long."""
        self._exchange.unsettled += self._slots.take_outcomes()
        self._exchange.give_back(self._slots.take_waiting(older_than=_STALE_SECONDS))

    def _choose(self) -> Wanted:
        """Choose what to claim; nothing, if the worker is stopping."""
        room, free = (0, 0) if self.is_stopping else self._slots.room()
        return self._lanes.choose(room, free)

    def _settle_and_claim(self, wanted: Wanted) -> list[Attempt]:
        if not self._exchange.unsettled and not wanted.lanes:
            return []
        attempts = self._exchange.settle_and_claim(wanted)
        self._idle_interval = self._poll_interval
        return attempts

    def _delay(self, wanted: Wanted, claimed: int) -> float:
        """Poll again at once while there is work, later and later while there is none (M19)."""
        if self._slots.has_waiting():
            # One batch to run while the other is settled.
            has_room = claimed >= self._claim_batch_size <= self._slots.room()[0]
            return 0 if has_room else _LINGER_SECONDS
        if claimed or wanted.is_guess:
            return 0
        if not wanted.limit:
            return self._max_poll_interval
        if wanted.lanes:
            return min(_CONTENDED_SECONDS, self._poll_interval)
        if self._lanes.must_look:
            return 0
        delay = self._idle_interval
        self._lanes.keep_for(delay)
        self._idle_interval = min(2 * delay, self._max_poll_interval)
        return max(0.0, min(delay, self._lanes.next_due - time.monotonic()))

    def _stop_if_over(self, wanted: Wanted) -> None:
        abandoned = self._slots.abandoned()
        if abandoned >= self._pool_size and not self.is_stopping:
            logs.too_many_abandoned(abandoned)
            self.exit_code = 1
            self.request_stop()
        is_idle = not self._lanes.must_look and not wanted.lanes and self._slots.is_empty()
        # Executions of dead processes are not claimable before their rescue, which may be ours.
        if self._drain and is_idle and not orphans().exists():
            self.request_stop()

    def _settle_until(self, end: float) -> None:
        """Go on settling until nothing runs any more, or until `end`."""
        while True:
            self._wake.clear()
            delay = self.poll_safely()
            left = end - time.monotonic()
            if left <= 0 or (self._slots.is_empty() and not self._exchange.unsettled):
                return
            self._wake.wait(min(left, delay))

    def _pass_on_cancels_and_progress(self) -> None:
        """Pass cancellations on to running handlers, and their progress to the database."""
        runs = {r.attempt.execution_id: r for r in self._slots.runs() if not r.is_disowned}
        if not runs:
            return
        held = JobExecution.objects.held_by(self.heartbeat.process_id)
        for pk in held.filter(cancel_requested=True).values_list("id", flat=True):
            if pk in runs:
                runs[pk].ask_to_stop(JobCancelled)
        for pk, run in runs.items():
            progress = run.job.last_progress
            if progress is not run.flushed_progress:
                held.filter(id=pk, attempt=run.attempt.number).update(progress=progress)
                run.flushed_progress = progress


def _positive(name: str, given: _Number | None, default: _Number) -> _Number:
    value = _given(given, default)
    if value <= 0:
        raise ValueError(f"{name} must be greater than zero, not {value!r}")
    return value


def _given(given: _Number | None, default: _Number) -> _Number:
    return default if given is None else given
