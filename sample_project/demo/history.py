"""Two days of history, made up, so that the admin has something to show at once."""

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from jobu.models import CronJob, JobExecution, Status
from jobu.models.job_execution import ParamSource

HOURS = 48
FAILURES = {
    Status.FAILED: "ConnectionError: the supplier did not answer",
    Status.TIMEOUT: "The handler ran longer than 60 s.",
}


def make_history(jobs: list[CronJob]) -> int:
    """Make what is missing of it; the same hours give the same executions."""
    this_hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    executions = [
        execution
        for job in jobs
        for hour in range(1, HOURS + 1)
        for execution in _executions(job, this_hour - timedelta(hours=hour))
    ]
    before = JobExecution.objects.count()
    JobExecution.objects.bulk_create(executions, ignore_conflicts=True, batch_size=100)
    return JobExecution.objects.count() - before


def _executions(job: CronJob, tick: datetime) -> Iterator[JobExecution]:
    dice = random.Random(f"{job.name} {tick.isoformat()}")
    status = dice.choices([Status.SUCCESS, *FAILURES], weights=[94, 4, 2])[0]
    started = tick + timedelta(seconds=dice.uniform(0.05, 0.5))
    finished = started + timedelta(seconds=dice.lognormvariate(-1, 1))
    attempts = 1 if status == Status.SUCCESS else job.max_retry
    yield JobExecution(
        job=job,
        handler_name=job.handler_name,
        params=job.handler_params,
        param_source=ParamSource.CRON,
        dedupe_key=f"demo:{job.name}:{tick.isoformat()}",
        scheduled_time=tick,
        created_at=tick,
        available_at=tick,
        started_at=started,
        finished_at=finished,
        status=status,
        attempt=attempts,
        max_retry=job.max_retry,
        retry_count=0 if status == Status.SUCCESS else attempts,
        error_message=FAILURES.get(status, ""),
        errors=[_error(status, number, finished) for number in range(1, attempts + 1)]
        if status in FAILURES
        else [],
    )


def _error(status: Status, number: int, at: datetime) -> dict[str, Any]:
    return {
        "attempt": number,
        "at": at.isoformat(),
        "process": "00000000-0000-0000-0000-000000000000",
        "status": status.value,
        "message": FAILURES[status],
        "traceback": "Made up by seed_demo.",
    }
