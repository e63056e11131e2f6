"""Alerts of what real processes did when they were killed, over real sockets."""

from __future__ import annotations

import json
import signal

import pytest

from jobu import enqueue
from jobu.alerts.sending import ALERT_HANDLER
from jobu.models import AlertState, JobExecution, Status
from tests.alerts.receivers import mailbox, webhook
from tests.waiting import wait_until
from tests.workers import WorkerProcesses

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.processes,
    pytest.mark.timeout(240),
]


def died(pk: int) -> bool:
    return JobExecution.objects.get(pk=pk).status == Status.FAILED


def told() -> int:
    return JobExecution.objects.filter(handler_name=ALERT_HANDLER, status=Status.SUCCESS).count()


def test_one_alert_is_sent_to_each_target_for_a_worker_that_was_killed(
    workers: WorkerProcesses,
) -> None:
    with webhook() as hook, mailbox() as box:
        alerts = {"email": ["ops@example.com"], "webhooks": [hook.address], "on": ["died"]}
        environment = {"JOBU_ALERTS": json.dumps(alerts), "JOBU_TEST_SMTP_PORT": str(box.port)}
        first = workers.start(**environment)
        wait_until(lambda: AlertState.objects.exists(), "the first look", workers.logs)
        execution = enqueue("sleep", {"seconds": 600}, max_retry=1)
        running = JobExecution.objects.running()
        wait_until(running.exists, "the claim", workers.logs)
        first.kill()
        rest = [workers.start(**environment) for _ in range(3)]
        wait_until(lambda: died(execution.pk), "the rescue", workers.logs)
        wait_until(lambda: bool(hook.posted and box.mails), "the alerts", workers.logs)
        wait_until(lambda: told() == 2, "their end", workers.logs)
        # Another death after all looks: what was told of the first is all that there is.
        for worker in rest:
            worker.send(signal.SIGTERM)
        assert [worker.wait(60) for worker in rest] == [0, 0, 0]
        assert JobExecution.objects.filter(handler_name=ALERT_HANDLER).count() == 2
        assert hook.titles() == ["*[jobu] 1 execution of sleep died: its process stopped beating*"]
        [mail] = box.mails
        assert "1 execution of sleep died" in mail.replace("\n ", " ")
        assert "SECRET" not in workers.logs()


def test_an_alert_whose_sender_is_killed_is_sent_by_another(workers: WorkerProcesses) -> None:
    with webhook() as hook:
        alerts = {"webhooks": [hook.address], "on": ["died"]}
        environment = {"JOBU_ALERTS": json.dumps(alerts)}
        # Nobody is there to take the message: the target refuses, and the sender dies meanwhile.
        hook.answers = [503] * 3
        first = workers.start(**environment)
        wait_until(lambda: AlertState.objects.exists(), "the first look", workers.logs)
        enqueue("fail", max_retry=1)
        alert = JobExecution.objects.filter(handler_name=ALERT_HANDLER, retry_count__gt=0)
        wait_until(alert.exists, "a failed attempt", workers.logs)
        first.kill()
        workers.start(**environment)
        wait_until(lambda: told() == 1, "the alert", workers.logs)
        assert len(hook.posted) == 1


def test_a_dispatcher_tells_that_no_worker_lives(workers: WorkerProcesses) -> None:
    with webhook() as hook:
        alerts = {"webhooks": [hook.address], "on": ["queue_old"], "queue_minutes": 0.05}
        enqueue("echo", queue="mail")
        workers.start_command("rundispatcher", JOBU_ALERTS=json.dumps(alerts))
        wait_until(lambda: bool(hook.posted), "the alert", workers.logs)
        wait_until(lambda: told() == 1, "its end", workers.logs)
        assert hook.titles() == ["*[jobu] queue with old executions*"]
        assert JobExecution.objects.get(queue="mail").status == Status.PENDING
