"""Rescue executions whose process stopped beating."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef

from jobu import logs, outcomes, signals
from jobu.attempts import Attempt
from jobu.conf import settings
from jobu.handlers.registry import handlers
from jobu.models import JobExecution, Process
from jobu.models.job_execution import ATTEMPT_FIELDS
from jobu.queue.settle import REFUSED, settle, settle_one_by_one
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from jobu.models.job_execution import JobExecutionQuerySet
    from jobu.outcomes import Outcome

_BATCH_SIZE = 500


def rescue() -> list[Outcome]:
    """Fail the attempts of dead processes, by the same retry rule as any other failure.

    A rescued run counts: a job that kills its worker must not do so for ever.
    """
    rescued: list[Outcome] = []
    # Looked at before a transaction is opened: there is nearly always nothing to do.
    while _orphans().exists():
        batch = _rescue_batch()
        if not batch:
            break
        rescued += batch
    _forget_dead_processes()
    for outcome in rescued:
        logs.rescued(outcome)
        signals.send(signals.execution_rescued, outcome=outcome)
    return rescued


def _orphans() -> JobExecutionQuerySet:
    beating = Process.objects.alive().filter(id=OuterRef("claimed_by"))
    return JobExecution.objects.running().filter(~Exists(beating))


def _rescue_batch() -> list[Outcome]:
    failures: list[Outcome] = []
    try:
        with write_transaction(settings.DATABASE):
            failures = [_failure(attempt) for attempt in _lock_lost_attempts()]
            settle(failures)
    except REFUSED:
        return settle_one_by_one(failures)
    return failures


def _lock_lost_attempts() -> list[Attempt]:
    rows = _orphans().select_for_update(skip_locked=True).values_list(*ATTEMPT_FIELDS)
    return [Attempt(*row) for row in rows[:_BATCH_SIZE]]


def _failure(attempt: Attempt) -> Outcome:
    options = handlers.options_of(attempt.handler_name)
    return outcomes.failed(
        attempt,
        f"Process {attempt.claimed_by} stopped beating while it ran this attempt.",
        "",
        retry_delay=partial(options.retry_delay, attempt),
    )


def _forget_dead_processes() -> None:
    holding = JobExecution.objects.running().filter(claimed_by=OuterRef("id"))
    dead = Process.objects.stale().filter(~Exists(holding))
    # Deleted by id: MySQL cannot delete from a table that the same statement reads.
    if ids := list(dead.values_list("id", flat=True)):
        Process.objects.stale().filter(id__in=ids).delete()
