"""Two days of history, made up, so that the admin has something to show at once."""

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.utils import timezone

from jobu.models import CronJob, JobExecution, Status
from jobu.models.job_execution import ParamSource

HOURS = 48
# So old, at least, that three attempts have ended by now.
SETTLED = timedelta(minutes=6)
TIMEOUT_SECONDS = 60
# About how long a run takes, in seconds.
DURATIONS = {"import_products": 10.0, "multi_db_report": 1.5, "nightly_report": 4.0}
USUAL_DURATION = 0.3


class Failure(NamedTuple):
    """A way to fail: its text, and how long a run takes that ends so."""

    status: Status
    message: str
    seconds: float


FAILURES = (
    Failure(Status.FAILED, "ConnectionError: order {}: the supplier did not answer in 5 s", 5.0),
    Failure(Status.FAILED, "ValueError: order {} has no address", 0.02),
    Failure(
        Status.TIMEOUT,
        f"The handler ran longer than its timeout of {TIMEOUT_SECONDS} s.",
        TIMEOUT_SECONDS,
    ),
)


def make_history(jobs: list[CronJob]) -> int:
    """Make what is missing of it; the same hours give the same executions."""
    now = timezone.now()
    this_hour = now.replace(minute=0, second=0, microsecond=0)
    executions = [
        execution
        for job in jobs
        for tick in {
            *(this_hour - timedelta(hours=hour) for hour in range(1, HOURS + 1)),
            *_last_hour(job, now),
        }
        for execution in _executions(job, tick)
    ]
    before = JobExecution.objects.count()
    JobExecution.objects.bulk_create(executions, ignore_conflicts=True, batch_size=100)
    return JobExecution.objects.count() - before


def _last_hour(job: CronJob, now: datetime) -> list[datetime]:
    """Return the ticks of the last hour, unless it has a history already."""
    start = now - timedelta(hours=1)
    if job.executions.filter(finished_at__gte=start).exists():
        return []
    return list(job.ticks(start, now - SETTLED, 60))


def _executions(job: CronJob, tick: datetime) -> Iterator[JobExecution]:
    dice = random.Random(f"{job.name} {tick.isoformat()}")
    failure = dice.choice(FAILURES) if dice.random() < 0.06 else None
    attempts = job.max_retry if failure else 1
    seconds = failure.seconds if failure else _duration(job, dice)
    message = failure.message.format(dice.randrange(1_000, 9_999)) if failure else ""
    available, errors = tick, []
    for number in range(1, attempts + 1):
        started = available + timedelta(seconds=dice.uniform(0.02, 0.4))
        finished = started + timedelta(seconds=seconds)
        if failure:
            errors.append(_error(failure, message, number, finished))
        if number < attempts:
            available = finished + timedelta(seconds=dice.uniform(0.5, 2**number))
    yield JobExecution(
        job=job,
        handler_name=job.handler_name,
        params=job.handler_params,
        param_source=ParamSource.CRON,
        dedupe_key=f"demo:{job.name}:{tick.isoformat()}",
        scheduled_time=tick,
        created_at=tick,
        available_at=available,
        started_at=started,
        finished_at=finished,
        status=failure.status if failure else Status.SUCCESS,
        attempt=attempts,
        max_retry=job.max_retry,
        timeout_seconds=TIMEOUT_SECONDS,
        retry_count=attempts if failure else 0,
        error_message=message,
        errors=errors,
    )


def _duration(job: CronJob, dice: random.Random) -> float:
    usual = DURATIONS.get(job.handler_name, USUAL_DURATION)
    return min(usual * dice.lognormvariate(0, 0.4), TIMEOUT_SECONDS - 1)


def _error(failure: Failure, message: str, number: int, at: datetime) -> dict[str, Any]:
    return {
        "attempt": number,
        "at": at.isoformat(),
        "process": "00000000-0000-0000-0000-000000000000",
        "status": failure.status.value,
        "message": message,
        "traceback": f"Traceback (most recent call last):\n  (made up by seed_demo)\n{message}",
    }
