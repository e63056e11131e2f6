"""Send alerts from another process while no living worker could: it is what they may be about."""

from __future__ import annotations

import threading
import time
import traceback
from functools import partial
from typing import TYPE_CHECKING

from django.db import connections

from jobu import logs, outcomes, signals
from jobu.alerts.sending import ALERT_QUEUE
from jobu.conf import settings
from jobu.handlers.registry import handlers
from jobu.jsonable import encode_result
from jobu.queue.claim import claim
from jobu.queue.lanes import look
from jobu.queue.settle import settle_one_by_one
from jobu.reading.waits import living_processes
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from uuid import UUID

    from jobu.attempts import Attempt
    from jobu.outcomes import Outcome


class StandIn:
    """Runs the executions of the alerts' queue in a thread of its own, one after the other.

    They are claimed for the process that it belongs to, so they are rescued if that one dies. Not
    for a worker: that gives back what it holds without knowing it.
    """

    def __init__(self, process_id: UUID) -> None:
        self._process_id = process_id
        self._thread: threading.Thread | None = None

    def send_if_needed(self) -> None:
        """Begin, if nobody else sends what is due; return at once, because a heart must beat."""
        if self._thread is not None and self._thread.is_alive():
            return
        if not look([ALERT_QUEUE]).due:
            return
        if any(each.serves(ALERT_QUEUE) for each in living_processes()):
            return
        self._thread = threading.Thread(target=self._send_all, name="alerts", daemon=True)
        self._thread.start()

    def _send_all(self) -> None:
        try:
            while attempts := self._claim():
                for attempt in attempts:
                    outcome = _run(attempt)
                    for settled in settle_one_by_one([outcome]):
                        logs.settled(settled)
                        signals.settled(settled)
        except Exception as error:  # noqa: BLE001 - what was claimed is rescued, and tried again
            logs.unexpected("Sending alerts", error)
        finally:
            connections.close_all()

    def _claim(self) -> list[Attempt]:
        lanes = look([ALERT_QUEUE]).due
        with write_transaction(settings.DATABASE):
            return claim(lanes, 1, self._process_id)


def _run(attempt: Attempt) -> Outcome:
    started = time.monotonic()
    try:
        result = handlers[attempt.handler_name].bind(attempt.params)()
        outcome = outcomes.succeeded(attempt, encode_result(result))
    except Exception as error:  # noqa: BLE001 - whatever it raises is its outcome
        options = handlers.options_of(attempt.handler_name)
        outcome = outcomes.failed(
            attempt,
            outcomes.describe(error),
            "".join(traceback.format_exception(error)),
            retry_delay=partial(options.retry_delay, attempt) if options.retries(error) else None,
        )
    return outcome._replace(started=started, finished=time.monotonic())
