"""The threads and the event loop that run the attempts in a worker's slots."""

from __future__ import annotations

import asyncio
import threading
import time
from contextvars import Context
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from asgiref.sync import SyncToAsync, ThreadSensitiveContext

from jobu.exceptions import JobReleased
from jobu.worker.connections import (
    begin_slot,
    close_async_connections,
    close_connections,
    close_old_connections,
    has_connections,
    has_orm_thread,
    keep_connections,
)
from jobu.worker.event_loop import EventLoopThread
from jobu.worker.executor import execute, execute_async, outcome_of_abandoned
from jobu.worker.slots import Slots

if TYPE_CHECKING:
    from collections.abc import Callable

    from jobu.worker.run import Run

_TURN_SECONDS = 0.001
"""How long async handlers that never await may follow one another, before others have a turn."""
_BUSY_SECONDS = 1.0
"""How long after its last run a slot counts as busy, and keeps its database connections."""


class _IdleTask(NamedTuple):
    """A task on an event loop that waits for its next run."""

    event_loop: EventLoopThread
    next_run: asyncio.Future[Run | None]


class Pool:
    """Runs the attempts that are added to its slots.

    A synchronous handler has a thread to itself, an async one a task on the shared event loop. A
    thread or task that has finished a run takes the next one from the slots itself.
    """

    def __init__(
        self,
        size: int,
        *,
        name: str,
        batch_size: int,
        max_wait: float,
        on_batch: Callable[[], None],
    ) -> None:
        self.slots = Slots(
            size, batch_size=batch_size, max_wait=max_wait, start=self._start, on_batch=on_batch
        )
        self._name = name
        self._handoff: SimpleQueue[Run | None] = SimpleQueue()
        self._idle_tasks: list[_IdleTask] = []
        self._is_closed = False
        self._event_loop = self._new_event_loop()

    def replace_event_loop(self, blocked: EventLoopThread) -> list[Run]:
        """Leave a blocked event loop to the handler that blocks it; return the runs on it."""
        with self.slots.lock:
            if not blocked.is_replaced:
                blocked.is_replaced = True
                self._event_loop = self._new_event_loop()
        return [run for run in self.slots.runs() if run.event_loop is blocked]

    def close(self) -> None:
        """Let idle threads go. Those of abandoned handlers are daemons and end with the process."""
        self._handoff.put(None)
        with self.slots.lock:
            self._is_closed = True
            idle_tasks, self._idle_tasks = self._idle_tasks, []
        for idle in idle_tasks:
            # An event loop that was replaced may be broken.
            if idle.event_loop is self._event_loop:
                idle.event_loop.call(idle.next_run.set_result, None)
        self._event_loop.stop([run.task for run in self.slots.unended()])

    def _start(self, run: Run) -> None:
        """Give the run to an idle thread or task, or to a new one.

        The slots call it, and hold their lock.
        """
        if run.is_async:
            run.event_loop = self._event_loop
            # Not one of an event loop that a handler blocks.
            idle = next((i for i in self._idle_tasks if i.event_loop is self._event_loop), None)
            if idle is None:
                self._event_loop.spawn(self._run_task(run))
            else:
                self._idle_tasks.remove(idle)
                self._event_loop.call(idle.next_run.set_result, run)
        elif self.slots.idle_threads:
            self.slots.idle_threads -= 1
            self._handoff.put(run)
        else:
            threading.Thread(
                target=self._run_thread, args=(run,), name=f"{self._name}-slot", daemon=True
            ).start()

    def _run_thread(self, first: Run) -> None:
        run: Run | None = first
        begin_slot()
        try:
            while run is not None:
                run.thread_id = threading.get_ident()
                # An empty context: no language, time zone or variable of the job before.
                outcome = Context().run(execute, run)
                keep_connections(after_failure=outcome.error is not None)
                may_go_on = run.interrupt is None
                run = self.slots.finish(run, outcome)
                if run is None and may_go_on:
                    run = self._wait_for_run()
        finally:
            close_connections()

    def _wait_for_run(self) -> Run | None:
        """Wait as an idle thread; None once the pool is closed."""
        try:
            run = self._handoff.get(timeout=_BUSY_SECONDS if has_connections() else None)
        except Empty:
            close_old_connections()
            run = self._handoff.get()
        if run is None:
            # For the next idle thread.
            self._handoff.put(None)
        return run

    async def _run_task(self, first: Run) -> None:
        run: Run | None = first
        task = asyncio.current_task()
        turn_ends = time.monotonic() + _TURN_SECONDS
        # A thread of its own for the ORM: calls of different slots do not queue behind each other.
        async with ThreadSensitiveContext():
            # Each call leaves this variable behind, which is no trace of the handler.
            SyncToAsync.deadlock_context.set(False)
            while run is not None:
                run.task = task
                run.thread_id = threading.get_ident()
                outcome = await execute_async(run)
                last, run = run, self.slots.finish(run, outcome)
                if run is None:
                    run = await self._wait_in_task(last)
                if time.monotonic() > turn_ends:
                    await asyncio.sleep(0)
                    turn_ends = time.monotonic() + _TURN_SECONDS
            close_async_connections()

    async def _wait_in_task(self, last: Run) -> Run | None:
        """Wait as an idle task for as long as the slot counts as busy; None if there is no need."""
        event_loop = last.event_loop
        if event_loop is None or last.interrupt is not None or not has_orm_thread():
            return None
        idle = _IdleTask(event_loop, asyncio.get_running_loop().create_future())
        with self.slots.lock:
            if self._is_closed or not last.can_be_followed():
                return None
            self._idle_tasks.append(idle)
        await asyncio.wait([idle.next_run], timeout=_BUSY_SECONDS)
        with self.slots.lock:
            if idle in self._idle_tasks:
                self._idle_tasks.remove(idle)
                return None
        # It is there, or on its way.
        return await idle.next_run

    def _new_event_loop(self) -> EventLoopThread:
        return EventLoopThread(f"{self._name}-event-loop", self._give_up_event_loop)

    def _give_up_event_loop(self, broken: EventLoopThread, error: Exception) -> None:
        for run in self.replace_event_loop(broken):
            # Its task may be closed some day, and must not take the next run then.
            run.ask_to_stop(JobReleased)
            self.slots.report(run, outcome_of_abandoned(run, error, run.stack()), abandon=True)
