"""What the log says of an execution.

A line names its id, handler and attempt, in the text and as `extra` fields.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from jobu.logs.logger import logger
from jobu.printable import Lines, first_line

if TYPE_CHECKING:
    from collections.abc import Collection

    from jobu.attempts import Attempt
    from jobu.outcomes import Outcome


def started(attempt: Attempt) -> None:
    _about(logging.DEBUG, attempt, "started")


def settled(outcome: Outcome) -> None:
    """Log the outcome of a run."""
    attempt = outcome.attempt
    if outcome.error is not None:
        _failed(outcome, outcome.error)
    elif not logger.isEnabledFor(logging.INFO):
        # This is the usual case, once for each job: it must cost as little as possible.
        return
    elif not outcome.counted:
        _about(logging.INFO, attempt, "given back unfinished")
    elif outcome.delay is not None:
        text = "will be run again in %.1f s, as it asks: %s"
        _about(logging.INFO, attempt, text, outcome.delay, outcome.message)
    else:
        text = "%s after %.3f s"
        _about(logging.INFO, attempt, text, outcome.status.value, outcome.seconds)


def _failed(outcome: Outcome, error: dict[str, Any]) -> None:
    """Log a failure as an ERROR, whether it will be retried or not.

    Two that will be retried are a WARNING. A conflict left nothing behind, and on some databases
    conflicts are normal; a lack of connections is no fault of the handler.
    """
    is_retried = outcome.delay is not None
    if outcome.lacks_connection and is_retried:
        text = "the database has no connection left for it, will be tried again in %.1f s: %s"
        _about(logging.WARNING, outcome.attempt, text, outcome.delay, outcome.message)
        return
    _about(
        logging.WARNING if outcome.is_conflict and is_retried else logging.ERROR,
        outcome.attempt,
        "%s after %.3f s%s: %s\n%s",
        error["status"],
        outcome.seconds,
        f", will be tried again in {outcome.delay:.1f} s" if is_retried else "",
        outcome.message,
        Lines(error["traceback"]),
    )


def late(outcome: Outcome) -> None:
    text = "late result %s dropped: the execution was rescued from this process meanwhile"
    _about(logging.WARNING, outcome.attempt, text, outcome.status.value)


def forgotten(who: str, keys: Collection[tuple[int, int]]) -> None:
    logger.warning(
        "%s claimed again what it already holds: %s. The database has forgotten the first claims; "
        "their results will be dropped. Did a standby take over that had not seen them?",
        who,
        ", ".join(f"execution {pk} attempt {number}" for pk, number in sorted(keys)),
    )


def rescued(outcome: Outcome) -> None:
    attempt = outcome.attempt
    fate = "will be tried again" if outcome.delay is not None else f"ends {outcome.status.value}"
    text = "rescued from process %s, which stopped beating; %s"
    _about(logging.WARNING, attempt, text, attempt.claimed_by, fate)


def abandoned(attempt: Attempt, reason: str, stack: str) -> None:
    text = "%s, but the handler does not stop; its slot was replaced. It is here:\n%s"
    _about(logging.ERROR, attempt, text, reason, Lines(stack))


def tasks_left(attempt: Attempt, names: list[str]) -> None:
    text = "the handler ended and left %d tasks behind, which are cancelled: %s"
    _about(logging.WARNING, attempt, text, len(names), ", ".join(names[:10]))


def forked(attempt: Attempt) -> None:
    text = "the handler forked and returned in the child, too; the child ends here"
    _about(logging.ERROR, attempt, text)


def unsettleable(attempt: Attempt, error: BaseException) -> None:
    text = "its outcome cannot be stored, it ends FAILED: %s"
    _about(logging.ERROR, attempt, text, first_line(error))


def backoff_broken(attempt: Attempt, error: BaseException) -> None:
    _about(logging.ERROR, attempt, "its backoff function failed, the default is used: %s", error)


def _about(level: int, attempt: Attempt, text: str, *args: Any) -> None:
    if not logger.isEnabledFor(level):
        return
    logger.log(
        level,
        "execution %s (%s, attempt %s): " + text,
        attempt.execution_id,
        attempt.handler_name,
        attempt.number,
        *args,
        extra={
            "execution_id": attempt.execution_id,
            "handler": attempt.handler_name,
            "attempt": attempt.number,
        },
    )
