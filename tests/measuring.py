"""A plugin of pytest: leave out, when coverage is measured, the tests that would only cost time.

Measuring takes half as much CPU again. On SQLite every test is measured but those that compute
most, and those that interrupt threads: the exception may come while Python code of coverage.py
runs in one of them. On the other databases only the tests of what differs there are measured. What
runs in a process of its own is not measured at all.
"""

from __future__ import annotations

import os
import threading
from typing import Any

from coverage import Coverage

_IS_SQLITE = os.environ["JOBU_TEST_DATABASE"] == "sqlite"
_DIFFERS = ("tests/dialects/", "tests/queue/", "tests/test_transactions.py")
_COMPUTES = ("tests/cron/test_clock_changes.py", "tests/test_benchmarks.py")
_INTERRUPTS = tuple(
    f"tests/worker/test_{name}.py"
    for name in ("cancel_and_progress", "misbehaviour", "slots", "timeouts")
)
_coverage = Coverage.current()
_goes_on = True

if _coverage and (_collector := _coverage._collector):
    # Other tests may interrupt a thread as well. If the exception came while Python code holds this
    # lock, every thread would wait for it for ever; the lock's own methods are no Python code.
    _lock = threading.Lock()
    _collector.data_lock = _lock
    _users: list[Any] = [_collector, *_collector.tracers]
    for _user in _users:
        _user.lock_data, _user.unlock_data = _lock.acquire, _lock.release


def pytest_runtest_logstart(nodeid: str) -> None:
    """Start or stop where this test is not like the one before it."""
    global _goes_on
    wanted = (
        not nodeid.startswith(_COMPUTES + _INTERRUPTS)
        if _IS_SQLITE
        else nodeid.startswith(_DIFFERS)
    )
    if _coverage and wanted and not _goes_on:
        _coverage.start()
    elif _coverage and _goes_on and not wanted:
        _coverage.stop()
    _goes_on = wanted
