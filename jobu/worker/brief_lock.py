"""A lock for what takes microseconds and many threads want all the time."""

from __future__ import annotations

import threading
import time

_MOMENT_SECONDS = 0.00005


class BriefLock:
    """Whoever finds it taken tries again a moment later, instead of standing in line.

    `threading.Lock` gives itself to the one who waits the moment it is released, long before
    that thread has the interpreter. The next thread that wants it, running already, must wait for
    a thread that does not run: soon all of them stand in line at every job, and each job costs a
    switch between threads. Here who runs goes on running.
    """

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        while not self._lock.acquire(blocking=False):
            time.sleep(_MOMENT_SECONDS)

    def __exit__(self, *_: object) -> None:
        self._lock.release()
