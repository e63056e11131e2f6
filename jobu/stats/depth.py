"""What waits in each queue, counted without reading all of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobu.dialects import DatabaseNow
from jobu.models import JobExecution
from jobu.queue.claim import find_lanes

if TYPE_CHECKING:
    from jobu.models.job_execution import JobExecutionQuerySet

MOST_COUNTED = 20_000
"""How far a lane's executions are counted: beyond, a count would take longer than it is worth."""


@dataclass(slots=True)
class QueueDepth:
    """The pending executions of one queue. `is_capped`: there are more than the counts say."""

    queue: str
    due: int = 0
    later: int = 0
    oldest_seconds: float = 0.0
    is_capped: bool = False


def waiting() -> list[QueueDepth]:
    """Return the depth of each queue that has pending executions, by name."""
    depths: dict[str, QueueDepth] = {}
    for lane in find_lanes():
        depth = depths.setdefault(lane.queue, QueueDepth(lane.queue))
        # Lane by lane, as a claim does: the index has exactly these next to each other.
        pending = JobExecution.objects.pending().filter(queue=lane.queue, priority=lane.priority)
        due = _count(pending.filter(available_at__lte=DatabaseNow())) if lane.due_in <= 0 else 0
        later = _count(pending.filter(available_at__gt=DatabaseNow()))
        depth.due += due
        depth.later += later
        depth.oldest_seconds = max(depth.oldest_seconds, -lane.due_in)
        depth.is_capped = depth.is_capped or MOST_COUNTED in (due, later)
    return sorted(depths.values(), key=lambda depth: depth.queue)


def _count(executions: JobExecutionQuerySet) -> int:
    return executions.values("id")[:MOST_COUNTED].count()
