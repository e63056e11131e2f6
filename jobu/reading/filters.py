"""The filters of executions that admin, API and commands have in common."""

from __future__ import annotations

from typing import Any

from jobu.outcomes import DEAD, Status

RETRY = "RETRY"
"""Not a status in the table: waiting, after an attempt that failed."""
DEAD_ONES = "DEAD"
"""FAILED or TIMEOUT."""

STATUS_FILTERS = (*(status.value for status in Status), RETRY, DEAD_ONES)


def status_filter(wanted: str) -> dict[str, Any]:
    """Return the lookups of a status, of RETRY or of DEAD."""
    if wanted == RETRY:
        return {"status": Status.PENDING.value, "retry_count__gt": 0}
    if wanted == DEAD_ONES:
        return {"status__in": [status.value for status in DEAD]}
    return {"status": wanted}
