"""Workers that are killed, stopped and continued, with real processes and real signals."""

from __future__ import annotations

import signal
import time
from collections import Counter
from functools import partial

import pytest
from django.db.models import Count

from jobu import enqueue, enqueue_many
from jobu.models import CronJob, JobExecution, Process, Status
from tests.project.shop.models import Effect
from tests.waiting import wait_until
from tests.workers import WorkerProcesses

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]

MAX_KILLS = 8


def statuses() -> Counter[str]:
    return Counter(JobExecution.objects.values_list("status", flat=True))


@pytest.mark.timeout(300)
def test_nothing_is_lost_while_workers_are_killed_all_the_time(workers: WorkerProcesses) -> None:
    enqueue_many("effect", ({"note": "plain"} for _ in range(1000)), max_retry=100)
    enqueue_many("atomic_effect", ({"seconds": 0.004} for _ in range(1000)))
    # Kept connections: on PostgreSQL to open one for each job would be most of the test.
    start = partial(workers.start, JOBU_TEST_CONN_MAX_AGE="60")
    running = [start() for _ in range(4)]
    wait_until(lambda: statuses()[Status.SUCCESS] > 0, "a first success", workers.logs)
    unfinished = JobExecution.objects.exclude(status=Status.SUCCESS)
    killed = 0
    # Not for ever: on a busy machine it takes longer to start a worker than to kill it.
    while unfinished.exists() and killed < MAX_KILLS:
        time.sleep(0.5)
        running[0].wait_for_log("started")
        running.pop(0).kill()
        running.append(start())
        killed += 1
    assert killed >= 2
    wait_until(lambda: not unfinished.exists(), "the rest", workers.logs, timeout=200)
    assert statuses() == {Status.SUCCESS: 2000}
    atomic = set(
        JobExecution.objects.filter(handler_name="atomic_effect").values_list("id", flat=True)
    )
    effects = Counter(Effect.objects.filter(note="atomic").values_list("execution_id", flat=True))
    assert effects == dict.fromkeys(atomic, 1)
    plain = Effect.objects.filter(note="plain").values("execution_id").distinct()
    assert plain.count() == 1000


def test_a_late_result_of_a_stopped_worker_changes_nothing(workers: WorkerProcesses) -> None:
    execution = enqueue("sleep", {"seconds": 1})
    stopped = workers.start()
    wait_until(lambda: statuses()[Status.RUNNING] == 1, "the claim", workers.logs)
    stopped.send(signal.SIGSTOP)
    other = workers.start()
    wait_until(lambda: statuses()[Status.SUCCESS] == 1, "the rescue", workers.logs)
    execution.refresh_from_db()
    finished = (execution.attempt, execution.claimed_by, execution.finished_at, execution.errors)
    assert execution.attempt == 2
    assert "stopped beating" in execution.errors[0]["message"]
    assert f"execution {execution.pk} (sleep, attempt 1): rescued" in other.log

    stopped.send(signal.SIGCONT)
    stopped.wait_for_log(f"execution {execution.pk} (sleep, attempt 1): late result")
    execution.refresh_from_db()
    assert execution.status == Status.SUCCESS
    assert finished == (
        execution.attempt,
        execution.claimed_by,
        execution.finished_at,
        execution.errors,
    )
    # The stopped one registers again and goes on working.
    wait_until(lambda: Process.objects.alive().count() == 2, "its return", workers.logs)


def test_a_killed_worker_blocks_a_cron_without_overlap_for_no_longer_than_the_lease(
    workers: WorkerProcesses,
) -> None:
    cron = CronJob.objects.create(
        name="nightly", cron_expression="0 0 * * *", handler_name="sleep", allow_overlap=False
    )
    execution = enqueue("sleep", {"seconds": 600}, max_retry=1)
    JobExecution.objects.filter(pk=execution.pk).update(job=cron)
    worker = workers.start()
    wait_until(lambda: statuses()[Status.RUNNING] == 1, "the claim", workers.logs)
    worker.kill()
    workers.start()
    unfinished = cron.executions.exclude(pk__in=JobExecution.objects.finished())
    wait_until(lambda: not unfinished.exists(), "the end of the lost execution", workers.logs)
    execution.refresh_from_db()
    lease = 2.0
    lost_for = (execution.finished_at - execution.started_at).total_seconds()
    assert execution.status == Status.FAILED
    assert lost_for < lease + 20
    wait_until(lambda: Process.objects.count() == 1, "the dead process's row to go", workers.logs)


def test_a_job_that_kills_its_worker_takes_along_nothing_that_only_waited(
    workers: WorkerProcesses,
) -> None:
    # Short ones first: a worker that knows how short they are claims many ahead of its slots.
    enqueue_many("echo", ({} for _ in range(500)), max_retry=3)
    killer = enqueue("kill_worker")
    enqueue_many("echo", ({} for _ in range(500)), max_retry=3)
    for _ in range(3):
        # One slot, so that nothing runs beside it.
        assert workers.start("--pool-size", "1").wait(60) == -signal.SIGKILL
    workers.start()
    ended = {Status.SUCCESS: 1000, Status.FAILED: 1}
    wait_until(lambda: statuses() == ended, "the end of all of them", workers.logs)
    killer.refresh_from_db()
    assert (killer.status, killer.attempt) == (Status.FAILED, 3)


def test_eight_workers_on_one_database_run_each_execution_once(workers: WorkerProcesses) -> None:
    enqueue_many("effect", ({"note": "once"} for _ in range(1000)))
    # On a busy machine eight of them may need longer for a beat than the short lease of the tests.
    running = [workers.start("--drain", JOBU_LEASE_SECONDS="30") for _ in range(8)]
    assert [worker.wait(100) for worker in running] == [0] * 8, workers.logs()
    assert statuses() == {Status.SUCCESS: 1000}
    assert set(JobExecution.objects.values_list("attempt", flat=True)) == {1}, workers.logs()
    runs = Effect.objects.values("execution_id").annotate(runs=Count("id"))
    assert {row["runs"] for row in runs} == {1}, workers.logs()
    assert len(runs) == 1000
    assert "database is locked" not in workers.logs()
