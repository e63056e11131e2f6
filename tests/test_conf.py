"""Settings are looked up live, with the defaults written beside their names."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.signals import setting_changed
from django.test import override_settings

from jobu.conf import Settings, setting_types, settings


def test_a_setting_of_the_project_wins_over_the_default() -> None:
    with override_settings(JOBU_WORKER_POOL_SIZE=17):
        assert settings.WORKER_POOL_SIZE == 17


def test_a_setting_is_looked_up_each_time() -> None:
    with override_settings(JOBU_RETENTION_DAYS=7):
        assert settings.RETENTION_DAYS == 7
        with override_settings(JOBU_RETENTION_DAYS=None):
            assert settings.RETENTION_DAYS is None
        assert settings.RETENTION_DAYS == 7


@pytest.mark.parametrize("name", sorted(setting_types))
def test_a_setting_that_the_project_lacks_has_its_default(name: str) -> None:
    setting = f"JOBU_{name}"
    with override_settings(**{setting: None}):
        delattr(django_settings, setting)
        setting_changed.send(None, setting=setting, value=None, enter=True)
        assert getattr(settings, name) == vars(Settings)[name]


def test_a_setting_without_its_prefix_is_not_ours() -> None:
    with override_settings(WORKER_POOL_SIZE=17):
        assert settings.WORKER_POOL_SIZE == 5


def test_a_setting_that_jobu_lacks_is_an_attribute_error() -> None:
    with override_settings(JOBU_NO_SUCH_THING=1), pytest.raises(AttributeError):
        _ = settings.NO_SUCH_THING  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "default"),
    [
        ("DATABASE", "default"),
        ("WORKER_POOL_SIZE", 5),
        ("WORKER_POLL_INTERVAL_SECONDS", 1.0),
        ("WORKER_MAX_POLL_INTERVAL_SECONDS", 10.0),
        ("WORKER_CLAIM_BATCH_SIZE", 500),
        ("WORKER_SHUTDOWN_TIMEOUT_SECONDS", 30),
        ("HEARTBEAT_INTERVAL_SECONDS", 5),
        ("LEASE_SECONDS", 30),
        ("BACKOFF_BASE_SECONDS", 1),
        ("BACKOFF_MAX_SECONDS", 3600),
        ("RETENTION_DAYS", 30),
        ("RUN_LOG_LEVEL", "INFO"),
    ],
)
def test_the_defaults_are_those_that_projects_rely_on(name: str, default: Any) -> None:
    assert vars(Settings)[name] == default


def test_every_setting_has_a_type() -> None:
    upper: dict[str, Any] = {
        name: value for name, value in vars(Settings).items() if name.isupper()
    }
    assert set(upper) == set(setting_types)
    assert setting_types["WORKER_POOL_SIZE"] is int
    assert setting_types["RETENTION_DAYS"] == int | None
