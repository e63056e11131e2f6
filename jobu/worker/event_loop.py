"""The thread with the event loop on which async handlers run."""

from __future__ import annotations

import asyncio
import threading
from contextvars import Context
from functools import partial
from typing import TYPE_CHECKING

from jobu import logs
from jobu.exceptions import JobInterrupted

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any


class EventLoopThread:
    """Starts at the first coroutine; survives an interrupt that was meant for a handler on it."""

    def __init__(self, name: str) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._stopping = False

    def spawn(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run the coroutine as a task."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread.start()
        # Nothing of whoever happens to spawn it: that may be a slot with a thread for its own ORM.
        create_task = partial(self._loop.create_task, coroutine, context=Context())
        if threading.get_ident() == self._thread.ident:
            # Without the system call that wakes another thread.
            create_task()
        else:
            self._loop.call_soon_threadsafe(create_task)

    def stop(self) -> None:
        """Let the loop go, once nothing runs on it; one that is blocked goes with the process."""
        self._stopping = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(timeout=1)

    def _run(self) -> None:
        assert self._loop is not None  # noqa: S101 - set before the thread was started
        asyncio.set_event_loop(self._loop)
        while not self._stopping:
            try:
                self._loop.run_forever()
            except JobInterrupted:
                # It was raised in this thread for a handler that blocked the loop, and came a
                # moment too late: the handler had ended. The loop itself is unharmed.
                continue
            except Exception as error:  # noqa: BLE001 - the other handlers' loop must go on
                logs.unexpected("The event loop", error)
        self._loop.close()
