"""The system checks of settings: each id, what it says and what it advises."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from django.db import connection
from django.test import override_settings

from jobu.checks import check_settings
from jobu.conf import Settings, setting_types

Found = list[tuple[str, str, str]]


def found_with(**options: Any) -> Found:
    with override_settings(**options):
        return [(str(m.id), m.msg, str(m.hint)) for m in check_settings()]


def test_the_settings_of_the_project_pass() -> None:
    assert found_with() == []


@pytest.mark.parametrize(
    ("name", "value", "needs", "default"),
    [
        ("WORKER_POOL_SIZE", "5", "a whole number", "5"),
        ("WORKER_POOL_SIZE", 2.5, "a whole number", "5"),
        ("WORKER_POOL_SIZE", True, "a whole number", "5"),
        ("WORKER_POOL_SIZE", None, "a whole number", "5"),
        ("LEASE_SECONDS", "long", "a number", "30"),
        ("DATABASE", 5, "a text", "'default'"),
        ("RETENTION_DAYS", True, "a whole number or None", "30"),
        ("RETENTION_DAYS", "for ever", "a whole number or None", "30"),
        ("KAFKA_TOPIC", 5, "a text or a list of texts", "'jobu-events'"),
        ("KAFKA_TOPIC", ["events", 5], "a text or a list of texts", "'jobu-events'"),
        ("KAFKA_OPTIONS", "{}", "a dict", "{}"),
        ("EVENT_QUEUES", "mail", "a list of texts", "[]"),
        ("EVENT_PRIORITIES", ["high"], "a list of whole numbers", "[]"),
        ("API_HEALTH_OPEN", 1, "True or False", "True"),
        ("SENSITIVE_PARAMS", "password", "a list of texts", f"{Settings.SENSITIVE_PARAMS}"),
        ("SENSITIVE_PARAMS", ["pin", 1], "a list of texts", f"{Settings.SENSITIVE_PARAMS}"),
        ("API_HEALTH_OPEN", "no", "True or False", "True"),
    ],
)
def test_e001_a_setting_of_the_wrong_type(name: str, value: Any, needs: str, default: str) -> None:
    assert found_with(**{f"JOBU_{name}": value}) == [
        (
            "jobu.E001",
            f"JOBU_{name} is {value!r}, but it must be {needs}.",
            f"Its default is {default}.",
        )
    ]


NUMBERS = sorted(
    name
    for name, expected in setting_types.items()
    if {int, float} & {expected, *get_args(expected)}
    and name
    not in ("EVENT_PRIORITIES", "MAX_RETRY", "RETENTION_DAYS", "RUN_LOG_LEVEL", "TIMEOUT_SECONDS")
)


@pytest.mark.parametrize(("name", "least"), [("MAX_RETRY", 0), ("TIMEOUT_SECONDS", 1)])
def test_e001_a_default_that_no_execution_can_have(name: str, least: int) -> None:
    assert found_with(**{f"JOBU_{name}": least}) == []
    [(identifier, message, _)] = found_with(**{f"JOBU_{name}": least - 1})
    assert identifier == "jobu.E001"
    assert message == (
        f"JOBU_{name} is {least - 1}, but {name.lower()} must be a whole number of {least} or "
        f"more, not {least - 1}."
    )


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [0, -1])
def test_e001_a_number_that_is_not_positive(name: str, value: int) -> None:
    [(identifier, message, hint)] = found_with(**{f"JOBU_{name}": value})
    assert identifier == "jobu.E001"
    assert message == f"JOBU_{name} is {value}, but it must be greater than zero."
    assert hint.startswith("Its default is ")


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("EVENT_HANDLERS", "any", "JOBU_EVENT_HANDLERS is 'any', but it must be 'declared' or"),
        ("EVENT_QUEUES", ["mail", ""], "JOBU_EVENT_QUEUES has '', but queue must be a name"),
        ("EVENT_PRIORITIES", [1, 40_000], "JOBU_EVENT_PRIORITIES has 40000, but priority must be"),
    ],
)
def test_e001_a_value_that_no_message_could_use(name: str, value: Any, problem: str) -> None:
    [(identifier, message, _)] = found_with(**{f"JOBU_{name}": value})
    assert identifier == "jobu.E001"
    assert message.startswith(problem)


def test_what_messages_may_ask_for_may_be_anything_possible() -> None:
    given = {"QUEUES": ["mail"], "PRIORITIES": [0, -5, 100], "HANDLERS": "all"}
    assert found_with(**{f"JOBU_EVENT_{name}": value for name, value in given.items()}) == []


def test_a_setting_that_is_true_or_false_may_be_either() -> None:
    assert found_with(JOBU_API_HEALTH_OPEN=False) == []


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_e001_a_number_that_is_not_finite(value: float) -> None:
    [(identifier, message, _hint)] = found_with(JOBU_LEASE_SECONDS=value)
    assert identifier == "jobu.E001"
    assert message.startswith(f"JOBU_LEASE_SECONDS is {value}, but ")


def test_e001_a_log_level_that_logging_does_not_know() -> None:
    [(identifier, message, hint)] = found_with(JOBU_RUN_LOG_LEVEL="LOUD")
    assert identifier == "jobu.E001"
    assert message == "JOBU_RUN_LOG_LEVEL is 'LOUD', but logging has no such level."
    assert "WARNING" in hint
    assert "None keeps no log lines." in hint
    assert found_with(JOBU_RUN_LOG_LEVEL=None) == []
    assert found_with(JOBU_RUN_LOG_LEVEL="DEBUG") == []


def test_e001_a_negative_retention() -> None:
    assert found_with(JOBU_RETENTION_DAYS=-1) == [
        (
            "jobu.E001",
            "JOBU_RETENTION_DAYS is -1, but it must not be negative.",
            "Use None to keep history for ever.",
        )
    ]
    assert found_with(JOBU_RETENTION_DAYS=None) == []
    assert found_with(JOBU_RETENTION_DAYS=0) == []


def test_e008_an_adapter_that_cannot_be_imported() -> None:
    [(identifier, message, _hint)] = found_with(
        JOBU_QUEUE_DISPATCHER_ADAPTER="shop.adapters.Missing"
    )
    assert identifier == "jobu.E008"
    assert message.startswith(
        "JOBU_QUEUE_DISPATCHER_ADAPTER is 'shop.adapters.Missing', which cannot be "
    )
    assert found_with(JOBU_QUEUE_DISPATCHER_ADAPTER="jobu.adapters.base.BaseQueueAdapter") == []


def test_a_whole_number_serves_where_a_number_is_needed() -> None:
    assert found_with(JOBU_LEASE_SECONDS=60) == []


def test_a_wrong_type_does_not_break_the_checks_of_combinations() -> None:
    found = found_with(JOBU_LEASE_SECONDS="long", USE_TZ=False)
    assert [identifier for identifier, _, _ in found] == ["jobu.E001"]


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        (
            {"JOBU_LEASE_SECONDS": 10, "JOBU_HEARTBEAT_INTERVAL_SECONDS": 5},
            "JOBU_LEASE_SECONDS (10) must be longer than two heartbeats "
            "(JOBU_HEARTBEAT_INTERVAL_SECONDS is 5).",
            "Otherwise one late heartbeat makes others run a living worker's jobs again.",
        ),
        (
            {"JOBU_WORKER_MAX_POLL_INTERVAL_SECONDS": 1, "JOBU_WORKER_POLL_INTERVAL_SECONDS": 2},
            "JOBU_WORKER_MAX_POLL_INTERVAL_SECONDS is less than JOBU_WORKER_POLL_INTERVAL_SECONDS.",
            "An idle worker doubles its wait from the second to the first.",
        ),
        (
            {"JOBU_BACKOFF_MAX_SECONDS": 1, "JOBU_BACKOFF_BASE_SECONDS": 2},
            "JOBU_BACKOFF_MAX_SECONDS is less than JOBU_BACKOFF_BASE_SECONDS.",
            "The delay before a retry grows from the second to the first.",
        ),
    ],
)
def test_e002_settings_that_do_not_go_together(
    options: dict[str, Any], message: str, hint: str
) -> None:
    assert found_with(**options) == [("jobu.E002", message, hint)]


@pytest.mark.parametrize(
    "options",
    [
        {"JOBU_LEASE_SECONDS": 10.5, "JOBU_HEARTBEAT_INTERVAL_SECONDS": 5},
        {"JOBU_WORKER_MAX_POLL_INTERVAL_SECONDS": 2, "JOBU_WORKER_POLL_INTERVAL_SECONDS": 2},
        {"JOBU_BACKOFF_MAX_SECONDS": 2, "JOBU_BACKOFF_BASE_SECONDS": 2},
    ],
)
def test_settings_that_just_go_together_pass(options: dict[str, Any]) -> None:
    assert found_with(**options) == []


def test_e003_a_project_without_time_zones() -> None:
    assert found_with(USE_TZ=False) == [
        (
            "jobu.E003",
            "jobu needs USE_TZ = True.",
            "Times that decide when a job runs must not depend on a server's local time.",
        )
    ]


def test_e004_a_database_that_is_not_there() -> None:
    assert found_with(JOBU_DATABASE="nowhere") == [
        (
            "jobu.E004",
            "JOBU_DATABASE is 'nowhere', but DATABASES has no such alias.",
            "DATABASES has default, other.",
        )
    ]


class OnlyReadsElsewhere:
    def db_for_read(self, model: Any, **hints: Any) -> str:
        return "default"


@pytest.mark.parametrize(
    "routers",
    [[], ["tests.checks.test_settings.OnlyReadsElsewhere", "jobu.router.JobuRouter"]],
    ids=["none", "another first"],
)
def test_e005_routers_that_send_jobu_elsewhere(routers: list[str]) -> None:
    assert found_with(JOBU_DATABASE="other", DATABASE_ROUTERS=routers) == [
        (
            "jobu.E005",
            "JOBU_DATABASE is 'other', but Django's routers send jobu's models elsewhere.",
            'Put "jobu.router.JobuRouter" first in DATABASE_ROUTERS.',
        )
    ]


def test_another_database_with_the_router_passes() -> None:
    assert found_with(JOBU_DATABASE="other") == []
    assert found_with(DATABASE_ROUTERS=[]) == []


def test_e007_a_database_whose_times_django_would_read_in_another_zone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(connection.settings_dict, "TIME_ZONE", "Asia/Seoul")
    reads_times_as_they_are = connection.features.supports_timezones
    found = [identifier for identifier, _message, _hint in found_with()]
    assert found == ([] if reads_times_as_they_are else ["jobu.E007"])
    monkeypatch.setitem(connection.settings_dict, "TIME_ZONE", "UTC")
    assert found_with() == []


def test_w001_a_misspelt_setting() -> None:
    assert found_with(JOBU_WORKERS_POOL_SIZE=5) == [
        (
            "jobu.W001",
            "jobu has no setting JOBU_WORKERS_POOL_SIZE.",
            "Did you mean JOBU_WORKER_POOL_SIZE?",
        )
    ]


def test_w001_a_setting_like_no_other() -> None:
    [(identifier, message, hint)] = found_with(JOBU_XYZZY=5)
    assert (identifier, message) == ("jobu.W001", "jobu has no setting JOBU_XYZZY.")
    assert hint == f"It has {', '.join(f'JOBU_{name}' for name in setting_types)}."


def test_w001_leaves_the_variable_of_a_supervisor_alone() -> None:
    assert found_with(JOBU_SUPERVISOR_PID="123") == []


def test_e001_an_empty_name_among_the_sensitive_ones() -> None:
    [(found_id, message, _hint)] = found_with(JOBU_SENSITIVE_PARAMS=["pin", ""])
    assert (found_id, message) == ("jobu.E001", "JOBU_SENSITIVE_PARAMS has an empty name.")
    assert found_with(JOBU_SENSITIVE_PARAMS=[]) == []


@pytest.mark.parametrize("name", ["ADAPTER", "BATCH_SIZE", "MAX_PENDING", "MAX_MESSAGE_BYTES"])
def test_w001_a_setting_without_the_name_of_its_process(name: str) -> None:
    [(identifier, _, hint)] = found_with(**{f"JOBU_QUEUE_{name}": 5})
    assert (identifier, hint) == ("jobu.W001", f"Did you mean JOBU_QUEUE_DISPATCHER_{name}?")
