"""The system checks of the database: the server, its time limits, cron jobs that cannot run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.checks import Tags, run_checks
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import OperationalError, connection, connections
from django.test import override_settings

from jobu.checks import check_bounds, check_database
from jobu.dialects import dialect_for, dialect_of
from tests.builders import cron


def database_findings() -> list[tuple[str, str, str]]:
    messages = check_database(databases=["default"])
    return [(str(m.id), m.msg, str(m.hint)) for m in messages]


@pytest.mark.django_db
def test_a_database_that_serves_passes() -> None:
    assert database_findings() == []


@pytest.mark.django_db
def test_e006_a_server_that_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    dialect = dialect_for("default")
    monkeypatch.setattr(dialect, "missing_requirement", lambda _connection: "Too old; 9 is not")
    assert database_findings() == [
        ("jobu.E006", "Too old; 9 is not.", "Upgrade the database server.")
    ]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (
            {"cron_expression": "61 * * * *"},
            "'61 * * * *' is not a cron expression: its minute field '61' is not valid; "
            "use 0-59, such as '30', '0,45' or '*/15'",
        ),
        (
            {"timezone": "Europe/Atlantis"},
            "'Europe/Atlantis' is not a time zone; use a name such as 'Europe/Berlin' or 'UTC'",
        ),
        ({"handler_name": "vanished"}, "no installed app has a handler 'vanished'"),
        (
            {"handler_name": "effect", "handler_params": {"nope": 1}},
            "its handler does not take its params: unknown params: nope; the handler takes note",
        ),
    ],
)
def test_w003_a_cron_job_that_cannot_run(fields: dict[str, Any], problem: str) -> None:
    cron(name="good")
    cron(name="bad", **fields)
    cron(name="off", is_enabled=False, **fields)
    assert database_findings() == [
        (
            "jobu.W003",
            f"The cron job 'bad' cannot run: {problem}.",
            "Correct or disable it in the admin.",
        )
    ]


@pytest.mark.django_db
def test_w003_names_every_problem_of_a_cron_job() -> None:
    cron(name="bad", cron_expression="often", timezone="here", handler_name="vanished")
    assert [identifier for identifier, _, _ in database_findings()] == ["jobu.W003"] * 3


@pytest.mark.django_db
def test_the_database_is_left_alone_unless_it_is_asked_for() -> None:
    cron(name="bad", handler_name="vanished")
    assert check_database() == []
    assert check_database(databases=[]) == []
    assert check_database(databases=["other"]) == []


@pytest.mark.django_db(databases=["default", "other"])
def test_a_database_without_jobu_s_tables_passes() -> None:
    with override_settings(JOBU_DATABASE="other"):
        assert check_database(databases=["other"]) == []


@pytest.fixture
def unreachable_database(django_db_blocker: Any, tmp_path: Any) -> Iterator[str]:
    """An alias like `default`, but nobody is there."""
    reachable = connections.settings["default"]
    missing = tmp_path / "no such folder" / "file"
    name = missing if connections["default"].vendor == "sqlite" else reachable["NAME"]
    connections.settings["gone"] = {**reachable, "NAME": name, "HOST": "127.0.0.1", "PORT": "1"}
    try:
        with django_db_blocker.unblock():
            yield "gone"
    finally:
        del connections["gone"]
        del connections.settings["gone"]


def test_an_unreachable_database_is_somebody_else_s_to_report(unreachable_database: str) -> None:
    with pytest.raises(OperationalError):
        connections[unreachable_database].ensure_connection()
    with override_settings(JOBU_DATABASE=unreachable_database):
        assert check_database(databases=[unreachable_database]) == []


@pytest.mark.pure
@override_settings(DATABASE_ROUTERS=[])
def test_the_checks_of_models_pass_while_a_second_database_is_down(django_db_blocker: Any) -> None:
    """Since Django 6.1 each command asks the checks of models about every database."""
    second = {"ENGINE": "django.db.backends.postgresql", "NAME": "x", "HOST": "127.0.0.1"}
    connections.settings["gone"] = {**connections.settings["default"], **second, "PORT": "1"}
    connections.settings["gone"]["OPTIONS"] = {}
    try:
        with django_db_blocker.unblock():
            with pytest.raises(OperationalError):
                connections["gone"].ensure_connection()
            assert run_checks(tags=[Tags.models], databases=["default", "gone"]) == []
    finally:
        del connections["gone"]
        del connections.settings["gone"]


def test_a_database_that_is_not_there_does_not_break_its_check() -> None:
    with override_settings(JOBU_DATABASE="nowhere"):
        assert check_database(databases=["nowhere"]) == []


@pytest.mark.django_db
def test_django_runs_the_checks() -> None:
    cron(name="bad", handler_name="vanished")
    with override_settings(JOBU_XYZZY=5, USE_TZ=False):
        found = {str(message.id) for message in run_checks(databases=["default"])}
        assert {"jobu.E003", "jobu.W001", "jobu.W003"} <= found
        tagged = {str(m.id) for m in run_checks(tags=[Tags.database], databases=["default"])}
        assert "jobu.W003" in tagged
        with pytest.raises(SystemCheckError, match=r"jobu\.E003"):
            call_command("check")


def test_w004_a_database_whose_loss_a_handler_would_wait_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bounds = dialect_of(connection).bounds()
    assert bool(bounds) is (connection.vendor != "sqlite")
    found = check_bounds()
    assert [message.id for message in found] == ["jobu.W004"] * bool(bounds)
    if found:
        assert str(bounds) in str(found[0].hint)
    options = {**connection.settings_dict["OPTIONS"], **bounds}
    monkeypatch.setitem(connection.settings_dict, "OPTIONS", options)
    assert check_bounds() == []
