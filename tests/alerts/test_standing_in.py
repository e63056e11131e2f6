"""A process that is no worker sends alerts while no worker could."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connections

from jobu import enqueue
from jobu.alerts import sending
from jobu.alerts.config import read_alerts
from jobu.alerts.sending import ALERT_HANDLER, ALERT_QUEUE
from jobu.alerts.standing_in import StandIn
from jobu.models import JobExecution, Process, Status
from tests.alerts.receivers import webhook
from tests.builders import pending, process
from tests.waiting import wait_for_end

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("temporary_handlers"),
]

ALERT = {"kind": "no_worker", "title": "[shop] jobs that nobody runs", "text": "", "items": []}


def alert_to(settings: Any, address: str) -> JobExecution:
    settings.JOBU_ALERTS = {"webhooks": [address]}
    sending.register()
    alerts = read_alerts()
    assert alerts is not None
    return enqueue(ALERT_HANDLER, {"target": alerts.targets[0].name, "alert": ALERT})


def stand_in() -> StandIn:
    return StandIn(process(kind="dispatcher").pk)


def wait_for(standing_in: StandIn) -> None:
    assert standing_in._thread is not None
    standing_in._thread.join(60)
    connections.close_all()


def test_what_a_dispatcher_sends_is_settled_as_by_a_worker(settings: Any) -> None:
    with webhook() as hook:
        execution = alert_to(settings, hook.address)
        other = pending(queue="other")
        standing_in = stand_in()
        standing_in.send_if_needed()
        wait_for(standing_in)
        assert hook.titles() == ["*[shop] jobs that nobody runs*"]
    assert wait_for_end(execution).status == Status.SUCCESS
    assert execution.claimed_by == Process.objects.get().pk
    assert execution.result == {"sent": ALERT["title"]}
    other.refresh_from_db()
    assert other.status == Status.PENDING


def test_what_cannot_be_sent_is_tried_again_later(settings: Any) -> None:
    with webhook() as hook:
        hook.answers = [500]
        execution = alert_to(settings, hook.address)
        standing_in = stand_in()
        standing_in.send_if_needed()
        wait_for(standing_in)
        execution.refresh_from_db()
        assert (execution.status, execution.retry_count) == (Status.PENDING, 1)
        assert "SECRET" not in str(execution.errors)


def test_nobody_stands_in_for_a_living_worker(settings: Any) -> None:
    execution = alert_to(settings, "http://127.0.0.1:1/")
    standing_in = stand_in()
    process(queues=[ALERT_QUEUE])
    standing_in.send_if_needed()
    assert standing_in._thread is None
    execution.refresh_from_db()
    assert execution.status == Status.PENDING
