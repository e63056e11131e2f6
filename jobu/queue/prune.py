"""Prune old history in small batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q, Subquery

from jobu.conf import settings
from jobu.dialects import DatabaseNow
from jobu.models import DeadLetter, JobExecution, LogLine
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jobu.models.job_execution import JobExecutionQuerySet

_SECONDS_PER_DAY = 86_400


def prune(days: float, *, batch_size: int = 500) -> Iterator[int]:
    """Delete executions that finished more than `days` ago; yield each batch's size.

    Each batch is a small transaction of its own, and locked rows are left for the next time, so
    that no claim waits for a prune.
    """
    # Checked before a transaction is opened, because there is nearly always nothing to do.
    while _prunable(days).values("id").first() is not None:
        with write_transaction(settings.DATABASE):
            ids = list(
                _prunable(days)
                .select_for_update(skip_locked=True)
                .values_list("id", flat=True)[:batch_size]
            )
            # This deletes their log lines, too. Only the ids of the executions are loaded.
            JobExecution.objects.filter(id__in=ids).only("id").delete()
            _delete_orphans(batch_size)
        if not ids:
            return
        yield len(ids)


def prune_dead_letters(
    days: float | None, open_days: float | None, *, batch_size: int = 100
) -> Iterator[tuple[int, bool]]:
    """Delete dead letters that came more than `days` ago, and open ones after `open_days`.

    None keeps them. Yield the size of each batch, and whether its letters were open.
    """
    is_open = Q(requeued_at=None, discarded_at=None)
    for those, age, were_open in ((~is_open, days, False), (is_open, open_days, True)):
        if age is None:
            continue
        old = DeadLetter.objects.filter(those, received_at__lt=_long_ago(age))
        while ids := list(old.order_by("received_at").values_list("id", flat=True)[:batch_size]):
            # Filtered again, because somebody may have requeued one meanwhile.
            deleted, _ = DeadLetter.objects.filter(those, id__in=ids).only("id").delete()
            yield deleted, were_open


def _delete_orphans(limit: int) -> None:
    """Delete log lines that are older than every execution.

    A worker may write the last lines of a run at the moment at which its execution is deleted.
    """
    oldest = JobExecution.objects.order_by("id").values("id")[:1]
    orphans = LogLine.objects.filter(execution__lt=Subquery(oldest)).order_by("execution_id")
    if ids := list(orphans.values_list("id", flat=True)[:limit]):
        LogLine.objects.filter(id__in=ids).delete()


def _prunable(days: float) -> JobExecutionQuerySet:
    # Ordered, so that no planner prefers to read the whole history instead of the index.
    old = JobExecution.objects.finished().filter(finished_at__lt=_long_ago(days))
    return old.order_by("finished_at")


def _long_ago(days: float) -> DatabaseNow:
    return DatabaseNow(-days * _SECONDS_PER_DAY)
