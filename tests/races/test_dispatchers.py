"""Many dispatchers at once, killed in the middle; with real processes."""

from __future__ import annotations

import signal
from datetime import timedelta

import pytest
from django.utils import timezone

from jobu.models import CronJob, JobExecution, Process
from tests.builders import cron, minute_ago, planned
from tests.waiting import wait_until
from tests.workers import WorkerProcesses

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]

CRONS = 5000


def make_due_crons() -> None:
    """Make 5,000 planned cron jobs whose daily tick has just come."""
    tick = minute_ago(timedelta(minutes=1))
    expression = f"{tick.minute} {tick.hour} * * *"
    CronJob.objects.bulk_create(
        [
            CronJob(
                name=f"cron {number}",
                cron_expression=expression,
                timezone="UTC",
                handler_name="echo",
                planned=f"cron {number}\n{expression}\nUTC",
                next_run_at=tick,
            )
            for number in range(CRONS)
        ],
        batch_size=500,
    )


def test_eight_dispatchers_half_of_them_killed_make_each_of_five_thousand_ticks_once(
    workers: WorkerProcesses,
) -> None:
    make_due_crons()
    dispatchers = [workers.start_command("rundispatcher") for _ in range(8)]
    wait_until(JobExecution.objects.exists, "a first execution", workers.logs)
    for _ in range(4):
        dispatchers.pop().kill()
    wait_until(lambda: not CronJob.objects.due().exists(), "all to be dispatched", workers.logs)
    assert JobExecution.objects.count() == CRONS
    assert JobExecution.objects.values("job").distinct().count() == CRONS
    assert not CronJob.objects.filter(next_run_at__lte=timezone.now()).exists()


def test_the_dispatcher_makes_executions_while_it_runs_and_stops_at_a_signal(
    workers: WorkerProcesses, vendor: str
) -> None:
    dispatcher = workers.start_command("rundispatcher", "--poll-interval", "0.3")
    wait_until(lambda: Process.objects.filter(kind="dispatcher").exists(), "it", workers.logs)
    job = cron(cron_expression="* * * * *")
    wait_until(
        lambda: CronJob.objects.get(pk=job.pk).next_run_at is not None, "its plan", workers.logs
    )
    CronJob.objects.update(next_run_at=minute_ago(timedelta()))
    # A raw edit of next_run_at alone is not announced; the edit of the schedule is.
    CronJob.objects.update(description="touched", is_enabled=True)
    wait_until(JobExecution.objects.exists, "the execution", workers.logs)
    dispatcher.send(signal.SIGTERM)
    assert dispatcher.wait() == 0, dispatcher.log
    assert not Process.objects.exists()


def test_once_dispatches_what_is_due_and_exits(workers: WorkerProcesses) -> None:
    job = planned()
    CronJob.objects.update(next_run_at=minute_ago(timedelta()))
    dispatcher = workers.start_command("rundispatcher", "--once")
    assert dispatcher.wait() == 0, dispatcher.log
    assert job.executions.count() == 1
