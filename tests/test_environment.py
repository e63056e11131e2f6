"""Settings from environment variables: each with its type, wrong ones refused with words."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import override_settings

from jobu.checks import check_settings
from jobu.conf import PREFIX, Settings, setting_types
from jobu.environment import env_example, settings_from_environment

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("WORKER_POOL_SIZE", "10", 10),
        ("LEASE_SECONDS", "12.5", 12.5),
        ("LEASE_SECONDS", "60", 60),
        ("API_HEALTH_OPEN", "false", False),
        ("API_HEALTH_OPEN", "On", True),
        ("DATABASE", "jobs", "jobs"),
        ("RETENTION_DAYS", "7", 7),
        ("RETENTION_DAYS", "", None),
        ("RUN_LOG_LEVEL", "", None),
        ("RUN_LOG_LEVEL", "DEBUG", "DEBUG"),
        ("KAFKA_TOPIC", "orders", "orders"),
        ("KAFKA_TOPIC", "orders, returns", ["orders", "returns"]),
        ("EVENT_QUEUES", "mail", ["mail"]),
        ("EVENT_QUEUES", "[]", []),
        ("EVENT_QUEUES", '["a,b", "c"]', ["a,b", "c"]),
        ("EVENT_PRIORITIES", "1,-5", [1, -5]),
        ("EVENT_PRIORITIES", "[1, -5]", [1, -5]),
        ("KAFKA_OPTIONS", '{"acks": "all"}', {"acks": "all"}),
        ("KAFKA_OPTIONS", "{}", {}),
    ],
)
def test_a_variable_becomes_a_setting_of_the_right_type(name: str, text: str, value: Any) -> None:
    read = settings_from_environment({PREFIX + name: text, "HOME": "/root"})
    assert read == {PREFIX + name: value}
    with override_settings(**read):
        assert not [error for error in check_settings() if error.id == "jobu.E001"]


def test_an_empty_variable_leaves_the_default_where_none_is_not_allowed() -> None:
    names = ("WORKER_POOL_SIZE", "DATABASE", "SENSITIVE_PARAMS", "KAFKA_OPTIONS", "API_HEALTH_OPEN")
    assert settings_from_environment(dict.fromkeys((PREFIX + name for name in names), "")) == {}


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("WORKER_POOL_SIZE", "ten", "a whole number"),
        ("WORKER_POOL_SIZE", "2.5", "a whole number"),
        ("LEASE_SECONDS", "30s", "a number"),
        ("API_HEALTH_OPEN", "perhaps", "true or false"),
        ("RETENTION_DAYS", "None", "a whole number or empty"),
        ("EVENT_PRIORITIES", "high", "a list with commas, as in a,b"),
        ("EVENT_QUEUES", "[mail", "a list with commas, as in a,b"),
        ("KAFKA_OPTIONS", "acks=all", 'a JSON object, as in {"a": 1}'),
        ("KAFKA_OPTIONS", "[]", 'a JSON object, as in {"a": 1}'),
    ],
)
def test_a_value_that_cannot_be_meant_is_refused_with_words(
    name: str, text: str, words: str
) -> None:
    with pytest.raises(ImproperlyConfigured) as caught:
        settings_from_environment({PREFIX + name: text})
    assert str(caught.value) == (
        f"The environment variable {PREFIX}{name} is {text!r}, but it must be {words}."
    )


def test_a_misspelt_variable_is_found_by_the_check() -> None:
    read = settings_from_environment({"JOBU_WORKER_POOL_SZE": "10"})
    with override_settings(**read):
        [warning] = check_settings()
    assert warning.id == "jobu.W001"
    assert warning.hint == "Did you mean JOBU_WORKER_POOL_SIZE?"


@pytest.mark.parametrize("name", ["JOBU_TEST_DATABASE", "JOBU_SUPERVISOR_PID", "JOBU_IMAGE"])
def test_a_variable_of_somebody_else_is_left_alone(name: str) -> None:
    assert settings_from_environment({name: "1"}) == {}


def test_the_example_names_every_setting_and_its_defaults_are_the_defaults() -> None:
    lines = env_example().splitlines()
    assignments = [line[1:].split("=", 1) for line in lines if line.startswith(f"#{PREFIX}")]
    read = settings_from_environment(dict(assignments))
    defaults = {PREFIX + name: getattr(Settings, name) for name in setting_types}
    assert read == defaults
    meanings = [line for line in lines if line.startswith("# ")]
    assert len(meanings) == len(setting_types)
    assert "# How many jobs one worker process runs at the same time." in meanings
