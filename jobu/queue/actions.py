"""What people do to executions: cancel, retry, discard, raise the priority.

Each action locks the executions that are in a state it applies to, and changes those. They are
locked in the order of their ids, so that two actions wait for each other and never deadlock.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.db import connections
from django.db.models import Case, CharField, F, Q, TextField, Value, When
from django.db.models.functions import Greatest, Least

from jobu.conf import settings
from jobu.dialects import DatabaseNow, dialect_for
from jobu.handlers.options import MAX_PRIORITY
from jobu.jsonable import encode_object
from jobu.models import JobExecution
from jobu.models.job_execution import IN_LANE
from jobu.outcomes import DEAD, FINISHED, Status
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from jobu.models.job_execution import JobExecutionQuerySet

CANCELLABLE = (Status.PENDING, Status.RUNNING)
RETRIABLE = (*DEAD, Status.CANCELLED)


def cancel(execution: JobExecution | int) -> bool:
    """Cancel an execution; return False if it was finished already.

    A pending one is CANCELLED at once. A running one is asked to stop: an async handler is
    cancelled, a synchronous one gets `JobCancelled` raised in its thread, within about a second.
    """
    return bool(cancel_many([_id_of(execution)]))


def cancel_many(ids: Iterable[int]) -> list[int]:
    """Cancel those that are not finished, in one transaction; return their ids."""
    with write_transaction(settings.DATABASE):
        found = _lock(ids, CANCELLABLE)
        is_pending = Q(status=Status.PENDING)
        # Status comes last: MySQL assigns from left to right, and the others ask for it.
        _those(found).update(
            cancel_requested=True,
            finished_at=Case(When(is_pending, then=DatabaseNow()), default=F("finished_at")),
            error_message=Case(
                When(is_pending, then=Value("Cancelled before it ran.")),
                default=F("error_message"),
                output_field=TextField(),
            ),
            status=Case(
                When(is_pending, then=Value(Status.CANCELLED)),
                default=F("status"),
                output_field=CharField(),
            ),
        )
    return found


def retry(execution: JobExecution | int, *, params: dict[str, Any] | None = None) -> bool:
    """Put a dead or cancelled execution back into the queue with all its attempts.

    With other `params`, if given. The `errors` of earlier attempts stay. Returns False if there is
    nothing to retry.
    """
    changes = {} if params is None else {"params": json.loads(encode_object(params, "The params"))}
    return bool(_retry([_id_of(execution)], **changes))


def retry_many(ids: Iterable[int]) -> list[int]:
    """Retry those that are dead or cancelled, in one transaction; return their ids."""
    return _retry(ids)


def discard_many(ids: Iterable[int]) -> list[int]:
    """Delete those that are finished, in one transaction; return their ids.

    Pending and running ones are left alone: cancel them first.
    """
    with write_transaction(settings.DATABASE):
        found = _lock(ids, FINISHED)
        # Only ids are read: Django reads what it deletes, because other tables refer to it.
        _those(found).only("id").delete()
    return found


def raise_priority_many(ids: Iterable[int], by: int) -> list[int]:
    """Add `by`, which may be negative, to the priority of those that are pending; return their ids.

    A priority stays between its smallest and its largest possible value.
    """
    by = max(-2 * MAX_PRIORITY, min(by, 2 * MAX_PRIORITY))
    # The column is too small for the sum of two large values: bounded before the addition.
    bounded = (
        Least(F("priority"), MAX_PRIORITY - by)
        if by > 0
        else Greatest(F("priority"), -MAX_PRIORITY - by)
    )
    with write_transaction(settings.DATABASE):
        found = _lock(ids, (Status.PENDING,))
        _those(found).update(priority=bounded + by)
    return found


def _retry(ids: Iterable[int], **changes: Any) -> list[int]:
    with write_transaction(settings.DATABASE):
        found = _lock(ids, RETRIABLE)
        _those(found).update(
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
        queues = _those(found).values_list("queue", flat=True).distinct()
        connection = connections[settings.DATABASE]
        dialect_for(settings.DATABASE).announce(connection, sorted(queues))
    return found


def _lock(ids: Iterable[int], statuses: Collection[Status]) -> list[int]:
    """Return which of the executions are in one of the states, and will stay so until the commit.

    Call it inside a `write_transaction`.
    """
    return list(
        JobExecution.objects.filter(id__in=list(ids), status__in=statuses)
        .order_by("id")
        .select_for_update()
        .values_list("id", flat=True)
    )


def _those(ids: list[int]) -> JobExecutionQuerySet:
    return JobExecution.objects.filter(id__in=ids)


def _id_of(execution: JobExecution | int) -> int:
    return execution.pk if isinstance(execution, JobExecution) else execution
