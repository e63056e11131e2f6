"""How much waits to be claimed."""

from __future__ import annotations

from jobu.models import JobExecution
from jobu.queue.claim import find_lanes


def count_claimable(limit: int) -> int:
    """Count the executions that are due, no further than `limit`.

    Lane by lane, so that each count reads the index from its beginning and nothing that is due
    later, however much that is.
    """
    found = 0
    for lane in find_lanes():
        if lane.due_in <= 0 and found < limit:
            due = JobExecution.objects.claimable().filter(queue=lane.queue, priority=lane.priority)
            found += due.order_by("available_at", "id").values("id")[: limit - found].count()
    return found
