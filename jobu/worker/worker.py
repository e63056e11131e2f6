"""The worker's loop: settle what is done, claim what is due, in one transaction."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, TypeVar

from django.db import connections

from jobu import logs, signals
from jobu.attempts import Attempt
from jobu.conf import settings
from jobu.dialects import dialect_for
from jobu.exceptions import JobCancelled, JobReleased
from jobu.models import JobExecution
from jobu.models.job_execution import ATTEMPT_FIELDS
from jobu.models.process import ProcessKind
from jobu.outcomes import released
from jobu.processes.housekeeper import Chore
from jobu.processes.polling import PollingProcess
from jobu.queue.claim import claim, claim_alone
from jobu.queue.rescue import orphans
from jobu.queue.settle import REFUSED, Settlement, settle_one_by_one
from jobu.transactions import write_transaction
from jobu.worker.lanes import Lanes
from jobu.worker.pool import Pool
from jobu.worker.run_logs import RunLogs
from jobu.worker.watchdog import Watchdog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jobu.handlers.context import CurrentJob
    from jobu.outcomes import Outcome
    from jobu.queue.lanes import Lane

_Number = TypeVar("_Number", int, float)

_STALE_SECONDS = 0.25
"""How long a claimed execution waits for a slot before it is given back for others to run."""
_LINGER_SECONDS = 0.02
"""How long an outcome waits at most for others to be settled with, while there is more to run."""
_WATCH_INTERVAL_SECONDS = 1.0
_CONTENDED_SECONDS = 0.1
_LAST_SETTLE_SECONDS = 10.0


class Worker(PollingProcess):
    """Runs executions of some queues, or of all, until it is stopped.

        with Worker(queues=["mail"]) as worker:
            ...
            worker.running_jobs

    What is not given comes from the settings. With `drain` it stops by itself once nothing is
    claimable.
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
        self._max_poll_interval = max(
            self._poll_interval,
            _positive(
                "max_poll_interval", max_poll_interval, settings.WORKER_MAX_POLL_INTERVAL_SECONDS
            ),
        )
        self._claim_batch_size = _positive(
            "claim_batch_size", claim_batch_size, settings.WORKER_CLAIM_BATCH_SIZE
        )
        self._shutdown_timeout = (
            settings.WORKER_SHUTDOWN_TIMEOUT_SECONDS
            if shutdown_timeout is None
            else shutdown_timeout
        )
        self.shutdown_seconds = self._shutdown_timeout + _LAST_SETTLE_SECONDS + 1
        self._drain = drain
        self._idle_interval = self._poll_interval
        self._lanes = Lanes(self.queues)
        self._has_guessed = False
        self._unsettled: list[Outcome] = []
        self._commit_is_uncertain = False
        self._ask_again_at = time.monotonic() + settings.LEASE_SECONDS
        self._pool = Pool(
            self._pool_size,
            name=self.name,
            batch_size=self._claim_batch_size,
            max_wait=settings.LEASE_SECONDS / 2,
            on_batch=self._wake.set,
        )
        self._watchdog = Watchdog(self._pool, f"{self.name}-watchdog")
        self._run_logs = RunLogs(self.heartbeat.process_id, lambda: self.running_jobs)

    @property
    def running_jobs(self) -> list[CurrentJob]:
        """The jobs that run right now."""
        return [run.job for run in self._pool.runs()]

    def wake(self) -> None:
        """Let the next poll come at once, and look anew at what waits."""
        self._lanes.call(is_execution=self._listener.hears_executions)
        super().wake()

    def describe(self) -> str:
        queues = ", ".join(self.queues) or "all queues"
        return f"{queues}; {self._pool_size} slots; pid {os.getpid()}"

    def begin(self) -> None:
        self._run_logs.start()
        self._watchdog.start()

    def poll(self) -> float:
        if self.heartbeat.is_late():
            # It slept past its lease (a stopped machine): be alive again before claiming.
            self.heartbeat.beat()
        if self._commit_is_uncertain or time.monotonic() >= self._ask_again_at:
            self._give_back_unknown()
        self._pool.pause()
        self._unsettled += self._pool.take_outcomes()
        self._give_back(self._pool.take_waiting(older_than=_STALE_SECONDS))
        room, free = (0, 0) if self.is_stopping else self._pool.room()
        # Not twice in a row: after a guess comes a look at all lanes.
        lanes = self._lanes.guess() if free and not self._has_guessed else []
        self._has_guessed = bool(lanes)
        if self._has_guessed:
            room = free
        elif room:
            lanes = self._lanes.due()
        attempts = self._settle_and_claim(lanes, room, free) if self._unsettled or lanes else []
        self._pool.add(attempts)
        self._watchdog.notice()
        self._stop_if_over(bool(lanes))
        delay = self._delay(room, bool(lanes), len(attempts))
        if delay:
            self._pool.resume()
        return delay

    def finish(self) -> None:
        self._give_back(self._pool.take_waiting())
        self._settle_until(time.monotonic() + self._shutdown_timeout)
        for run in self._pool.runs():
            run.ask_to_stop(JobReleased)
        self._settle_until(time.monotonic() + _LAST_SETTLE_SECONDS)
        if self._unsettled:
            logs.left_unsettled(len(self._unsettled))
        self._run_logs.stop()
        self._watchdog.stop()
        self._pool.close()

    def chores(self) -> list[Chore]:
        return [
            Chore(_WATCH_INTERVAL_SECONDS, self._watch),
            Chore(_WATCH_INTERVAL_SECONDS, self._run_logs.flush),
        ]

    def _settle_and_claim(self, lanes: Sequence[Lane], room: int, free: int) -> list[Attempt]:
        outcomes = self._unsettled
        to_store = [outcome for outcome in outcomes if not outcome.is_stored]
        settlement = Settlement(to_store)
        attempts: list[Attempt] = []
        self._commit_is_uncertain = True
        dialect = dialect_for(settings.DATABASE)
        process_id = self.heartbeat.process_id
        try:
            if self._has_guessed and not to_store and dialect.claims_alone:
                attempts = claim_alone(lanes[0], room, process_id)
                self._disown(attempts)
            else:
                with write_transaction(settings.DATABASE):
                    dialect.reach_rows_by_key(
                        connections[settings.DATABASE], max(len(to_store), room if lanes else 0)
                    )
                    # From here on the loop does little but wait for the database.
                    self._pool.resume()
                    settlement.write()
                    attempts = claim(lanes, room, process_id, free=free)
                    # Before the commit: once they are ours, an earlier run could settle them.
                    self._disown(attempts)
        except REFUSED:
            outcomes = settle_one_by_one(outcomes)
        self._commit_is_uncertain = False
        self._unsettled = []
        for outcome in outcomes:
            logs.settled(outcome)
            signals.send(signals.execution_settled, outcome=outcome)
        self._idle_interval = self._poll_interval
        # A short claim emptied a lane; what was settled may have left a retry or a follow-up.
        if len(attempts) < room:
            self._lanes.forget()
        return attempts

    def _delay(self, room: int, has_due: bool, claimed: int) -> float:
        """Poll again at once while there is work, later and later while there is none (M19)."""
        if self._pool.has_waiting():
            # One batch to run while the other is settled.
            has_room = claimed >= self._claim_batch_size <= self._pool.room()[0]
            return 0 if has_room else _LINGER_SECONDS
        if claimed or self._has_guessed:
            return 0
        if not room:
            return self._max_poll_interval
        if has_due:
            return min(_CONTENDED_SECONDS, self._poll_interval)
        if self._lanes.must_look:
            return 0
        delay = self._idle_interval
        self._idle_interval = min(2 * delay, self._max_poll_interval)
        return max(0.0, min(delay, self._lanes.next_due - time.monotonic()))

    def _give_back(self, attempts: Sequence[Attempt]) -> None:
        self._unsettled += [released(attempt) for attempt in attempts]

    def _give_back_unknown(self) -> None:
        """Give back what the database says is ours, and we do not know of.

        A commit's answer was lost, or a standby took over, unnoticed behind a proxy. While we live
        nobody else rescues it.
        """
        known = {a.key for a in self._pool.holds()} | {o.attempt.key for o in self._unsettled}
        held = JobExecution.objects.held_by(self.heartbeat.process_id).values_list(*ATTEMPT_FIELDS)
        attempts = [Attempt(*row) for row in held]
        self._give_back([attempt for attempt in attempts if attempt.key not in known])
        # The lanes may think that more of them was claimed than there was.
        self._lanes.forget()
        self._commit_is_uncertain = False
        self._ask_again_at = time.monotonic() + settings.LEASE_SECONDS

    def _disown(self, claimed: Sequence[Attempt]) -> None:
        """Drop what we hold of the same attempts: who can claim them again has forgotten us.

        A standby that had not seen the first claim took over. What has the id now may even be
        another execution, and the fence alone cannot tell it from the one that vanished.
        """
        held = self._pool.holds()
        # By ids alone at first, because that is quick, and nearly always the end of it.
        if {a.execution_id for a in held}.isdisjoint([a.execution_id for a in claimed]):
            return
        if twice := {a.key for a in held}.intersection(a.key for a in claimed):
            logs.forgotten(self.name, twice)
            self._pool.disown(twice)

    def _stop_if_over(self, has_due: bool) -> None:
        abandoned = self._pool.abandoned()
        if abandoned >= self._pool_size and not self.is_stopping:
            logs.too_many_abandoned(abandoned)
            self.exit_code = 1
            self.request_stop()
        is_idle = not self._lanes.must_look and not has_due and self._pool.is_empty()
        # What dead processes hold is not claimable before its rescue, which may be ours to do.
        if self._drain and is_idle and not orphans().exists():
            self.request_stop()

    def _settle_until(self, end: float) -> None:
        """Go on settling until nothing runs any more, or until `end`."""
        while True:
            self._wake.clear()
            delay = self.attempt_poll()
            left = end - time.monotonic()
            if left <= 0 or (self._pool.is_empty() and not self._unsettled):
                return
            self._wake.wait(min(left, delay))

    def _watch(self) -> None:
        """Pass on cancellations to running handlers, and their progress to the database."""
        runs = {r.attempt.execution_id: r for r in self._pool.runs() if not r.is_disowned}
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
    value = default if given is None else given
    if value <= 0:
        raise ValueError(f"{name} must be greater than zero, not {value!r}")
    return value
