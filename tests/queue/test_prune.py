"""Old history goes, a little at a time, and nothing else does."""

from __future__ import annotations

import pytest

from jobu.dialects import DatabaseNow
from jobu.models import CronJob, JobExecution, LogLine, Status
from jobu.outcomes import FINISHED
from jobu.queue.prune import prune
from tests.builders import DAY, cron, finished, log_line, pending, running
from tests.connections import locked_elsewhere, patiently, together
from tests.plans import caught

pytestmark = pytest.mark.django_db


def left() -> set[JobExecution]:
    return set(JobExecution.objects.all())


def test_what_finished_longer_ago_is_deleted_and_the_rest_is_kept() -> None:
    kept = [finished(days_ago=days) for days in (0, 1, 29.9)]
    for days in (30.1, 31, 1000):
        finished(days_ago=days)
    assert sum(prune(30)) == 3
    assert left() == set(kept)


@pytest.mark.parametrize("status", FINISHED)
def test_every_kind_of_end_is_history(status: Status) -> None:
    finished(status, days_ago=31)
    assert list(prune(30)) == [1]
    assert not left()


@pytest.mark.parametrize(("days", "seconds_ago", "count"), [(0.5, 43_300, 1), (0.5, 43_000, 0)])
def test_days_may_be_fractions(days: float, seconds_ago: float, count: int) -> None:
    finished(days_ago=seconds_ago / DAY)
    assert sum(prune(days)) == count


def test_zero_days_are_all_history() -> None:
    finished(days_ago=0.001)
    waiting = pending()
    assert sum(prune(0)) == 1
    assert left() == {waiting}


def test_however_old_what_is_unfinished_is_never_touched() -> None:
    long_ago = DatabaseNow(-1000 * DAY)
    old = [
        pending(created_at=long_ago, available_at=long_ago),
        running(created_at=long_ago, available_at=long_ago, started_at=long_ago),
    ]
    assert list(prune(1)) == []
    assert left() == set(old)


def test_what_was_put_back_into_the_queue_by_other_means_is_never_touched() -> None:
    execution = finished(Status.FAILED, days_ago=1000)
    JobExecution.objects.filter(pk=execution.pk).update(status=Status.PENDING)
    assert list(prune(1)) == []
    assert left() == {execution}


def test_history_goes_in_batches_each_of_its_own() -> None:
    for _ in range(25):
        finished(days_ago=31)
    batches = prune(30, batch_size=10)
    assert next(batches) == 10
    assert JobExecution.objects.count() == 15
    assert list(batches) == [10, 5]
    assert not left()


def test_the_oldest_goes_first() -> None:
    executions = {days: finished(days_ago=days) for days in (40, 60, 50)}
    assert next(prune(30, batch_size=1)) == 1
    assert left() == {executions[40], executions[50]}


def test_a_prune_that_is_broken_off_has_deleted_what_it_said() -> None:
    for _ in range(5):
        finished(days_ago=31)
    deleted = 0
    for count in prune(30, batch_size=2):
        deleted += count
        if deleted >= 4:
            break
    assert JobExecution.objects.count() == 5 - deleted == 1


def test_nothing_to_prune_is_one_question() -> None:
    finished()
    with caught() as statements:
        assert list(prune(30)) == []
    assert len(statements) == 1


def test_a_prune_leaves_crons_alone() -> None:
    job = cron()
    finished(days_ago=31, job=job)
    assert sum(prune(30)) == 1
    assert list(CronJob.objects.all()) == [job]


@pytest.mark.row_locks
@pytest.mark.django_db(transaction=True)
def test_locked_rows_are_left_for_next_time() -> None:
    executions = [finished(days_ago=31) for _ in range(5)]
    with locked_elsewhere(executions[0], executions[3]):
        assert list(prune(30, batch_size=2)) == [2, 1]
        assert left() == {executions[0], executions[3]}
    assert list(prune(30)) == [2]


@pytest.mark.django_db(transaction=True)
def test_two_who_prune_together_delete_each_execution_once() -> None:
    for _ in range(100):
        finished(days_ago=31)
    recent = finished()

    def prune_all() -> int:
        deleted = 0

        def once() -> None:
            nonlocal deleted
            for count in prune(30, batch_size=7):
                deleted += count

        patiently(once)
        return deleted

    assert sum(together(prune_all, prune_all)) + sum(prune(30)) == 100
    assert left() == {recent}


def test_log_lines_go_with_their_execution() -> None:
    old, recent = finished(days_ago=31, result="x" * 1000), finished()
    log_line(old.pk), log_line(old.pk)
    kept = log_line(recent.pk)
    with caught() as statements:
        assert sum(prune(30)) == 1
    assert list(LogLine.objects.all()) == [kept]
    assert not [each for each in statements if '"result"' in each.sql or "`result`" in each.sql]


def test_log_lines_that_were_written_after_their_execution_was_deleted_go_too() -> None:
    gone, oldest = finished(), finished(days_ago=31)
    gone_id = gone.pk
    gone.delete()
    log_line(gone_id)
    kept = log_line(finished().pk)
    assert sum(prune(30)) == 1
    assert oldest not in left()
    assert list(LogLine.objects.all()) == [kept]
