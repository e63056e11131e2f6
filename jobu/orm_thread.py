"""The thread in which async code uses the ORM: who calls there, and calls that end in any case."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from asgiref.sync import AsyncToSync, SyncToAsync, sync_to_async

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Task = asyncio.Task[Any]


class _Calling(threading.local):
    task: Task | None = None


_calling = _Calling()


def calling_task() -> Task | None:
    """Return the task that waits for what runs now in this thread, if it is known."""
    return _calling.task


async def note_callers() -> None:
    """Let `calling_task` know the tasks whose calls go to the ORM thread of this one."""
    # The thread may begin with the first call.
    await sync_to_async(bool)()
    executor = _executor()
    if "submit" not in vars(executor):
        executor.submit = partial(_submit, executor.submit)


async def run_to_the_end(task: Task, function: Callable[[], None]) -> None:
    """Run the function in the ORM thread, as called by the task.

    A cancellation is raised, but not before the function has come to its end.
    """
    running = asyncio.ensure_future(sync_to_async(partial(_call, task, function))())
    cancellation: asyncio.CancelledError | None = None
    while not running.done():
        try:
            await asyncio.shield(running)
        except asyncio.CancelledError as error:
            cancellation = error
        except BaseException:
            if not running.done():
                raise
    running.result()
    if cancellation is not None:
        raise cancellation


def _submit(submit: Callable[..., Any], function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    return submit(_call, task, function, *arguments)


def _call(task: Task | None, function: Callable[..., Any], *arguments: Any) -> Any:
    with _called_by(task):
        return function(*arguments)


@contextmanager
def _called_by(task: Task | None) -> Iterator[None]:
    before, _calling.task = _calling.task, task
    try:
        yield
    finally:
        _calling.task = before


def _executor() -> Any:
    """Return what `sync_to_async` runs functions in, by its own rules."""
    if executor := getattr(AsyncToSync.executors, "current", None):
        return executor
    if context := SyncToAsync.thread_sensitive_context.get(None):
        return SyncToAsync.context_to_thread_executor[context]
    loop = asyncio.get_running_loop()
    return AsyncToSync.loop_thread_executors.get(loop, SyncToAsync.single_thread_executor)
