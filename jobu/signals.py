"""Lifecycle signals. They are sent in the process where the thing happens, after its commit.

`execution_enqueued` is the exception: it is sent inside the caller's transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.dispatch import Signal

from jobu import logs

if TYPE_CHECKING:
    from jobu.outcomes import Outcome

execution_enqueued = Signal()
"""Sent with `execution` (a JobExecution) for each new one; see `jobu.queue.enqueue`."""

execution_started = Signal()
"""Sent with `attempt` (an Attempt) by a worker, in the thread that runs the handler."""

execution_settled = Signal()
"""Sent with `outcome` (an Outcome) by a worker, once the outcome is in the database."""

execution_rescued = Signal()
"""Sent with `outcome` (an Outcome) by the process that found a dead one's execution."""

execution_died = Signal()
"""Sent with `outcome` (an Outcome) for each execution that ends FAILED or TIMEOUT, in any way."""


def settled(outcome: Outcome) -> None:
    """Tell receivers that a run's outcome is in the database."""
    send(execution_settled, outcome=outcome)
    if outcome.is_dead:
        send(execution_died, outcome=outcome)


def rescued(outcome: Outcome) -> None:
    """Tell receivers that a dead process's run has been failed in the database."""
    send(execution_rescued, outcome=outcome)
    if outcome.is_dead:
        send(execution_died, outcome=outcome)


def send(signal: Signal, **named: Any) -> None:
    """Send from a process's own thread, where a failing receiver must not stop the work."""
    # Asked first because it costs nothing, once per job.
    if signal.receivers and signal.has_listeners():
        for _receiver, response in signal.send_robust(sender=None, **named):
            if isinstance(response, Exception):
                logs.receiver_failed(named, response)
