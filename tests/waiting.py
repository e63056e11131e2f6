"""Wait for events, never for time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jobu.models import JobExecution


def wait_until(
    condition: Callable[[], bool],
    what: str,
    details: Callable[[], str] = str,
    timeout: float = 60,
    pause: float = 0.02,
) -> None:
    """Wait for something that another thread or process does; fail loudly if it does not.

    Use a longer `pause` where each look is expensive, such as a process of its own.
    """
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"Waited {timeout} s in vain for {what}.\n{details()}")
        time.sleep(pause)


def wait_for_end(execution: JobExecution) -> JobExecution:
    """Wait until the execution is finished; return it as it is in the database then."""

    def is_finished() -> bool:
        execution.refresh_from_db()
        return execution.is_finished

    wait_until(is_finished, f"the end of {execution}", lambda: f"it is {execution.status}")
    return execution
