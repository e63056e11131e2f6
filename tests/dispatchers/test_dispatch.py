"""Which ticks become executions."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from jobu.dispatchers.dispatch import dispatch, seconds_to_next
from jobu.exceptions import OptionError
from jobu.models import CronJob, JobExecution, Status
from jobu.queue.rescue import rescue
from tests.builders import cron, finished, make_due, minute_ago, planned, ticks

pytestmark = pytest.mark.django_db

THREE_HOURS = timedelta(hours=3)


def test_a_new_cron_job_is_planned_and_does_not_fire_the_past() -> None:
    job = cron(cron_expression="* * * * *")
    assert dispatch() == 1
    job.refresh_from_db()
    assert ticks(job) == []
    assert job.next_run_at is not None
    assert timedelta() < job.next_run_at - timezone.now() <= timedelta(minutes=1)
    assert dispatch() == 0


def test_a_tick_becomes_an_execution_with_a_snapshot_of_the_cron() -> None:
    job = planned(
        handler_params={"a": 1}, queue="reports", priority=4, max_retry=7, timeout_seconds=9
    )
    make_due(job)
    assert dispatch() == 1
    CronJob.objects.update(handler_params={"a": 2})
    [execution] = JobExecution.objects.all()
    assert (execution.handler_name, execution.params) == ("echo", {"a": 1})
    assert (execution.queue, execution.priority, execution.param_source) == ("reports", 4, "cron")
    assert (execution.max_retry, execution.timeout_seconds) == (7, 9)
    assert execution.scheduled_time == minute_ago(timedelta())
    job.refresh_from_db()
    assert job.last_run_at == execution.scheduled_time
    assert dispatch() == 0


@pytest.mark.parametrize(("misfire", "runs"), [("latest", 1), ("skip", 0), ("all", 36)])
def test_after_three_hours_of_downtime_the_policy_decides(misfire: str, runs: int) -> None:
    job = planned(cron_expression="*/5 * * * *", misfire=misfire)
    # Not a multiple of five minutes ago, so that no tick is on time.
    now = timezone.now()
    newest = now.replace(minute=now.minute // 5 * 5, second=0, microsecond=0)
    if now - newest < timedelta(seconds=90):
        CronJob.objects.update(
            cron_expression="2-57/5 * * * *", planned="nightly\n2-57/5 * * * *\nUTC"
        )
        newest -= timedelta(minutes=3)
    CronJob.objects.filter(pk=job.pk).update(next_run_at=newest - timedelta(minutes=5 * 35))
    dispatch()
    found = ticks(job)
    assert len(found) == runs
    assert found == sorted(found)
    if runs:
        assert found[-1] == newest


def test_what_was_missed_before_the_window_is_skipped() -> None:
    job = planned(THREE_HOURS, misfire="all", misfire_window_seconds=600)
    dispatch()
    assert 10 <= len(ticks(job)) <= 11


def test_ticks_outside_of_start_and_end_do_not_come() -> None:
    starts, ends = minute_ago(timedelta(minutes=20)), minute_ago(timedelta(minutes=10))
    job = planned(THREE_HOURS, misfire="all", starts_at=starts, ends_at=ends)
    dispatch()
    assert ticks(job) == [starts + timedelta(minutes=n) for n in range(11)]


def test_no_overlap_skips_ticks_while_an_execution_is_unfinished() -> None:
    job = planned(allow_overlap=False)
    make_due(job)
    dispatch()
    execution = JobExecution.objects.get()
    # Of an earlier tick: the next one would be new.
    JobExecution.objects.update(scheduled_time=minute_ago(THREE_HOURS))
    states: list[dict[str, Any]] = [
        {"status": Status.PENDING},
        {"status": Status.RUNNING, "claimed_by": uuid.uuid4(), "attempt": 1},
        {"status": Status.PENDING, "retry_count": 1, "available_at": timezone.now() + THREE_HOURS},
    ]
    for state in states:
        JobExecution.objects.filter(pk=execution.pk).update(**state)
        make_due(job)
        assert dispatch() == 1
        assert JobExecution.objects.count() == 1, state
    # A rescued execution that is out of runs frees it.
    JobExecution.objects.update(status=Status.RUNNING, claimed_by=uuid.uuid4(), max_retry=1)
    assert len(rescue()) == 1
    make_due(job)
    dispatch()
    assert JobExecution.objects.count() == 2


def test_no_overlap_makes_one_execution_of_many_missed_ticks() -> None:
    job = planned(THREE_HOURS, misfire="all", allow_overlap=False)
    dispatch()
    assert len(ticks(job)) == 1


def test_a_tick_that_has_an_execution_is_not_made_again() -> None:
    job = planned()
    for _ in range(3):
        make_due(job)
        dispatch()
    assert JobExecution.objects.count() == 1


@pytest.mark.parametrize("by_sql", [False, True])
def test_an_edit_by_any_means_takes_effect_and_fires_nothing_of_the_past(by_sql: bool) -> None:
    job = planned(cron_expression="0 0 1 1 *")
    assert seconds_to_next() is not None
    if by_sql:
        with connection.cursor() as cursor:
            cursor.execute("UPDATE jobu_cronjob SET cron_expression = '* * * * *'")
    else:
        CronJob.objects.update(cron_expression="* * * * *")
    assert seconds_to_next() == 0
    assert dispatch() == 1
    job.refresh_from_db()
    assert ticks(job) == []
    assert job.next_run_at is not None
    assert job.next_run_at - timezone.now() <= timedelta(minutes=1)


def test_re_enabling_does_not_fire_the_past() -> None:
    job = planned()
    CronJob.objects.update(is_enabled=False)
    assert dispatch() == 1
    CronJob.objects.update(next_run_at=minute_ago(THREE_HOURS))
    assert dispatch() == 0
    CronJob.objects.update(is_enabled=True)
    assert dispatch() == 1
    assert ticks(job) == []


def test_a_row_that_cannot_be_dispatched_is_marked_once_and_stops_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    good = planned(name="good")
    bad = [
        cron("no expression", "nonsense"),
        cron("never", "0 0 31 2 *"),
        cron("no params"),
        cron("no zone"),
    ]
    CronJob.objects.filter(name="no params").update(handler_params=[1])
    CronJob.objects.filter(name="no zone").update(timezone="Mars/Olympus")
    make_due(good)
    assert dispatch() == 5
    assert dispatch() == 0
    assert len(ticks(good)) == 1
    for job in bad:
        job.refresh_from_db()
        assert job.problem
        assert job.next_run_at is None
        assert caplog.text.count(f"cron job {job.name!r} is left out") == 1
    CronJob.objects.filter(name="no expression").update(cron_expression="* * * * *")
    assert dispatch() == 1
    bad[0].refresh_from_db()
    assert bad[0].problem == ""


def test_dead_executions_in_a_row_pause_it() -> None:
    job = planned(pause_after_failures=2)
    for minutes, status in ((9, Status.FAILED), (8, Status.SUCCESS), (7, Status.TIMEOUT)):
        finished(status, job=job, scheduled_time=minute_ago(timedelta(minutes=minutes)))
    make_due(job)
    dispatch()
    assert JobExecution.objects.pending().count() == 1
    JobExecution.objects.pending().update(status=Status.FAILED, finished_at=timezone.now())
    make_due(job)
    dispatch()
    job.refresh_from_db()
    assert not job.is_enabled
    assert job.problem == "Paused: its last 2 executions ended dead."
    assert not JobExecution.objects.pending().exists()


def test_jitter_moves_the_start_but_not_the_tick() -> None:
    job = planned(jitter_seconds=30)
    make_due(job)
    dispatch()
    [execution] = JobExecution.objects.all()
    assert execution.scheduled_time is not None
    delay = execution.available_at - execution.scheduled_time
    assert timedelta() <= delay <= timedelta(seconds=30)
    assert job.row(execution.scheduled_time)["available_at"] == execution.available_at


def test_run_now_is_outside_of_the_schedule() -> None:
    job = planned(handler_params={"a": 1, "b": 1})
    first, second = job.run_now(), job.run_now({"b": 2})
    assert first.params == {"a": 1, "b": 1}
    assert second.params == {"a": 1, "b": 2}
    assert second.param_source == "manual"
    assert set(JobExecution.objects.claimable()) == {first, second}


def test_a_backfill_makes_each_tick_once() -> None:
    job = planned()
    start, end = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 1, tzinfo=UTC)
    assert job.backfill(start, end) == 61
    assert job.backfill(start, end + timedelta(minutes=1)) == 1
    assert ticks(job) == [start + timedelta(minutes=n) for n in range(62)]
    with pytest.raises(OptionError, match="backfill a shorter time"):
        job.backfill(start, start + timedelta(days=30))
