"""Executions in every state, and other connections to meet them from."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar

import pytest
from django.db import OperationalError, connection, connections, transaction

from jobu import outcomes
from jobu.attempts import Attempt
from jobu.conf import settings
from jobu.dialects import DatabaseNow, database_time, dialect_of
from jobu.models import JobExecution, Process, Status
from jobu.models.process import ProcessKind
from jobu.outcomes import Outcome
from jobu.queue.claim import claim
from jobu.queue.lanes import find_lanes
from jobu.queue.settle import settle
from jobu.transactions import write_transaction

T = TypeVar("T")

DAY = 86_400
_PATIENCE_SECONDS = 60


def pending(**fields: Any) -> JobExecution:
    return JobExecution.objects.create(**{"handler_name": "echo", **fields})


def running(claimed_by: uuid.UUID | None = None, **fields: Any) -> JobExecution:
    return pending(
        **{
            "status": Status.RUNNING,
            "claimed_by": claimed_by or uuid.uuid4(),
            "attempt": 1,
            "started_at": DatabaseNow(),
            **fields,
        }
    )


def finished(
    status: Status = Status.SUCCESS, *, days_ago: float = 0, **fields: Any
) -> JobExecution:
    return running(status=status, finished_at=DatabaseNow(-days_ago * DAY), **fields)


def process(*, beat_seconds_ago: float = 0, **fields: Any) -> Process:
    return Process.objects.create(
        **{
            "kind": ProcessKind.WORKER,
            "host": "here",
            "pid": 1,
            "heartbeat_at": DatabaseNow(-beat_seconds_ago),
            **fields,
        }
    )


def attempt_of(execution: JobExecution) -> Attempt:
    """Return what the worker that runs the execution knows of it."""
    assert execution.claimed_by is not None
    return Attempt(
        execution.pk,
        execution.attempt,
        execution.claimed_by,
        execution.handler_name,
        execution.params,
        execution.queue,
        execution.retry_count,
        execution.max_retry,
        execution.timeout_seconds,
    )


def claim_now(
    limit: int = 1000, *, queues: Sequence[str] = (), process_id: uuid.UUID | None = None
) -> list[Attempt]:
    """Claim as a worker does: look for lanes first, then claim in a transaction of its own."""
    lanes = find_lanes(queues).lanes
    with write_transaction(settings.DATABASE):
        return claim(lanes, limit, process_id or uuid.uuid4())


def claimed(count: int = 1, **fields: Any) -> list[Attempt]:
    """Put executions into the queue and claim them."""
    for _ in range(count):
        pending(**fields)
    return claim_now(count)


def store(*settled: Outcome) -> None:
    """Settle in a transaction of its own."""
    with write_transaction(settings.DATABASE):
        settle(settled)


def row_of(attempt: Attempt) -> JobExecution:
    return JobExecution.objects.get(pk=attempt.execution_id)


def failure(attempt: Attempt, *, delay: float | None = None, message: str = "no luck") -> Outcome:
    """Return a failure, to be tried again after `delay` seconds, if given."""
    retry_delay = None if delay is None else lambda _failures: delay
    return outcomes.failed(attempt, message, "Traceback: …", retry_delay=retry_delay)


def database_now() -> datetime:
    return database_time(settings.DATABASE)


def column(execution: JobExecution | int, name: str) -> Any:
    """Return one column as the database holds it now."""
    pk = execution.pk if isinstance(execution, JobExecution) else execution
    return JobExecution.objects.values_list(name, flat=True).get(pk=pk)


def snapshot() -> list[dict[str, Any]]:
    return [dict(row) for row in JobExecution.objects.order_by("id").values()]


def together(*work: Callable[[], T]) -> list[T]:
    """Run each in a thread with a connection of its own, all let go at the same moment."""
    start = threading.Barrier(len(work))

    def run(function: Callable[[], T]) -> T:
        try:
            connections[settings.DATABASE].ensure_connection()
            start.wait(_PATIENCE_SECONDS)
            return function()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(work)) as pool:
        futures = [pool.submit(run, function) for function in work]
        return [future.result(_PATIENCE_SECONDS) for future in futures]


def patiently(function: Callable[[], T]) -> T:
    """Try again whenever the database says that trying again is all it takes, as a worker does."""
    for _ in range(100):
        try:
            return function()
        except OperationalError as error:
            if not dialect_of(connection).is_busy(error):
                raise
    raise AssertionError("The database was busy a hundred times in a row.")


@contextmanager
def rolled_back() -> Iterator[None]:
    """Be a caller whose transaction does not make it."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


needs_row_locks = pytest.mark.row_locks


@contextmanager
def locked_elsewhere(*executions: JobExecution) -> Iterator[None]:
    """Let a second connection hold the executions' row locks; fail soon if we wait for them."""
    other = connection.copy()
    hurry, relax = {
        "mysql": ("SET innodb_lock_wait_timeout = 3", "SET innodb_lock_wait_timeout = DEFAULT"),
        "postgresql": ("SET lock_timeout = '3s'", "SET lock_timeout = DEFAULT"),
    }[connection.vendor]
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            # One by one: for several at once, MariaDB may scan a small table and lock all of it.
            for execution in executions:
                cursor.execute(
                    f"SELECT id FROM {JobExecution._meta.db_table} WHERE id = %s FOR UPDATE",
                    [execution.pk],
                )
                assert cursor.fetchone() == (execution.pk,)
        with connection.cursor() as cursor:
            cursor.execute(hurry)
            yield
    finally:
        other.rollback()
        other.close()
        with connection.cursor() as cursor:
            cursor.execute(relax)
