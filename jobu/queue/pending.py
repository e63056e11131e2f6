"""How much waits to be claimed."""

from __future__ import annotations

from jobu.models import JobExecution
from jobu.queue.lanes import find_lanes

_FEW_LANES = 50


def count_claimable(limit: int) -> int:
    """Count the executions that are due, no further than `limit`.

    Lane by lane, so that each count reads the index from its beginning and nothing that is due
    later, however much that is. Very many lanes are counted together: most of what is due later
    has been set aside then.
    """
    look = find_lanes()
    claimable = JobExecution.objects.claimable().in_lane()
    if look.end or len(look.due) > _FEW_LANES:
        return claimable.values("id")[:limit].count()
    found = 0
    for lane in look.due:
        if found < limit:
            in_lane = claimable.filter(queue=lane.queue, priority=lane.priority)
            in_order = in_lane.order_by("available_at", "id")
            found += in_order.values("id")[: limit - found].count()
    return found
