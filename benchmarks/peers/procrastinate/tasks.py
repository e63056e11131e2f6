"""What procrastinate discovers in the Django project."""

from __future__ import annotations

from procrastinate.contrib.django import app

from benchmarks import tally


@app.task(name="noop")
def noop() -> None:
    tally.note()


@app.task(name="stamp")
def stamp() -> None:
    tally.stamp()
