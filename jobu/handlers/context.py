"""What a running handler can learn about its own run."""

from __future__ import annotations

import math
import time
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from jobu.exceptions import NoCurrentJobError
from jobu.jsonable import storable_text

if TYPE_CHECKING:
    import asyncio

    from jobu.attempts import Attempt

MAX_NOTE_LENGTH = 500


class CurrentJob:
    """The running job as its handler sees it; get it with `current_job()`."""

    def __init__(self, attempt: Attempt) -> None:
        self.id = attempt.execution_id
        self.attempt = attempt.number
        self.process_id = attempt.claimed_by
        self.handler_name = attempt.handler_name
        self.queue = attempt.queue
        self.max_retry = attempt.max_retry
        self.timeout_seconds = attempt.timeout_seconds
        self.cancel_requested = False
        self.last_progress: dict[str, Any] | None = None
        self.ends_at = time.monotonic() + attempt.timeout_seconds
        self._tasks: WeakSet[asyncio.Task[Any]] | None = None

    @property
    def deadline(self) -> datetime:
        """The time at which the run times out, by this machine's clock."""
        return datetime.now(UTC) + timedelta(seconds=self.ends_at - time.monotonic())

    @property
    def remaining_seconds(self) -> float:
        """How long the run may still take; never below zero."""
        return max(0.0, self.ends_at - time.monotonic())

    @property
    def elapsed_seconds(self) -> float:
        """How long the run has taken so far."""
        return self.timeout_seconds - self.ends_at + time.monotonic()

    @property
    def started_at(self) -> datetime:
        """The time at which the run began, by this machine's clock."""
        return datetime.now(UTC) - timedelta(seconds=self.elapsed_seconds)

    def progress(self, done: float, total: float | None = None, note: str = "") -> None:
        """Say how far the work is. It is cheap: the latest is written about once a second."""
        self.last_progress = {
            "done": _number(done),
            "total": None if total is None else _number(total),
            "note": storable_text(str(note), MAX_NOTE_LENGTH),
        }

    def note_task(self, task: asyncio.Task[Any]) -> None:
        """Remember a task that the handler started."""
        if self._tasks is None:
            self._tasks = WeakSet()
        self._tasks.add(task)

    def cancel_tasks(self) -> list[str]:
        """Cancel the tasks that the handler left running; return their names."""
        return [task.get_name() for task in self._tasks or () if task.cancel()]


def _number(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(f"progress() takes finite numbers, not {value!r}")
    # A Decimal, for example, is a number, but not JSON.
    return value if type(value) is int else float(value)


_current: ContextVar[CurrentJob] = ContextVar("jobu_current_job")


def current_job() -> CurrentJob:
    """Return the job that runs here; raise `NoCurrentJobError` if none does."""
    try:
        return _current.get()
    except LookupError:
        raise NoCurrentJobError(
            "current_job() works only while a handler runs; no job runs here."
        ) from None


def find_current_job() -> CurrentJob | None:
    """Return the job that runs here, if there is one."""
    return _current.get(None)


class running:  # noqa: N801 - read as a verb: with running(job)
    """Let `current_job()` return `job` inside the block."""

    __slots__ = ("_job", "_token")

    def __init__(self, job: CurrentJob) -> None:
        self._job = job

    def __enter__(self) -> None:
        self._token = _current.set(self._job)

    def __exit__(self, *_: object) -> None:
        _current.reset(self._token)
