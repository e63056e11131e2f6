"""Rows of every kind; what a test does not name has a plain default."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from jobu import QueueMessage, outcomes
from jobu.attempts import Attempt
from jobu.conf import settings
from jobu.dialects import DatabaseNow, database_time, dialect_of
from jobu.dispatchers.dispatch import dispatch
from jobu.models import CronJob, DeadLetter, JobExecution, LogLine, Process, Status
from jobu.models.process import ProcessKind
from jobu.outcomes import Outcome
from jobu.queue.claim import claim
from jobu.queue.lanes import find_lanes
from jobu.queue.settle import settle
from jobu.transactions import write_transaction

DAY = 86_400


def cron(name: str = "nightly", cron_expression: str = "0 2 * * *", **fields: Any) -> CronJob:
    values = {"handler_name": "echo", **fields}
    return CronJob.objects.create(name=name, cron_expression=cron_expression, **values)


def planned(missed_since: timedelta = timedelta(), **fields: Any) -> CronJob:
    """Make a cron job of every minute that a dispatcher planned and then ignored for a while."""
    job = cron(**{"cron_expression": "* * * * *", "timezone": "UTC", **fields})
    dispatch()
    job.refresh_from_db()
    if missed_since:
        CronJob.objects.filter(pk=job.pk).update(next_run_at=minute_ago(missed_since))
    return job


def make_due(job: CronJob) -> None:
    CronJob.objects.filter(pk=job.pk).update(next_run_at=minute_ago(timedelta()))


def minute_ago(span: timedelta) -> datetime:
    return (timezone.now() - span).replace(second=0, microsecond=0)


def ticks(job: CronJob) -> list[datetime]:
    found = job.executions.order_by("scheduled_time").values_list("scheduled_time", flat=True)
    return [time for time in found if time is not None]


def many_crons(count: int, *, due: int) -> None:
    """Make planned daily cron jobs, of which the tick of some has just come."""
    now = timezone.now().replace(second=0, microsecond=0)
    expression = f"{now.minute} {now.hour} * * *"
    _insert_crons(range(due), expression, now)
    _insert_crons(range(due, count), expression, now + timedelta(days=1))


def _insert_crons(numbers: range, expression: str, next_run_at: datetime) -> None:
    """Insert in one statement: the ORM would take half a minute for them."""
    template = CronJob(
        cron_expression=expression,
        timezone="UTC",
        handler_name="echo",
        allow_overlap=False,
        next_run_at=next_run_at,
    )
    columns = {
        str(field.column): field.get_db_prep_save(field.pre_save(template, add=True), connection)
        for field in CronJob._meta.concrete_fields
        if field.name not in {"id", "name", "planned", "due_at"}
    }
    plan_key = "CONCAT(t.value, %s)" if connection.vendor != "sqlite" else "t.value || %s"
    sql = (
        f"INSERT INTO {CronJob._meta.db_table} ({', '.join(columns)}, name, planned) "
        f"SELECT {', '.join(['%s'] * len(columns))}, t.value, {plan_key} "
        f"FROM {dialect_of(connection).unpack_sql()}"
    )
    names = json.dumps([f"cron {number}" for number in numbers])
    with connection.cursor() as cursor:
        cursor.execute(sql, [*columns.values(), f"\n{expression}\nUTC", names])


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


def log_line(execution: JobExecution | int, **fields: Any) -> LogLine:
    """Make a line of the execution, or of the one that had this id."""
    return LogLine.objects.create(
        **{
            "execution_id": execution.pk if isinstance(execution, JobExecution) else execution,
            "attempt": 1,
            "logged_at": timezone.now(),
            "level": logging.INFO,
            "logger": "shop",
            "message": "hello",
            **fields,
        }
    )


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


def message(number: int = 0, body: bytes | None = None, **members: Any) -> QueueMessage:
    """Return a message of this body, or of a good one with these members."""
    if body is None:
        body = json.dumps({"handler_name": "echo", **members}).encode()
    return QueueMessage(id=f"events:0:{number}", body=body)


def dead_letter(body: bytes = b'{"handler_name": "ecco"}', **fields: Any) -> DeadLetter:
    return DeadLetter.objects.create(
        **{
            "adapter": "kafka",
            "source_id": f"orders:0:{DeadLetter.objects.count()}",
            "body": body,
            "reason": "No handler is named 'ecco'.",
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


def settle_now(*settled: Outcome) -> None:
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
