"""Make cron jobs of the schedules that handlers declare in code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobu.conf import settings
from jobu.handlers.registry import handlers
from jobu.models import CronJob
from jobu.models.fields import project_timezone
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from jobu.handlers.registry import HandlerSpec


def sync() -> list[str]:
    """Create or update the declared cron jobs; return a line for each that says what was done.

    Edits in the admin stay: a row is updated only if its schedule is still the one that code
    declared before.
    """
    declaring = [spec for spec in handlers if spec.cron is not None]
    with write_transaction(settings.DATABASE):
        report = [_sync_one(spec, spec.cron or "") for spec in declaring]
        names = [spec.name for spec in declaring]
        orphans = CronJob.objects.exclude(declared="").exclude(name__in=names)
        report += [
            f"{name}: no longer declared in code; left as it is"
            for name in orphans.values_list("name", flat=True).order_by("name")
        ]
    return report


def _sync_one(spec: HandlerSpec, expression: str) -> str:
    timezone = spec.timezone or project_timezone()
    declared = f"{expression}\n{timezone}"
    job, created = CronJob.objects.select_for_update().get_or_create(
        name=spec.name,
        defaults={
            "cron_expression": expression,
            "timezone": timezone,
            "handler_name": spec.name,
            "max_retry": spec.options.max_retry,
            "timeout_seconds": spec.options.timeout_seconds,
            "queue": spec.options.queue,
            "priority": spec.options.priority,
            "declared": declared,
        },
    )
    if created:
        return f"{spec.name}: created ({expression}, {timezone})"
    if job.declared == declared:
        return f"{spec.name}: unchanged"
    if job.declared != f"{job.cron_expression}\n{job.timezone}":
        return f"{spec.name}: edited by hand, kept ({job.cron_expression}, {job.timezone})"
    CronJob.objects.filter(pk=job.pk).update(
        cron_expression=expression, timezone=timezone, declared=declared
    )
    return f"{spec.name}: updated ({expression}, {timezone})"
