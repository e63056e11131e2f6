"""What the cluster runs."""

from __future__ import annotations

from benchmarks import tally


def noop() -> None:
    tally.note()


def stamp() -> None:
    tally.stamp()
