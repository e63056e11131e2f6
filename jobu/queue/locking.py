"""Lock the executions that a verb is about to change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobu.models import JobExecution

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from jobu.outcomes import Status


def lock(ids: Iterable[int], statuses: Collection[Status]) -> list[int]:
    """Return which of the executions are in one of the states, and will stay so until the commit.

    Call it inside a `write_transaction`. Locked in the order of their ids, so that two who lock
    the same ones wait for each other instead of blocking each other.
    """
    return list(
        JobExecution.objects.filter(id__in=list(ids), status__in=statuses)
        .order_by("id")
        .select_for_update()
        .values_list("id", flat=True)
    )
