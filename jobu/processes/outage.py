"""What a process does when its database fails: log it, wait longer each time, go on."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from django.db import connections

from jobu import logs
from jobu.backoff import bound
from jobu.conf import settings
from jobu.dialects import dialect_for, not_migrated

if TYPE_CHECKING:
    from django.db import Error

_FIRST_DELAY_SECONDS = 0.2
_MAX_DELAY_SECONDS = 3.0


class Outage:
    """Counts how often in a row the database failed in one thread."""

    def __init__(self, who: str) -> None:
        self._who = who
        self._failures = 0

    def failed(self, error: Error) -> float:
        """Log the error, close the broken connection, and return how long to wait."""
        self._failures += 1
        # Much shorter than a lease: the first that is back must not take the others for dead.
        maximum = min(_MAX_DELAY_SECONDS, settings.LEASE_SECONDS / 4)
        longest = bound(self._failures, base=_FIRST_DELAY_SECONDS, maximum=maximum)
        delay = random.uniform(longest / 2, longest)  # noqa: S311 - spreads a fleet's reconnects
        dialect = dialect_for(settings.DATABASE)
        if missing := not_migrated(error):
            logs.database_failed(self._who, missing, delay)
        elif dialect.is_busy(error) or dialect.is_out_of_connections(error):
            logs.database_busy(self._who, error, delay)
        else:
            logs.database_failed(self._who, error, delay)
        connections[settings.DATABASE].close()
        return delay

    def over(self) -> None:
        if self._failures:
            logs.database_back(self._who)
        self._failures = 0
