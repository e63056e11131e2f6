"""Stop handlers that run too long, and abandon those that do not stop."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from django.db import connections

from jobu import logs
from jobu.conf import settings
from jobu.dialects import dialect_for
from jobu.exceptions import JobReleased, JobTimeout
from jobu.worker.executor import outcome_of_abandoned

if TYPE_CHECKING:
    from jobu.exceptions import JobInterrupted
    from jobu.worker.pool import Pool
    from jobu.worker.run import Run

_TICK_SECONDS = 0.2
_GRACE_SECONDS = 0.75
"""How long an interrupted handler has to clean up before its slot is given to another."""


class Watchdog(threading.Thread):
    """Watches the runs of a pool. Its thread uses no database, so nothing delays it."""

    def __init__(self, pool: Pool, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self._pool = pool
        self._busy = threading.Event()
        self._stopping = False

    def notice(self) -> None:
        """Wake up, because there may be runs."""
        self._busy.set()

    def stop(self) -> None:
        self._stopping = True
        self._busy.set()

    def run(self) -> None:
        while not self._stopping:
            runs = self._pool.slots.runs()
            if not runs:
                self._busy.wait()
                self._busy.clear()
                continue
            for run in runs:
                try:
                    self._look_at(run)
                except Exception as error:  # noqa: BLE001 - the other runs have timeouts, too
                    logs.unexpected("Watching a run", error)
            time.sleep(_TICK_SECONDS)

    def _look_at(self, run: Run) -> None:
        now = time.monotonic()
        if run.interrupt is None:
            if now >= run.job.ends_at:
                run.ask_to_stop(JobTimeout)
        elif now - run.interrupted_at > _GRACE_SECONDS:
            self._abandon(run, run.interrupt)
        elif run.blocks_its_loop():
            run.strike()

    def _abandon(self, run: Run, interrupt: type[JobInterrupted]) -> None:
        blocks_its_loop = run.blocks_its_loop()
        stack = run.stack()
        outcome = outcome_of_abandoned(run, interrupt(), stack)
        # A handler that is stuck behind the one that blocked its event loop ignores nothing.
        is_stuck = run.event_loop is not None and run.event_loop.is_replaced
        if not self._pool.slots.report(run, outcome, abandon=not is_stuck):
            return
        logs.abandoned(run.attempt, interrupt.__name__, stack)
        if blocks_its_loop and run.event_loop is not None:
            for other in self._pool.replace_event_loop(run.event_loop):
                other.ask_to_stop(JobReleased)
        if run.session_id is not None:
            threading.Thread(target=_abort_session, args=(run.session_id,), daemon=True).start()


def _abort_session(session_id: object) -> None:
    """End the transaction of an abandoned atomic handler: others may wait for its locks."""
    alias = settings.DATABASE
    try:
        dialect_for(alias).abort(connections[alias], session_id)
    except Exception as error:  # noqa: BLE001 - nothing else can be done about it here
        logs.unexpected("Aborting an abandoned handler's transaction", error)
    finally:
        connections.close_all()
