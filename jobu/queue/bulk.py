"""Do an action to everything that matches a filter, in batches, each a transaction of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobu.models import JobExecution

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from jobu.models.job_execution import JobExecutionQuerySet
    from jobu.outcomes import Status

BATCH_SIZE = 500


@dataclass(frozen=True, slots=True)
class Batch:
    """The ids that one batch changed; the next one goes on `after` the last that it looked at."""

    changed: list[int]
    after: int


def in_batches(
    matching: JobExecutionQuerySet,
    statuses: Collection[Status],
    act: Callable[[list[int]], list[int]],
    *,
    after: int = 0,
    until: int | None = None,
) -> Iterator[Batch]:
    """Act on those that match and are in one of the states, by their ids upwards.

    Up to the newest id at the beginning, so that it ends, whatever is enqueued meanwhile.
    """
    until = newest_id() if until is None else until
    while True:
        left = matching.filter(id__gt=after, id__lte=until, status__in=statuses)
        ids = list(left.order_by("id").values_list("id", flat=True)[:BATCH_SIZE])
        if not ids:
            return
        after = ids[-1]
        yield Batch(act(ids), after)


def newest_id() -> int:
    return JobExecution.objects.order_by("-id").values_list("id", flat=True).first() or 0
