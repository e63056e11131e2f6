"""One alert to one target, over real sockets."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import django
import pytest

from jobu import enqueue
from jobu.alerts import sending
from jobu.alerts.config import read_alerts
from jobu.alerts.sending import ALERT_HANDLER, send
from jobu.exceptions import AlertError
from jobu.models import Status
from jobu.testing import run_pending
from tests.alerts.receivers import Webhook, mailbox, webhook

pytestmark = pytest.mark.usefixtures("temporary_handlers")

ALERT = {
    "kind": "died",
    "title": "[shop] 2 executions of report died: ValueError",
    "text": "2 × report\n    ValueError: <!channel> ``` @all",
    "items": [],
}


def body_for_teams(alert: dict[str, Any]) -> dict[str, Any]:
    return {"summary": alert["title"], "kind": alert["kind"]}


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with webhook() as started:
        yield started


def send_to(settings: Any, **alerts: Any) -> None:
    settings.JOBU_ALERTS = alerts
    found = read_alerts()
    assert found is not None
    for target in found.targets:
        send(target, ALERT)


def test_a_webhook_gets_what_slack_and_mattermost_show(hook: Webhook, settings: Any) -> None:
    send_to(settings, webhooks=[hook.address])
    [body] = hook.posted
    assert body == {
        "text": "*[shop] 2 executions of report died: ValueError*\n```\n2 × report\n"
        "    ValueError: &lt;!channel&gt; ''' @\u200ball\n```"
    }
    assert hook.headers[0]["Content-Type"] == "application/json"


def test_a_project_makes_its_own_body_and_headers(hook: Webhook, settings: Any) -> None:
    own = {"url": hook.address, "body": f"{__name__}.body_for_teams", "headers": {"X-Key": "k"}}
    send_to(settings, webhooks=[own])
    assert hook.posted == [{"summary": ALERT["title"], "kind": "died"}]
    assert hook.headers[0]["X-Key"] == "k"


@pytest.mark.parametrize("status", [400, 403, 500])
def test_a_webhook_that_refuses_is_an_error_without_its_address(
    hook: Webhook, settings: Any, status: int
) -> None:
    hook.answers = [status]
    with pytest.raises(AlertError, match=f"127.0.0.1 answered {status}") as caught:
        send_to(settings, webhooks=[hook.address])
    assert caught.value.__suppress_context__
    assert "SECRET" not in str(caught.value)


def test_no_redirect_is_followed(hook: Webhook, settings: Any) -> None:
    hook.answers, hook.location = [307], "file:///etc/passwd"
    with pytest.raises(AlertError, match="answered 307"):
        send_to(settings, webhooks=[hook.address])
    hook.answers, hook.location = [302], hook.address
    with pytest.raises(AlertError, match="answered 302"):
        send_to(settings, webhooks=[hook.address])
    assert hook.posted == []


def test_a_webhook_that_is_not_there_is_an_error_without_its_address(settings: Any) -> None:
    with pytest.raises(AlertError, match=r"127\.0\.0\.1 cannot be reached") as caught:
        send_to(settings, webhooks=["http://127.0.0.1:1/SECRET"])
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("email", ["admins", ["ops@example.com"]])
def test_a_mail_arrives_by_smtp(settings: Any, email: Any) -> None:
    admin = "ann@example.com"
    settings.ADMINS = [("ann", admin)] if django.VERSION < (6,) else [admin]
    with mailbox() as box:
        backend = "django.core.mail.backends.smtp.EmailBackend"
        if django.VERSION < (6, 1):
            settings.EMAIL_BACKEND = backend
            settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", box.port
        else:
            options = {"host": "127.0.0.1", "port": box.port}
            settings.MAILERS = {"default": {"BACKEND": backend, "OPTIONS": options}}
        send_to(settings, email=email)
    [mail] = box.mails
    assert "2 executions of report died: ValueError" in mail
    assert "To: " + (admin if email == "admins" else "ops@example.com") in mail


def test_a_mail_that_cannot_be_sent_is_an_error(settings: Any, monkeypatch: Any) -> None:
    def fail(*_args: Any) -> None:
        raise OSError("password=hunter2")

    monkeypatch.setattr(sending, "send_mail", fail)
    with pytest.raises(AlertError) as caught:
        send_to(settings, email=["ops@example.com"])
    assert str(caught.value) == "The e-mail could not be sent: OSError"


@pytest.mark.django_db
def test_what_failed_is_tried_again_and_neither_stored_nor_logged_with_its_address(
    hook: Webhook, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.JOBU_ALERTS = {"webhooks": [hook.address]}
    sending.register()
    hook.answers = [503, 503]
    alerts = read_alerts()
    assert alerts is not None
    execution = enqueue(ALERT_HANDLER, {"target": alerts.targets[0].name, "alert": ALERT})
    with caplog.at_level(logging.DEBUG):
        run_pending(include_delayed=True)
    execution.refresh_from_db()
    assert (execution.status, execution.attempt) == (Status.SUCCESS, 3)
    assert len(hook.posted) == 1
    assert "127.0.0.1 answered 503" in str(execution.errors)
    assert "SECRET" not in str(execution.errors) + str(execution.params) + caplog.text


@pytest.mark.django_db
def test_a_target_that_was_taken_out_of_the_settings_fails_by_its_name(settings: Any) -> None:
    settings.JOBU_ALERTS = {"email": ["ops@example.com"]}
    sending.register()
    params = {"target": "webhook gone 123", "alert": ALERT}
    execution = enqueue(ALERT_HANDLER, params, max_retry=1)
    run_pending()
    execution.refresh_from_db()
    assert "JOBU_ALERTS has no target 'webhook gone 123' any more" in execution.error_message
