"""Rescue executions whose process stopped beating."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, Q

from jobu import logs, outcomes, signals
from jobu.attempts import Attempt
from jobu.conf import settings
from jobu.handlers.registry import handlers
from jobu.models import JobExecution, Process
from jobu.models.job_execution import ATTEMPT_FIELDS
from jobu.queue.settle import REFUSED, settle, settle_one_by_one
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from uuid import UUID

    from jobu.models.job_execution import JobExecutionQuerySet
    from jobu.outcomes import Outcome

_BATCH_SIZE = 500


def rescue(judge: UUID | None = None) -> list[Outcome]:
    """Fail the attempts of dead processes, by the same retry rule as any other failure.

    A rescued run counts: a job that kills its worker must not do so for ever. The process that
    rescues is the `judge`. If the database stood still after the judge's last heartbeat, that
    heartbeat is too old for each statement here, and no process is taken for dead.
    """
    rescued: list[Outcome] = []
    # Checked before a transaction is opened, because there is nearly always nothing to do.
    while orphans(judge).exists():
        batch = _rescue_batch(judge)
        if not batch:
            break
        # At once: what comes next may fail, and nobody would hear of this batch.
        for outcome in batch:
            logs.rescued(outcome)
            signals.rescued(outcome)
        rescued += batch
    _forget_dead_processes(judge)
    return rescued


def orphans(judge: UUID | None = None) -> JobExecutionQuerySet:
    """Return the running executions of processes that did not beat within the lease."""
    beating = Process.objects.alive().filter(id=OuterRef("claimed_by"))
    return JobExecution.objects.running().filter(~Exists(beating), _may_judge(judge))


def _may_judge(judge: UUID | None) -> Q:
    return Q() if judge is None else Q(Exists(Process.objects.steady().filter(id=judge)))


def _rescue_batch(judge: UUID | None) -> list[Outcome]:
    failures: list[Outcome] = []
    try:
        with write_transaction(settings.DATABASE):
            failures = [_failure(attempt) for attempt in _lock_lost_attempts(judge)]
            settle(failures)
    except REFUSED:
        return settle_one_by_one(failures)
    return failures


def _lock_lost_attempts(judge: UUID | None) -> list[Attempt]:
    rows = orphans(judge).select_for_update(skip_locked=True).values_list(*ATTEMPT_FIELDS)
    return [Attempt(*row) for row in rows[:_BATCH_SIZE]]


def _failure(attempt: Attempt) -> Outcome:
    options = handlers.options_of(attempt.handler_name)
    return outcomes.failed(
        attempt,
        f"Process {attempt.claimed_by} stopped beating while it ran this attempt.",
        "",
        retry_delay=partial(options.retry_delay, attempt),
    )


def _forget_dead_processes(judge: UUID | None) -> None:
    holding = JobExecution.objects.running().filter(claimed_by=OuterRef("id"))
    dead = Process.objects.stale().filter(~Exists(holding), _may_judge(judge))
    # By their ids, because MySQL cannot delete from a table that the same statement reads.
    if ids := list(dead.values_list("id", flat=True)):
        Process.objects.stale().filter(id__in=ids).delete()
