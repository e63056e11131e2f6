"""Prune old history, a little at a time."""

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

    Small batches, each its own transaction, and locked rows are left for next time: a prune
    never makes a claim wait.
    """
    # Looked at before a transaction is opened: there is nearly always nothing to do.
    while _prunable(days).values("id").first() is not None:
        with write_transaction(settings.DATABASE):
            ids = list(
                _prunable(days)
                .select_for_update(skip_locked=True)
                .values_list("id", flat=True)[:batch_size]
            )
            # Their log lines go with them; of the executions no more than the id is loaded.
            JobExecution.objects.filter(id__in=ids).only("id").delete()
            _delete_orphans(batch_size)
        if not ids:
            return
        yield len(ids)


def prune_dead_letters(days: float, *, batch_size: int = 100) -> Iterator[int]:
    """Delete dead letters that came more than `days` ago and are not open; yield batch sizes."""
    done = Q(requeued_at__isnull=False) | Q(discarded_at__isnull=False)
    old = DeadLetter.objects.filter(done, received_at__lt=_long_ago(days)).order_by("received_at")
    while ids := list(old.values_list("id", flat=True)[:batch_size]):
        DeadLetter.objects.filter(id__in=ids).only("id").delete()
        yield len(ids)


def _delete_orphans(limit: int) -> None:
    """Delete log lines that are older than every execution.

    A worker may write a run's last lines at the moment in which the execution is deleted.
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
