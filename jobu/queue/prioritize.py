"""Let pending executions go before, or after, others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import F
from django.db.models.functions import Greatest, Least

from jobu.conf import settings
from jobu.handlers.options import MAX_PRIORITY
from jobu.models import JobExecution
from jobu.outcomes import Status
from jobu.queue.locking import lock
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Iterable


def raise_priority_many(ids: Iterable[int], by: int) -> list[int]:
    """Add `by`, which may be negative, to the priority of those that are pending; return their ids.

    At the ends of what a priority can be they stay there.
    """
    by = max(-2 * MAX_PRIORITY, min(by, 2 * MAX_PRIORITY))
    # The column is too small for the sum of two large ones: bounded before it is added to.
    bounded = (
        Least(F("priority"), MAX_PRIORITY - by)
        if by > 0
        else Greatest(F("priority"), -MAX_PRIORITY - by)
    )
    with write_transaction(settings.DATABASE):
        found = lock(ids, (Status.PENDING,))
        JobExecution.objects.filter(id__in=found).update(priority=bounded + by)
    return found
