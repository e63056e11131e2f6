"""The tasks of the peers that are backends of django.tasks."""

from __future__ import annotations

from django.tasks import task

from benchmarks import tally


@task()
def noop() -> None:
    tally.note()


@task()
def stamp() -> None:
    tally.stamp()
