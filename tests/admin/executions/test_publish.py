"""Publish a message from the admin, through whatever adapter the project has."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from jobu.models import JobExecution
from tests.admin.pages import history, list_of, staff, told
from tests.builders import cron
from tests.memory_adapter import Outbox

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("outbox")]

PUBLISH = reverse("admin:jobu_publish")
HANDLER = reverse("admin:jobu_cronjob_handler")


def test_a_message_is_published(admin_client: Client) -> None:
    assert PUBLISH in admin_client.get(list_of(JobExecution)).text
    assert admin_client.get(PUBLISH).status_code == 200
    job = cron()
    form = {"handler_name": "echo", "params": '{"a": 1}', "job_id": job.pk, "key": "k"}
    page = admin_client.post(PUBLISH, form, follow=True)
    assert told(page) == ["The message for echo was published."]
    [(body, key)] = Outbox.sent
    assert (b'"handler_name": "echo"' in body, b'"params": {"a": 1}' in body) == (True, True)
    assert (f'"job_id": {job.pk}'.encode() in body, key) == (True, b"k")
    assert history() == [("admin", "", "Published a message.")]


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        ({"handler_name": "sleep", "params": '{"seconds": "x"}'}, "seconds must be a number"),
        ({"handler_name": "echo", "params": "{"}, "This is not JSON"),
        ({"handler_name": "nope"}, "Select a valid choice"),
        ({"handler_name": "effect"}, "Select a valid choice"),
        ({"handler_name": "echo", "job_id": "99"}, "There is no cron job with this id"),
    ],
)
def test_what_no_dispatcher_could_use_is_not_published(
    admin_client: Client, form: dict[str, str], problem: str
) -> None:
    assert problem in admin_client.post(PUBLISH, form).text
    assert Outbox.sent == []


def test_a_queue_system_that_is_down_is_told_and_not_a_crash(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Outbox, "is_down", True)
    page = admin_client.post(PUBLISH, {"handler_name": "echo"})
    assert "the &lt;broker&gt; is down" in page.text
    assert history() == []


def test_it_is_offered_only_where_a_queue_system_is_configured(
    admin_client: Client, settings: Any
) -> None:
    del settings.JOBU_QUEUE_DISPATCHER_ADAPTER
    assert PUBLISH not in admin_client.get(list_of(JobExecution)).text
    settings.JOBU_KAFKA_BOOTSTRAP_SERVERS = "kafka:9092"
    assert PUBLISH in admin_client.get(list_of(JobExecution)).text


def test_publishing_has_its_own_permission() -> None:
    stranger = staff("view_jobexecution", "change_jobexecution")
    assert PUBLISH not in stranger.get(list_of(JobExecution)).text
    assert stranger.get(PUBLISH).status_code == 403
    assert stranger.post(PUBLISH, {"handler_name": "echo"}).status_code == 403
    friend = staff("publish_message")
    assert friend.post(PUBLISH, {"handler_name": "echo"}).status_code == 302
    assert len(Outbox.sent) == 1


def test_who_may_only_publish_learns_what_handlers_of_messages_take() -> None:
    friend = staff("publish_message")
    assert HANDLER in friend.get(PUBLISH).text
    answer = friend.get(HANDLER, {"name": "sleep"})
    assert answer.status_code == 200
    assert [field["name"] for field in answer.json()["fields"]] == ["seconds"]
    # Messages may not start this one.
    assert friend.get(HANDLER, {"name": "effect"}).status_code == 404
    assert staff("view_cronjob").get(HANDLER, {"name": "effect"}).status_code == 200
    assert staff("view_jobexecution").get(HANDLER, {"name": "sleep"}).status_code == 403
