"""How long a connection of a process waits for its server."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from jobu.conf import settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from django.db.backends.base.base import BaseDatabaseWrapper

_SHORTEST_BOUND_SECONDS = 5.0


def statement_bound() -> float:
    """Return how many seconds a statement of a process's own connections may take.

    Half a lease, so that a process that lost its connection has a new one before it counts as
    dead. But at least a few seconds, so that a busy server does not count as lost.
    """
    return max(_SHORTEST_BOUND_SECONDS, settings.LEASE_SECONDS / 2)


def give_options(connection: BaseDatabaseWrapper, options: Mapping[str, Any]) -> None:
    """Open only this thread's connection with these OPTIONS; the project's own OPTIONS win."""
    database = connection.settings_dict
    connection.settings_dict = {**database, "OPTIONS": {**options, **database["OPTIONS"]}}


@contextmanager
def bounded(connection: BaseDatabaseWrapper, bounds: Mapping[str, Any]) -> Iterator[None]:
    """Open this thread's connection with these bounds inside the block, and close it at the end."""
    before = connection.settings_dict
    give_options(connection, bounds)
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict = before
