"""Cron jobs as a test wants them."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from jobu.dialects import dialect_of
from jobu.dispatchers.dispatch import dispatch
from jobu.models import CronJob, JobExecution


def cron(name: str = "cron", expression: str = "* * * * *", **fields: Any) -> CronJob:
    return CronJob.objects.create(
        name=name, cron_expression=expression, handler_name="echo", timezone="UTC", **fields
    )


def planned(missed_since: timedelta = timedelta(), **fields: Any) -> CronJob:
    """Make a cron job that a dispatcher planned and then nobody looked at for a while."""
    job = cron(**fields)
    dispatch()
    job.refresh_from_db()
    if missed_since:
        CronJob.objects.filter(pk=job.pk).update(next_run_at=minute_ago(missed_since))
    return job


def minute_ago(span: timedelta) -> datetime:
    return (timezone.now() - span).replace(second=0, microsecond=0)


def ticks(job: CronJob) -> list[datetime]:
    found = JobExecution.objects.filter(job=job).order_by("scheduled_time")
    return list(found.values_list("scheduled_time", flat=True))


def make_due(job: CronJob) -> None:
    CronJob.objects.filter(pk=job.pk).update(next_run_at=minute_ago(timedelta()))


def many_crons(count: int, *, due: int) -> None:
    """Make planned daily cron jobs, of which the tick of some has just come."""
    now = timezone.now().replace(second=0, microsecond=0)
    expression = f"{now.minute} {now.hour} * * *"
    _insert(range(due), expression, now)
    _insert(range(due, count), expression, now + timedelta(days=1))


def _insert(numbers: range, expression: str, next_run_at: datetime) -> None:
    """Insert in one statement: the ORM would take half a minute for them."""
    template = CronJob(
        cron_expression=expression,
        timezone="UTC",
        handler_name="echo",
        allow_overlap=False,
        next_run_at=next_run_at,
    )
    columns = {
        field.column: field.get_db_prep_save(field.pre_save(template, add=True), connection)
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
