"""Cancel executions that wait or run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Case, CharField, F, Q, TextField, Value, When

from jobu.conf import settings
from jobu.dialects import DatabaseNow
from jobu.models import JobExecution
from jobu.outcomes import Status
from jobu.queue.locking import lock
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jobu.models.job_execution import JobExecutionQuerySet

CANCELLABLE = (Status.PENDING, Status.RUNNING)


def cancel(execution: JobExecution | int) -> bool:
    """Cancel an execution; return False if it was finished already.

    A pending one is CANCELLED at once. A running one is asked to stop: an async handler is
    cancelled, a synchronous one gets `JobCancelled` raised in its thread, within about a second.
    """
    pk = execution.pk if isinstance(execution, JobExecution) else execution
    return _cancel(JobExecution.objects.filter(pk=pk, status__in=CANCELLABLE)) > 0


def cancel_many(ids: Iterable[int]) -> list[int]:
    """Cancel those that are not finished, in one transaction; return their ids."""
    with write_transaction(settings.DATABASE):
        found = lock(ids, CANCELLABLE)
        _cancel(JobExecution.objects.filter(id__in=found))
    return found


def _cancel(executions: JobExecutionQuerySet) -> int:
    is_pending = Q(status=Status.PENDING)
    # One statement, so that no claim or settle slips in between; status comes last, because MySQL
    # assigns from left to right and the others ask for it.
    return executions.update(
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
