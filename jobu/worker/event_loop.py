"""The thread with the event loop on which async handlers run."""

from __future__ import annotations

import asyncio
import threading
from contextvars import Context
from typing import TYPE_CHECKING

from jobu import logs
from jobu.exceptions import JobInterrupted
from jobu.handlers.context import find_current_job
from jobu.worker.interrupts import raise_in_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Coroutine
    from typing import Any

    Task = asyncio.Task[Any]

_WIND_UP_SECONDS = 1.0

_abandoned: list[Task] = []
"""Tasks that nobody ends. They are kept here, because the garbage collector would close them in any
thread, and `sync_to_async` would set their context variables there, such as the current job."""


class EventLoopThread:
    """Starts with the first coroutine, and goes on whatever handlers raise in it.

    If the loop breaks, it calls `on_broken` with itself and the error.
    """

    def __init__(self, name: str, on_broken: Callable[[EventLoopThread, Exception], None]) -> None:
        self.is_replaced = False
        """Whether another event loop has taken its place, and no run may begin here any more."""
        self._on_broken = on_broken
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._stopping = False
        self._spawned: set[Task] = set()
        self._strikes: list[None] = []

    def spawn(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run the coroutine as a task."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._loop.set_task_factory(self._make_task)  # type: ignore[arg-type] # any options
            self._thread.start()
        self.call(self._spawn, coroutine)

    def call(self, function: Callable[..., object], *arguments: Any) -> None:
        """Call the function in the loop's thread."""
        assert self._loop is not None  # noqa: S101 - something was spawned
        if threading.get_ident() == self._thread.ident:
            # This saves the system call that wakes another thread.
            function(*arguments)
        else:
            self._loop.call_soon_threadsafe(function, *arguments)

    def strike(self, interrupt: type[JobInterrupted]) -> None:
        """Raise the interrupt in the code that runs on the loop now."""
        assert self._thread.ident is not None  # noqa: S101 - something runs on it
        self._strikes.append(None)
        raise_in_thread(self._thread.ident, interrupt)

    def was_struck(self) -> bool:
        """Answer True once for each strike."""
        try:
            self._strikes.pop()
        except IndexError:
            return False
        return True

    def stop(self, unended: Collection[Task | None]) -> None:
        """Stop the loop, once its tasks but the `unended` ones have closed their connections.

        If a handler blocks the loop, it ends with the process.
        """
        self._stopping = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._spawn, self._wind_up(unended))
            self._thread.join(timeout=_WIND_UP_SECONDS + 1)

    async def _wind_up(self, unended: Collection[Task | None]) -> None:
        ending = self._spawned.difference(unended, [asyncio.current_task()])
        if ending:
            await asyncio.wait(ending, timeout=_WIND_UP_SECONDS)
        asyncio.get_running_loop().stop()

    def _spawn(self, coroutine: Coroutine[Any, Any, None]) -> None:
        assert self._loop is not None  # noqa: S101 - it runs
        # An empty context: that of the caller may belong to a slot with an ORM thread of its own.
        task = self._loop.create_task(coroutine, context=Context())
        self._spawned.add(task)
        task.add_done_callback(self._spawned.discard)

    def _make_task(
        self, loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, Any], **options: Any
    ) -> Task:
        task = asyncio.Task(coroutine, loop=loop, **options)
        # A task with a context of its own does not belong to the job: in this way a handler starts
        # tasks that may outlive it.
        if options.get("context") is None and (job := find_current_job()) is not None:
            job.note_task(task)
        return task

    def _run(self) -> None:
        assert self._loop is not None  # noqa: S101 - set before the thread was started
        asyncio.set_event_loop(self._loop)
        while not self._stopping:
            try:
                self._loop.run_forever()
            except JobInterrupted:
                # It was raised for a handler that blocked the loop, and came a moment too late: the
                # handler had ended. The loop itself is unharmed.
                self.was_struck()
            except Exception as error:  # noqa: BLE001 - the same error would come again
                logs.unexpected("The event loop", error)
                self._on_broken(self, error)
                break
            except BaseException as error:  # noqa: BLE001 - one task's exit does not end the loop
                logs.unexpected("A task on the event loop", error)
        _abandoned.extend(asyncio.all_tasks(self._loop))
        self._loop.close()
