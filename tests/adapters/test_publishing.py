"""Publish messages through whatever adapter the project has."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError
from django.test import override_settings

import jobu
from jobu.adapters import publishing
from jobu.exceptions import AdapterError, MessageError, NotJSONError
from jobu.messages.format import read_event
from tests.management.commands import run
from tests.memory_adapter import MemoryAdapter

pytestmark = pytest.mark.django_db


def test_publish_sends_a_message_that_can_be_read(outbox: list[Any]) -> None:
    when = datetime(2030, 1, 31, tzinfo=UTC)
    with override_settings(JOBU_EVENT_PRIORITIES=[5]):
        jobu.publish("echo", {"a": 1}, priority=5, available_at=when, dedupe_key="d", key="k")
    [(body, key)] = outbox
    event = read_event(body)
    assert (event.handler_name, event.params, event.priority) == ("echo", {"a": 1}, 5)
    assert (event.available_at, event.dedupe_key, key) == (when, "d", b"k")


def test_publish_refuses_what_no_dispatcher_could_read(outbox: list[Any]) -> None:
    with pytest.raises(MessageError, match="priority"):
        jobu.publish("echo", priority=10**6)
    with pytest.raises(NotJSONError):
        jobu.publish("echo", {"a": object()})
    assert outbox == []


def test_publish_refuses_what_this_projects_dispatchers_would_refuse(outbox: list[Any]) -> None:
    with pytest.raises(MessageError, match="may not start the handler 'effect'"):
        jobu.publish("effect")
    with pytest.raises(MessageError, match="JOBU_EVENT_QUEUES"):
        jobu.publish("echo", queue="vip")
    with (
        override_settings(JOBU_QUEUE_DISPATCHER_MAX_MESSAGE_BYTES=100),
        pytest.raises(MessageError),
    ):
        jobu.publish("echo", key="k" * 100)
    assert outbox == []
    # What a cron job allows is not looked up, and a handler may be another project's.
    jobu.publish("echo", queue="vip", job_id=1)
    jobu.publish("elsewhere", queue="vip", priority=9)
    assert len(outbox) == 2


def test_publish_keeps_its_adapter_until_a_setting_changes(outbox: list[Any]) -> None:
    jobu.publish("echo")
    first = publishing._adapter()
    jobu.publish("echo")
    assert publishing._adapter() is first
    with override_settings(JOBU_KAFKA_TOPIC="other"):
        assert publishing._adapter() is not first


class Unreachable(MemoryAdapter):
    def publish(self, body: bytes, *, key: bytes | None = None, headers: Any = ()) -> None:
        raise ConnectionError("no route\nto the broker")


@override_settings(JOBU_QUEUE_DISPATCHER_ADAPTER=f"{__name__}.Unreachable")
def test_whatever_a_queue_system_s_client_raises_is_an_adapter_error_in_one_line() -> None:
    with pytest.raises(AdapterError) as caught:
        jobu.publish("echo")
    assert str(caught.value) == "Unreachable did not take the message: no route\nto the broker"
    assert isinstance(caught.value.__cause__, ConnectionError)
    with pytest.raises(CommandError) as refused:
        run("jobu_publish", "echo")
    assert str(refused.value) == "Unreachable did not take the message: no route to the broker"


def test_an_adapter_that_cannot_publish_says_so() -> None:
    with (
        override_settings(JOBU_QUEUE_DISPATCHER_ADAPTER="tests.memory_adapter.MemoryAdapter"),
        pytest.raises(AdapterError, match="MemoryAdapter cannot publish"),
    ):
        jobu.publish("echo")


@pytest.mark.parametrize(
    ("path", "reason"),
    [("no.such.Adapter", "cannot be imported"), ("jobu.models.DeadLetter", "is no subclass")],
)
def test_a_setting_that_is_no_adapter_is_refused(path: str, reason: str) -> None:
    with override_settings(JOBU_QUEUE_DISPATCHER_ADAPTER=path):
        with pytest.raises(ImproperlyConfigured, match=reason):
            jobu.publish("echo")
        with pytest.raises(CommandError, match=reason):
            run("runqueuedispatcher")
