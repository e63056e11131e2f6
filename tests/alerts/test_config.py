"""The setting JOBU_ALERTS: what it means, and what is wrong with it."""

from __future__ import annotations

from typing import Any

import pytest

from jobu.alerts.config import KINDS, find_mistakes, read_alerts
from jobu.checks import check_settings

pytestmark = pytest.mark.pure

SECRET = "https://hooks.example.com/services/T0/SECRET"


def test_without_the_setting_nobody_is_told() -> None:
    assert read_alerts() is None
    assert list(find_mistakes()) == []


def test_a_target_has_a_name_without_its_secret(settings: Any) -> None:
    settings.JOBU_ALERTS = {
        "email": ["ops@example.com"],
        "webhooks": [SECRET, {"url": SECRET + "2"}],
    }
    alerts = read_alerts()
    assert alerts is not None
    assert (alerts.kinds, alerts.every_minutes, alerts.queue_minutes) == (KINDS, 5, 15)
    email, first, second = alerts.targets
    assert (email.name, email.is_email) == ("email ops@example.com", True)
    assert first.name.startswith("webhook hooks.example.com ")
    assert first.name != second.name
    assert "SECRET" not in repr(alerts) + str([str(each) for each in alerts.targets])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"emails": ["a@example.com"]}, "has 'emails', which it does not know"),
        ({"on": ["died"]}, "tells nobody"),
        ({"email": "admins"}, "the setting ADMINS is empty"),
        ({"email": "a@example.com"}, "must be 'admins' or a list of addresses"),
        ({"email": ["nobody"]}, "must be 'admins' or a list of addresses"),
        ({"webhooks": SECRET}, "'webhooks' that are no list"),
        ({"webhooks": ["ftp://example.com/SECRET"]}, "without an http:// or https:// address"),
        ({"webhooks": ["http://[SECRET"]}, "without an http:// or https:// address"),
        ({"webhooks": [{"link": SECRET}]}, "no dict of url, body, headers"),
        ({"webhooks": [{"url": SECRET, "body": "no.such"}]}, "'body' cannot be imported"),
        ({"webhooks": [{"url": SECRET, "headers": {"X": 1}}]}, "'headers' are no dict of texts"),
        ({"webhooks": [SECRET], "on": ["dead"]}, "must be a list of some of died"),
        ({"webhooks": [SECRET], "on": "died"}, "must be a list of some of died"),
        ({"webhooks": [SECRET], "every_minutes": 0}, "a number greater than zero"),
        ({"webhooks": [SECRET], "queue_minutes": "5"}, "a number greater than zero"),
        ({"webhooks": [SECRET], "name": 5}, "must be a text"),
    ],
)
def test_a_check_says_what_is_wrong_and_no_secret(
    settings: Any, value: dict[str, Any], said: str
) -> None:
    settings.JOBU_ALERTS = value
    found = check_settings()
    assert {each.id for each in found} == {"jobu.E009"}
    assert said in str(found)
    assert "SECRET" not in str(found)
