"""Send one alert to one target: by e-mail, or as JSON to a webhook."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from django.core.mail import mail_admins, send_mail
from django.utils.module_loading import import_string

from jobu.alerts.config import read_alerts
from jobu.exceptions import AlertError
from jobu.handlers.decorator import handler
from jobu.handlers.options import MAX_PRIORITY
from jobu.jsonable import ExactEncoder
from jobu.printable import printable

if TYPE_CHECKING:
    from jobu.alerts.config import Target

ALERT_HANDLER = "jobu.send_alert"
ALERT_QUEUE = "jobu-alerts"
_HTTP_SECONDS = 10
_MAX_SUBJECT_LENGTH = 200
_MAX_TEXT_LENGTH = 15_000


def register() -> None:
    """Make the handler known; called only where `JOBU_ALERTS` is set."""
    handler(
        ALERT_HANDLER,
        queue=ALERT_QUEUE,
        # Before all others: an alert that waits behind the backlog it tells of is of no use.
        priority=MAX_PRIORITY,
        max_retry=12,
        backoff=2,
        timeout_seconds=60,
    )(send_alert)


def send_alert(target: str, alert: dict[str, Any]) -> dict[str, str]:
    """Send an alert of jobu's own to the target of that name."""
    alerts = read_alerts()
    found = next((each for each in alerts.targets if each.name == target), None) if alerts else None
    if found is None:
        raise AlertError(f"JOBU_ALERTS has no target {target!r} any more")
    send(found, alert)
    return {"sent": alert["title"]}


def send(target: Target, alert: dict[str, Any]) -> None:
    """Send now, or raise AlertError."""
    if target.is_email:
        _mail(target, alert)
    else:
        _post(target, alert)


def default_body(alert: dict[str, Any]) -> dict[str, str]:
    """Return what Slack and Mattermost show: a title, and the rest as it stands."""
    text = _plain(alert["text"])
    return {"text": f"*{_plain(alert['title'])}*" + (f"\n```\n{text}\n```" if text else "")}


def _plain(text: str) -> str:
    """Escape what those two would read as links, mentions or the end of a quotation."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("```", "'''").replace("@", "@\u200b")


def _mail(target: Target, alert: dict[str, Any]) -> None:
    subject = printable(alert["title"])[:_MAX_SUBJECT_LENGTH]
    text = f"{alert['title']}\n\n{alert['text']}\n"[:_MAX_TEXT_LENGTH]
    try:
        if target.addresses:
            send_mail(subject, text, None, list(target.addresses))
        else:
            mail_admins(subject, text)
    except Exception as error:  # noqa: BLE001 - a backend of the project may raise anything
        # Its own text may have what the project's e-mail settings keep secret.
        raise AlertError(f"The e-mail could not be sent: {type(error).__name__}") from None


def _post(target: Target, alert: dict[str, Any]) -> None:
    make_body = import_string(target.body) if target.body else default_body
    body = make_body(alert)
    data = body if isinstance(body, bytes) else json.dumps(body, cls=ExactEncoder).encode()
    headers = {"Content-Type": "application/json", "User-Agent": "jobu", **target.headers}
    request = Request(target.url, data, headers, method="POST")  # noqa: S310 - the check allows http
    host = urlsplit(target.url).hostname
    try:
        with build_opener(_NoRedirect).open(request, timeout=_HTTP_SECONDS):
            return
    except HTTPError as error:
        error.close()
        reason = f"answered {error.code}"
    except URLError as error:
        reason = f"cannot be reached: {error.reason}"
    except (OSError, ValueError) as error:
        reason = f"cannot be reached: {type(error).__name__}"
    # Not chained: the errors of urllib know the whole address.
    raise AlertError(f"{host} {reason}") from None


class _NoRedirect(HTTPRedirectHandler):
    """Follow none: it could lead anywhere, and a POST would become a GET without the alert."""

    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        return None
