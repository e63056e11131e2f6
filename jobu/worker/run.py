"""A run: one attempt in a slot, from its start until its outcome is reported."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING, Any

from jobu.exceptions import JobCancelled, JobInterrupted
from jobu.handlers.context import CurrentJob
from jobu.handlers.registry import handlers
from jobu.worker.interrupts import (
    raise_in_thread,
    stack_of_task,
    stack_of_thread,
    withdraw_from_thread,
)

if TYPE_CHECKING:
    from jobu.attempts import Attempt
    from jobu.worker.event_loop import EventLoopThread

_SHORT_WHILE_SECONDS = 0.0001

_forks = 0
"""How many forks lie between the first process and this one."""


class Run:
    """One attempt in a slot.

    Several threads ask two questions, and must get the same answer: did the handler end before it
    was interrupted, and who reports the outcome? Each answer is a token in a list: the thread that
    takes the token wins. `list.pop` is atomic, and needs no lock. The thread that runs a handler
    may be hit by an exception at any bytecode, so it must not hold a lock here.
    """

    def __init__(self, attempt: Attempt) -> None:
        self.attempt = attempt
        self.spec = handlers.get(attempt.handler_name)
        self.is_async = self.spec is not None and self.spec.is_async
        self.is_atomic = self.spec is not None and self.spec.options.atomic
        self.job = CurrentJob(attempt)
        self.started = time.monotonic()
        self.interrupt: type[JobInterrupted] | None = None
        self.interrupted_at = 0.0
        self.thread_id = 0
        self.task: asyncio.Task[Any] | None = None
        self.event_loop: EventLoopThread | None = None
        self.session_id: Any = None
        self.error: BaseException | None = None
        """What the handler raised, until the outcome is decided."""
        self.has_left_traces = False
        """Whether the handler changed the task that it shares with later handlers."""
        self.flushed_progress: dict[str, Any] | None = None
        self.is_disowned = False
        """Whether the database has forgotten the claim; then the outcome is dropped."""
        self._has_ended = False
        self._struck = False
        self._end_token = [None]
        self._report_token = [None]
        self._was_raised = False
        self._forks = _forks

    def ask_to_stop(self, interrupt: type[JobInterrupted]) -> bool:
        """Interrupt the handler; False if it has ended or was interrupted before."""
        if not _take(self._end_token):
            return False
        self.interrupt = interrupt
        self.interrupted_at = time.monotonic()
        self.job.cancel_requested = interrupt is JobCancelled
        if self.task is not None:
            self.task.get_loop().call_soon_threadsafe(self.task.cancel)
        elif not self.is_async:
            raise_in_thread(self.thread_id, interrupt)
        self._was_raised = True
        return True

    def end(self) -> bool:
        """Say that the handler has ended; False if an interrupt came first.

        No interrupt arrives after this call.
        """
        if self._has_ended or _take(self._end_token):
            self._has_ended = True
            return True
        while True:
            try:
                # The thread that took the token is about to raise; this takes microseconds.
                while not self._was_raised:
                    time.sleep(_SHORT_WHILE_SECONDS)
                withdraw_from_thread(self.thread_id)
            except JobInterrupted:
                continue
            return False

    def blocks_its_loop(self) -> bool:
        """Tell whether an async handler runs right now, and so keeps its event loop busy."""
        return self.task is not None and asyncio.current_task(self.task.get_loop()) is self.task

    def strike(self) -> None:
        """Raise the interrupt in the event loop's thread, once.

        A task that blocks the loop is not reached by a cancellation.
        """
        if self.interrupt is not None and self.event_loop is not None and not self._struck:
            self._struck = True
            self.event_loop.strike(self.interrupt)

    def was_struck(self) -> bool:
        """Tell whether the watchdog raised the interrupt that arrived here, for any run."""
        return self.event_loop is not None and self.event_loop.was_struck()

    def is_in_child(self) -> bool:
        """Tell whether this is a process that the handler forked."""
        return self._forks != _forks

    def can_be_followed(self) -> bool:
        """Tell whether another run may begin in the same thread or task."""
        if self.event_loop is None:
            return True
        return not (self.has_left_traces or self.event_loop.is_replaced)

    def may_report(self) -> bool:
        """Answer True to the first caller, who then reports the outcome."""
        return _take(self._report_token)

    def stack(self) -> str:
        """Return where the handler is now."""
        if self.task is None or self.blocks_its_loop():
            return stack_of_thread(self.thread_id)
        return stack_of_task(self.task)


def _take(token: list[None]) -> bool:
    try:
        token.pop()
    except IndexError:
        return False
    return True


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_count_fork)
