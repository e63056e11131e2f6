"""How much waits to be claimed."""

from __future__ import annotations

from jobu.models import JobExecution
from jobu.queue.lanes import find_lanes

_MOST_COUNTED_LANES = 100


def count_claimable(limit: int) -> int:
    """Count the executions that are due, no further than `limit`.

    Lane by lane, so that each count reads the index from its beginning and nothing that is due
    later, however much that is. Where there are very many lanes, a further one counts as one.
    """
    due = find_lanes().due
    found = len(due[_MOST_COUNTED_LANES:])
    for lane in due[:_MOST_COUNTED_LANES]:
        if found < limit:
            claimable = JobExecution.objects.claimable().in_lane()
            in_lane = claimable.filter(queue=lane.queue, priority=lane.priority)
            in_order = in_lane.order_by("available_at", "id")
            found += in_order.values("id")[: limit - found].count()
    return min(found, limit)
