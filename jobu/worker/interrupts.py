"""Raise an exception in another thread: Python's only way to stop a handler from outside."""

from __future__ import annotations

import ctypes
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

    from jobu.exceptions import JobInterrupted

OUR_FOLDER = str(Path(__file__).parents[1])

_set_async_exc = ctypes.pythonapi.PyThreadState_SetAsyncExc
_set_async_exc.argtypes = (ctypes.c_ulong, ctypes.py_object)
_clear_async_exc = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p)(
    ("PyThreadState_SetAsyncExc", ctypes.pythonapi)
)


def raise_in_thread(thread_id: int, interrupt: type[JobInterrupted]) -> None:
    """Raise `interrupt` in the thread at its next bytecode, which comes after any C call."""
    _set_async_exc(thread_id, interrupt)


def withdraw_from_thread(thread_id: int) -> None:
    """Take back an exception that the thread has not raised yet."""
    _clear_async_exc(thread_id, None)


def stack_of_task(task: asyncio.Task[Any]) -> str:
    """Return where a suspended task waits, from the handler's first frame on."""
    frames = []
    awaited: Any = task.get_coro()
    while awaited is not None and (frame := getattr(awaited, "cr_frame", None)) is not None:
        frames.append((frame, frame.f_lineno))
        awaited = getattr(awaited, "cr_await", None)
    return _format(traceback.StackSummary.extract(iter(frames)))


def stack_of_thread(thread_id: int) -> str:
    """Return where the thread is now, from the handler's first frame on."""
    frame = sys._current_frames().get(thread_id)
    if frame is None:
        return ""
    return _format(traceback.extract_stack(frame))


def _format(frames: traceback.StackSummary) -> str:
    ours = [i for i, each in enumerate(frames) if each.filename.startswith(OUR_FOLDER)]
    return "".join(traceback.format_list(frames[ours[-1] + 1 if ours else 0 :]))
