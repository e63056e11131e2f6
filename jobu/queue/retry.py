"""Retry, by hand, what is out of attempts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.db import connections

from jobu.conf import settings
from jobu.dialects import DatabaseNow, dialect_for
from jobu.jsonable import encode_object
from jobu.models import JobExecution
from jobu.models.job_execution import IN_LANE
from jobu.outcomes import DEAD, Status
from jobu.queue.locking import lock
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jobu.models.job_execution import JobExecutionQuerySet

RETRIABLE = (*DEAD, Status.CANCELLED)


def retry(execution: JobExecution | int, *, params: dict[str, Any] | None = None) -> bool:
    """Put a dead or cancelled execution back into the queue with all its attempts.

    With other `params`, if given. What earlier attempts left in `errors` stays. Returns False if
    there is nothing to retry.
    """
    pk = execution.pk if isinstance(execution, JobExecution) else execution
    changes = {} if params is None else {"params": json.loads(encode_object(params, "The params"))}
    revived = JobExecution.objects.filter(pk=pk, status__in=RETRIABLE)
    changed = _revive(revived, **changes)
    if changed:
        _announce([pk])
    return changed > 0


def retry_many(ids: Iterable[int]) -> list[int]:
    """Retry those that are dead or cancelled, in one transaction; return their ids."""
    with write_transaction(settings.DATABASE):
        found = lock(ids, RETRIABLE)
        _revive(JobExecution.objects.filter(id__in=found))
        _announce(found)
    return found


def _revive(executions: JobExecutionQuerySet, **changes: Any) -> int:
    return executions.update(
        status=Status.PENDING,
        retry_count=0,
        available_at=DatabaseNow(),
        aside_until=IN_LANE,
        claimed_by=None,
        started_at=None,
        finished_at=None,
        cancel_requested=False,
        progress=None,
        **changes,
    )


def _announce(ids: list[int]) -> None:
    queues = JobExecution.objects.filter(pk__in=ids).values_list("queue", flat=True).distinct()
    connection = connections[settings.DATABASE]
    dialect_for(settings.DATABASE).announce(connection, sorted(queues))
