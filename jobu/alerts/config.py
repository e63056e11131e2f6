"""What `JOBU_ALERTS` says: whom to tell, of what, and how often."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings as django_settings
from django.utils.module_loading import import_string

from jobu.conf import settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

KINDS = ("died", "cron_paused", "cron_missed", "queue_old", "no_worker")
ADMINS = "admins"
_KEYS = ("email", "webhooks", "on", "queue_minutes", "every_minutes", "name", "admin_url")
_WEBHOOK_KEYS = ("url", "body", "headers")
_SCHEMES = ("http", "https")


@dataclass(frozen=True, repr=False)
class Target:
    """Somewhere to send an alert to; its repr shows nothing that is secret.

    `name` stays the same while the setting does, and tells no secret: it is stored and logged.
    """

    name: str
    addresses: tuple[str, ...] = ()
    url: str = ""
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Target {self.name}>"

    @property
    def is_email(self) -> bool:
        return not self.url


@dataclass(frozen=True)
class Alerts:
    """The setting, with its defaults."""

    targets: tuple[Target, ...]
    kinds: tuple[str, ...] = KINDS
    queue_minutes: float = 15
    every_minutes: float = 5
    name: str = "jobu"
    admin_url: str = ""


def read_alerts() -> Alerts | None:
    """Return what the setting says; None if it is empty, so that nobody is to be told."""
    given = settings.ALERTS
    if not given:
        return None
    options = {
        name: given[name]
        for name in ("queue_minutes", "every_minutes", "name", "admin_url")
        if name in given
    }
    kinds = tuple(given.get("on", KINDS))
    return Alerts(targets=tuple(_targets(given)), kinds=kinds, **options)


def find_mistakes() -> Iterator[str]:
    """Yield what is wrong with the setting, without the secrets that are in it."""
    given = settings.ALERTS
    if not given:
        return
    yield from (
        f"has {name!r}, which it does not know; it knows {', '.join(_KEYS)}"
        for name in given
        if name not in _KEYS
    )
    if not given.get("email") and not given.get("webhooks"):
        yield "tells nobody: it needs 'email' or 'webhooks'"
    yield from _mistakes_of_email(given.get("email"))
    yield from _mistakes_of_webhooks(given.get("webhooks", []))
    on = given.get("on", KINDS)
    if not isinstance(on, list | tuple) or not set(map(str, on)) <= set(KINDS):
        yield f"has {on!r} as 'on', which must be a list of some of {', '.join(KINDS)}"
    for name in ("queue_minutes", "every_minutes"):
        value = given.get(name, 1)
        if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            yield f"has {value!r} as {name!r}, which must be a number greater than zero"
    for name in ("name", "admin_url"):
        if not isinstance(given.get(name, ""), str):
            yield f"has {given[name]!r} as {name!r}, which must be a text"


def _mistakes_of_email(email: Any) -> Iterator[str]:
    if email in (None, "", [], ()):
        return
    if email == ADMINS:
        if not django_settings.ADMINS:
            yield "tells the admins by e-mail, but the setting ADMINS is empty"
    elif not isinstance(email, list | tuple) or not all(
        isinstance(each, str) and "@" in each for each in email
    ):
        yield f"has {email!r} as 'email', which must be 'admins' or a list of addresses"


def _mistakes_of_webhooks(webhooks: Any) -> Iterator[str]:
    if not isinstance(webhooks, list | tuple):
        yield "has 'webhooks' that are no list"
        return
    for number, each in enumerate(webhooks, start=1):
        options = {"url": each} if isinstance(each, str) else each
        if not isinstance(options, dict) or set(options) - set(_WEBHOOK_KEYS):
            keys = ", ".join(_WEBHOOK_KEYS)
            yield f"has a webhook (number {number}) that is no address and no dict of {keys}"
            continue
        # The address is not quoted: whoever has it can post.
        if not _is_address(options.get("url")):
            yield f"has a webhook (number {number}) without an http:// or https:// address"
        headers = options.get("headers", {})
        if not isinstance(headers, dict) or not all(
            isinstance(text, str) for pair in headers.items() for text in pair
        ):
            yield f"has a webhook (number {number}) whose 'headers' are no dict of texts"
        if path := options.get("body"):
            try:
                import_string(path)
            except Exception as error:  # noqa: BLE001 - a module may fail in any way
                yield f"has a webhook (number {number}) whose 'body' cannot be imported: {error}"


def _is_address(url: Any) -> bool:
    try:
        parts = urlsplit(url) if isinstance(url, str) else None
    except ValueError:
        return False
    return parts is not None and parts.scheme in _SCHEMES and bool(parts.hostname)


def _targets(given: Mapping[str, Any]) -> Iterator[Target]:
    if email := given.get("email"):
        is_admins = email == ADMINS
        addresses = () if is_admins else tuple(email)
        yield Target(f"email {ADMINS if is_admins else ', '.join(addresses)}", addresses)
    for each in given.get("webhooks", ()):
        options: dict[str, Any] = {"url": each} if isinstance(each, str) else each
        url = options["url"]
        digest = hashlib.sha256(url.encode()).hexdigest()[:8]
        yield Target(
            f"webhook {urlsplit(url).hostname} {digest}",
            url=url,
            body=options.get("body", ""),
            headers=options.get("headers", {}),
        )
