"""How many executions wait in each queue, without reading all of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobu.dialects import DatabaseNow
from jobu.handlers.registry import handlers
from jobu.models import JobExecution
from jobu.models.job_execution import IN_LANE
from jobu.queue.lanes import find_lanes, look
from jobu.reading.names import told_apart

if TYPE_CHECKING:
    from jobu.models.job_execution import JobExecutionQuerySet
    from jobu.queue.lanes import Lane

MAX_COUNTED = 20_000
"""The maximum that is counted in a lane: to count more would take too long."""
_MAX_COUNTED_LANES = 100
_FEW_LANES = 50


@dataclass(slots=True)
class QueueDepth:
    """The pending executions of one queue; if `is_capped`, there are more than were counted."""

    queue: str
    due: int = 0
    later: int = 0
    oldest_seconds: float = 0.0
    is_capped: bool = False


class _Depths(dict[str, QueueDepth]):
    def of(self, queue: str) -> QueueDepth:
        name = told_apart(queue, self)
        return self.setdefault(name, QueueDepth(name))


def waiting() -> list[QueueDepth]:
    """Return the depth of each queue that has pending executions, by name.

    If there are very many queues, the last ones are counted as one; see `jobu.reading.names`.
    """
    depths = _Depths()
    for number, lane in enumerate(_lanes()):
        _add_lane(depths.of(lane.queue), lane, is_counted=number < _MAX_COUNTED_LANES)
    aside = _aside()
    is_capped = aside.total() == MAX_COUNTED
    for queue, count in aside.most_common():
        depth = depths.of(queue)
        depth.later += count
        depth.is_capped = depth.is_capped or is_capped
    return sorted(depths.values(), key=lambda depth: depth.queue)


def count_claimable(limit: int) -> int:
    """Count the executions that are due, up to `limit`.

    Lane by lane, so that each count reads the index from its beginning and nothing that is due
    later. Very many lanes are counted together: by then nearly everything that is due later has
    been set aside.
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


def _lanes() -> list[Lane]:
    """Return all lanes in the queues of our handlers, then the other lanes of one look."""
    own = {spec.options.queue for spec in handlers}
    found = look()
    ours = look(sorted(own)) if found.end and own else found
    return [
        *(lane for lane in ours.lanes if lane.queue in own),
        *(lane for lane in found.lanes if lane.queue not in own),
    ]


def _add_lane(depth: QueueDepth, lane: Lane, *, is_counted: bool) -> None:
    due, later = (1, 0) if lane.due_in <= 0 else (0, 1)
    if is_counted:
        # Lane by lane, as a claim does: the index has the executions of a lane next to each other.
        pending = JobExecution.objects.pending().in_lane()
        pending = pending.filter(queue=lane.queue, priority=lane.priority)
        due = due and _count(pending.filter(available_at__lte=DatabaseNow()))
        later = _count(pending.filter(available_at__gt=DatabaseNow()))
    depth.due += due
    depth.later += later
    depth.oldest_seconds = max(depth.oldest_seconds, -lane.due_in)
    depth.is_capped = depth.is_capped or not is_counted or MAX_COUNTED in (due, later)


def _aside() -> Counter[str]:
    """Count the executions that were set aside, by queue."""
    aside = JobExecution.objects.pending().filter(aside_until__gt=IN_LANE).order_by("aside_until")
    return Counter(aside.values_list("queue", flat=True)[:MAX_COUNTED])


def _count(executions: JobExecutionQuerySet) -> int:
    return executions.values("id")[:MAX_COUNTED].count()
