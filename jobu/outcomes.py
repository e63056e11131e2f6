"""The outcome of a run, and the change it makes to its execution. Decides; writes nothing."""

from __future__ import annotations

import traceback
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from jobu.attempts import Attempt  # noqa: TC001 - a NamedTuple's types are looked at when it is made
from jobu.jsonable import storable_text
from jobu.printable import first_line

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_MESSAGE_LENGTH = 2_000
MAX_TRACEBACK_LENGTH = 10_000
SHORTEST_WAIT_SECONDS = 1.0
"""The minimum between two runs that count as no failure: they may go on for ever."""


class Status(TextChoices):
    PENDING = "PENDING", _("pending")
    RUNNING = "RUNNING", _("running")
    SUCCESS = "SUCCESS", _("success")
    FAILED = "FAILED", _("failed")
    TIMEOUT = "TIMEOUT", _("timeout")
    CANCELLED = "CANCELLED", _("cancelled")


FINISHED = (Status.SUCCESS, Status.FAILED, Status.TIMEOUT, Status.CANCELLED)
DEAD = (Status.FAILED, Status.TIMEOUT)


class Outcome(NamedTuple):
    """The change a run makes to its execution's row. None leaves a column as it is.

    `started` and `finished` are readings of this machine's monotonic clock; an outcome without
    `finished` is finished when it is settled. `is_stored`: an atomic run has written the outcome
    itself. `is_conflict`: the database rolled the run back in favour of another transaction.
    `lacks_connection`: the database had no connection left for the run. The repr leaves out the
    result.
    """

    attempt: Attempt
    status: Status
    retry_count: int
    counted: bool = True
    delay: float | None = None
    result: str | None = None
    message: str | None = None
    error: dict[str, Any] | None = None
    progress: dict[str, Any] | None = None
    started: float | None = None
    finished: float | None = None
    is_stored: bool = False
    is_conflict: bool = False
    lacks_connection: bool = False

    def __repr__(self) -> str:
        return f"<Outcome {self.status.value} of {self.attempt!r}: {self.message!r}>"

    @property
    def is_dead(self) -> bool:
        """Tell whether the execution ends here, out of attempts."""
        return self.error is not None and self.status in DEAD

    @property
    def seconds(self) -> float:
        if self.started is None or self.finished is None:
            return 0.0
        return self.finished - self.started


def succeeded(
    attempt: Attempt,
    result: str | None,
    *,
    progress: dict[str, Any] | None = None,
    started: float | None = None,
    finished: float | None = None,
) -> Outcome:
    return Outcome(
        attempt,
        Status.SUCCESS,
        retry_count=attempt.retry_count,
        result=result,
        message="",
        progress=progress,
        started=started,
        finished=finished,
    )


def failed(
    attempt: Attempt, message: str, trace: str, *, retry_delay: Callable[[int], float] | None
) -> Outcome:
    """Retry after `retry_delay(failures)` seconds while the execution has runs left."""
    return _failure(attempt, Status.FAILED, message, trace, retry_delay)


def timed_out(
    attempt: Attempt, trace: str, *, retry_delay: Callable[[int], float] | None
) -> Outcome:
    message = f"The handler ran longer than its timeout of {attempt.timeout_seconds} s."
    return _failure(attempt, Status.TIMEOUT, message, trace, retry_delay)


def cancelled(attempt: Attempt) -> Outcome:
    return Outcome(
        attempt,
        Status.CANCELLED,
        retry_count=attempt.retry_count,
        message="Cancelled while it ran.",
    )


def released(attempt: Attempt) -> Outcome:
    """Give the attempt back as if it had never been claimed."""
    return Outcome(attempt, Status.PENDING, retry_count=attempt.retry_count, counted=False)


def put_off(attempt: Attempt, message: str, seconds: float) -> Outcome:
    """Let the execution wait as its handler asks, without a failure.

    The message says why. There is no entry in `errors`, which may be as many as the waits.
    """
    return Outcome(
        attempt,
        Status.PENDING,
        retry_count=attempt.retry_count,
        delay=max(seconds, SHORTEST_WAIT_SECONDS),
        message=storable_text(message, MAX_MESSAGE_LENGTH),
    )


def unsettleable(outcome: Outcome, error: BaseException) -> Outcome:
    """Replace an outcome that the database refuses to store by one that it can store."""
    reason = f"The outcome {outcome.status} could not be stored: {first_line(describe(error))}"
    failure = _failure(outcome.attempt, Status.FAILED, reason, "", None)
    return failure._replace(started=outcome.started, finished=outcome.finished)


def describe(error: BaseException) -> str:
    """Return the error as one message, such as `ValueError: no such user`."""
    return "".join(traceback.format_exception_only(error)).strip()


def _failure(
    attempt: Attempt,
    status: Status,
    message: str,
    trace: str,
    retry_delay: Callable[[int], float] | None,
) -> Outcome:
    message = storable_text(message, MAX_MESSAGE_LENGTH)
    failures = attempt.retry_count + 1
    retries = retry_delay is not None and failures < attempt.max_retry
    return Outcome(
        attempt,
        Status.PENDING if retries else status,
        retry_count=failures,
        delay=retry_delay(failures) if retries and retry_delay else None,
        message=message,
        error={
            "attempt": attempt.number,
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "process": str(attempt.claimed_by),
            "status": status.value,
            "message": message,
            "traceback": storable_text(trace, MAX_TRACEBACK_LENGTH),
        },
    )
