"""A plugin of pytest: leave out, when coverage is measured, the tests that would only cost time.

Measuring takes half as much CPU again. On SQLite every test is measured; on the other databases
only the tests of what differs there. What runs in a process of its own is not measured at all.
"""

from __future__ import annotations

import os

from coverage import Coverage

_IS_SQLITE = os.environ["JOBU_TEST_DATABASE"] == "sqlite"
_DIFFERS = ("tests/dialects/", "tests/queue/", "tests/test_transactions.py")
_coverage = Coverage.current()
_goes_on = True


def pytest_runtest_logstart(nodeid: str) -> None:
    """Start or stop where this test is not like the one before it."""
    global _goes_on
    wanted = _IS_SQLITE or nodeid.startswith(_DIFFERS)
    if _coverage and wanted and not _goes_on:
        _coverage.start()
    elif _coverage and _goes_on and not wanted:
        _coverage.stop()
    _goes_on = wanted
