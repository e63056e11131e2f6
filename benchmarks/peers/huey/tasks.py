"""The tasks of both."""

from __future__ import annotations

from typing import Any

from benchmarks import tally


def register(huey: Any) -> tuple[Any, Any]:
    @huey.task()
    def noop() -> None:
        tally.note()

    @huey.task()
    def stamp() -> None:
        tally.stamp()

    return noop, stamp
