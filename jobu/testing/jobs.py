"""Run jobs in a test's own thread and transaction."""

from __future__ import annotations

import uuid
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from asgiref.sync import async_to_sync
from django.db import connections, transaction
from django.db.models import F

from jobu import logs, signals
from jobu.attempts import Attempt
from jobu.conf import settings
from jobu.dialects import DatabaseNow
from jobu.models import JobExecution
from jobu.models.job_execution import ATTEMPT_FIELDS, IN_LANE
from jobu.outcomes import Status
from jobu.queue.settle import settle_one_by_one
from jobu.transactions import write_transaction
from jobu.worker.executor import execute, execute_async
from jobu.worker.run import Run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from jobu.outcomes import Outcome


def run_pending(*, queue: str | None = None, include_delayed: bool = False) -> list[JobExecution]:
    """Run every claimable execution, and those they enqueue, in this thread; return them.

    It uses the test's own connection and transaction, so it works in a `TestCase`. With
    `include_delayed` what is due later runs, too: retries after their backoff, for one; but not
    what has put itself off by `RetryLater(…, counted=False)`, which might do so for ever. Timeouts
    are not enforced here.
    """
    done: dict[int, None] = {}
    put_off: list[int] = []
    while (attempt := _claim_next(queue, include_delayed, put_off)) is not None:
        outcome = _run(attempt)
        if outcome.status is Status.PENDING and outcome.error is None:
            put_off.append(attempt.execution_id)
        done[attempt.execution_id] = None
    executions = JobExecution.objects.in_bulk(done)
    return [executions[pk] for pk in done if pk in executions]


@contextmanager
def immediate() -> Iterator[None]:
    """Inside the block, whatever is enqueued runs at once, before `enqueue` returns.

    The execution that `enqueue` returns shows its outcome.
    """

    def run_now(execution: JobExecution, **_kwargs: Any) -> None:
        run_pending(queue=execution.queue)
        execution.refresh_from_db()

    signals.execution_enqueued.connect(run_now, weak=False)
    try:
        yield
    finally:
        signals.execution_enqueued.disconnect(run_now)


def _claim_next(queue: str | None, include_delayed: bool, put_off: list[int]) -> Attempt | None:
    """Claim one execution, in the order in which a worker would."""
    executions = (
        JobExecution.objects.pending() if include_delayed else JobExecution.objects.claimable()
    )
    if queue is not None:
        executions = executions.filter(queue=queue)
    if put_off:
        executions = executions.exclude(id__in=put_off)
    process_id = uuid.uuid4()
    with write_transaction(settings.DATABASE):
        row = (
            executions.order_by("-priority", "available_at", "id")
            .select_for_update(skip_locked=True)
            .values_list(*ATTEMPT_FIELDS)
            .first()
        )
        if row is None:
            return None
        JobExecution.objects.filter(id=row[0]).update(
            status=Status.RUNNING,
            aside_until=IN_LANE,
            claimed_by=process_id,
            attempt=F("attempt") + 1,
            started_at=DatabaseNow(),
        )
    return Attempt(row[0], row[1] + 1, process_id, *row[3:])


def _run(attempt: Attempt) -> Outcome:
    run = Run(attempt)
    with _savepoints():
        outcome = async_to_sync(execute_async)(run) if run.is_async else execute(run)
    settled = [outcome] if outcome.is_stored else settle_one_by_one([outcome])
    for each in settled:
        logs.settled(each)
        signals.settled(each)
    return outcome


@contextmanager
def _savepoints() -> Iterator[None]:
    """Keep the test's transactions usable: on PostgreSQL a failed statement would spoil them."""
    open_ones = [connections[alias] for alias in connections if connections[alias].in_atomic_block]
    with ExitStack() as stack:
        for connection in open_ones:
            stack.enter_context(transaction.atomic(using=connection.alias))
        yield
        for connection in open_ones:
            if not connection.is_usable():
                transaction.set_rollback(True, using=connection.alias)
