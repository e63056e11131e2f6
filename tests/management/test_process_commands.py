"""The commands that start processes: options, checks, and a database that is not ready."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command, load_command_class
from django.core.management.base import SystemCheckError
from django.test import override_settings

from tests.management.commands import manage

WHOLE = "is not a whole number of 1 or more"
SECONDS = "is not a number of seconds greater than 0"


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("--pool-size", "0", WHOLE),
        ("--pool-size", "-1", WHOLE),
        ("--pool-size", "1.5", WHOLE),
        ("--pool-size", "٣", WHOLE),
        ("--pool-size", "", WHOLE),
        ("--processes", "0", WHOLE),
        ("--processes", "two", WHOLE),
        ("--claim-batch-size", "0", WHOLE),
        ("--poll-interval", "0", SECONDS),
        ("--poll-interval", "-1", SECONDS),
        ("--poll-interval", "soon", SECONDS),
        ("--max-poll-interval", "nan", SECONDS),
        ("--max-poll-interval", "inf", SECONDS),
        ("--shutdown-timeout", "0", SECONDS),
    ],
)
def test_runworker_refuses_numbers_that_make_no_sense(
    option: str, value: str, problem: str
) -> None:
    with pytest.raises(CommandError) as caught:
        call_command("runworker", f"{option}={value}")
    assert str(caught.value) == f"Error: argument {option}: {value!r} {problem}"


@pytest.mark.parametrize("other", ["--drain", "--processes=2"])
def test_runworker_reloads_one_process_that_runs_for_ever(other: str) -> None:
    with pytest.raises(CommandError) as caught:
        call_command("runworker", "--reload", other)
    assert str(caught.value) == "--reload goes with neither --processes nor --drain."


def test_runworker_without_tables_says_how_to_make_them(tmp_path: Path) -> None:
    result = manage(tmp_path, "runworker", "--drain")
    assert result.returncode == 1
    assert result.stderr.strip() == (
        "CommandError: The database 'default' has no tables of jobu yet. "
        "Run: manage.py migrate --database default"
    )
    assert (tmp_path / "jobu_test_commands.sqlite3").exists()


def test_runworker_says_so_if_the_other_database_lacks_the_tables(tmp_path: Path) -> None:
    assert manage(tmp_path, "migrate", "--verbosity=0").returncode == 0
    result = manage(tmp_path, "runworker", "--drain", JOBU_DATABASE="other")
    assert result.returncode == 1
    assert result.stderr.strip().endswith("Run: manage.py migrate --database other")

    done = manage(tmp_path, "migrate", "--verbosity=0", "--database=other", JOBU_DATABASE="other")
    assert done.returncode == 0, done.stderr
    options = ("--drain", "--pool-size=2", "--poll-interval=0.5", "--queue=mail")
    result = manage(tmp_path, "runworker", *options, JOBU_DATABASE="other")
    assert result.returncode == 0, result.stderr
    assert "started: mail; 2 slots; pid" in result.stderr
    assert "No handler, cron job or waiting execution names the queue 'mail'." in result.stderr


@pytest.mark.parametrize("command", ["runworker", "check"])
def test_a_database_that_is_not_there_is_an_error_without_a_traceback(
    command: str, tmp_path: Path
) -> None:
    result = manage(tmp_path, command, JOBU_DATABASE="nowhere")
    assert result.returncode == 1
    assert "(jobu.E004) JOBU_DATABASE is 'nowhere', but DATABASES has no such" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_help_of_runworker_shows_the_settings_in_force(tmp_path: Path) -> None:
    result = manage(tmp_path, "runworker", "--help", COLUMNS="200")
    assert result.returncode == 0
    assert "JOBU_WORKER_POOL_SIZE, now 5" in " ".join(result.stdout.split())


@pytest.mark.pure
def test_w006_another_app_has_the_name_of_a_command(tmp_path: Path) -> None:
    apps = {"JOBU_TEST_FIRST_APPS": "tests.project.channels"}
    assert manage(tmp_path, "runworker", **apps).stdout == "a worker of channels\n"
    result = manage(tmp_path, "check", **apps)
    assert result.returncode == 0
    assert (
        "(jobu.W006) manage.py runworker is the command of 'tests.project.channels', which comes "
        "before 'jobu' in INSTALLED_APPS." in result.stderr
    )
    assert "HINT: Start jobu's own with manage.py jobu_worker. " in result.stderr


@pytest.mark.pure
@pytest.mark.parametrize(
    ("name", "second_name"),
    [
        ("runworker", "jobu_worker"),
        ("rundispatcher", "jobu_dispatcher"),
        ("runqueuedispatcher", "jobu_queuedispatcher"),
    ],
)
def test_each_process_has_a_command_of_a_second_name(name: str, second_name: str) -> None:
    commands = [load_command_class("jobu", each) for each in (name, second_name)]
    assert type(commands[0]) is type(commands[1])


@pytest.mark.pure
@pytest.mark.parametrize("name", ["runworker", "rundispatcher", "runqueuedispatcher"])
def test_a_process_checks_jobus_settings_and_does_not_load_the_urls(name: str) -> None:
    command = load_command_class("jobu", name)
    with override_settings(ROOT_URLCONF="no.such.module"):
        command.check(**command.get_check_kwargs({}))
        with override_settings(JOBU_WORKER_POOL_SIZE="five"), pytest.raises(SystemCheckError):
            command.check(**command.get_check_kwargs({}))


@pytest.mark.pure
def test_runjobu_checks_everything_because_it_runs_the_web_server() -> None:
    command = load_command_class("jobu", "runjobu")
    with override_settings(ROOT_URLCONF="no.such.module"), pytest.raises(ModuleNotFoundError):
        command.check(**command.get_check_kwargs({}))
