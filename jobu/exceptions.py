"""Everything jobu raises: errors under `JobuError`, interrupts under `JobInterrupted`."""

from __future__ import annotations

from django.db import DatabaseError


class JobuError(Exception):
    """The root of jobu's errors."""


class HandlerError(JobuError):
    """A handler is defined in a way that cannot work."""


class DuplicateHandlerError(HandlerError):
    """Two handlers carry the same name."""


class OptionError(JobuError, ValueError):
    """An option of a handler or an execution has a value that cannot work."""


class UnknownOptionError(OptionError, TypeError):
    """An option has a name that jobu does not know; the text says which is meant."""


class HandlerNotFoundError(JobuError, LookupError):
    """No installed app has a handler of that name."""


class ParamsError(JobuError, ValueError):
    """The params do not fit what the handler asks for."""


class RetryLater(JobuError):  # noqa: N818 - read as what it asks for: raise RetryLater(seconds=60)
    """A handler raises it to be run again later, such as when a service has said `Retry-After`.

    It is a failed attempt, which is retried while attempts are left, whatever the handler's retry
    rule says. With `counted=False` it is none: the execution waits, and loses no attempt.
    """

    def __init__(self, reason: str = "", *, seconds: float, counted: bool = True) -> None:
        given: object = seconds
        is_number = isinstance(given, int | float) and not isinstance(given, bool)
        if not is_number or not 0 <= seconds < float("inf"):
            raise OptionError(f"seconds of RetryLater must be zero or more, not {seconds!r}")
        super().__init__(reason or f"to be run again in {seconds:g} s")
        self.seconds = seconds
        self.counted = counted


class MaskedError(JobuError, ValueError):
    """A mask was sent back where no value is known that it stands for."""


class NotJSONError(JobuError, TypeError):
    """A value cannot be stored as JSON."""


class ResultError(JobuError, TypeError):
    """A handler's result was made with values that it has no fields for, or without some."""


class DedupeKeyError(JobuError, ValueError):
    """The dedupe_key belongs to an execution of another handler."""


class NotMigratedError(JobuError, DatabaseError):
    """jobu's tables are missing, or older than the code: `manage.py migrate` was not run.

    A DatabaseError, too, so that what waits for a database waits for its tables.
    """


class NoCurrentJobError(JobuError, RuntimeError):
    """`current_job()` was called where no job runs."""


class TransactionError(JobuError):
    """A transaction over several databases did not commit on all of them."""


class LateOutcomesError(JobuError):
    """Some attempts were no longer this process's to settle."""


class MessageError(JobuError, ValueError):
    """A queue message cannot become an execution; the text says why."""


class DeadLetterError(JobuError):
    """A dead letter is not in a state for this."""


class AdapterError(JobuError):
    """The queue system cannot be used at the moment; its adapter goes on by itself once it can."""


class AlertError(JobuError):
    """An alert could not be sent; the text names the target, and no secret."""


class MissingExtraError(JobuError, ImportError):
    """A part of jobu is used whose extra is not installed."""


class JobInterrupted(BaseException):
    """jobu asks the running handler to stop.

    Not an `Exception`, so that a handler's `except Exception` does not swallow it. Clean up in
    `finally`, then let it go.
    """


class JobTimeout(JobInterrupted):
    """The handler ran past its `timeout_seconds`."""


class JobCancelled(JobInterrupted):
    """Somebody cancelled the execution while it ran."""


class JobReleased(JobInterrupted):
    """The worker is shutting down; the execution goes back to the queue, uncounted."""
