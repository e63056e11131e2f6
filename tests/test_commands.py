"""The management commands: what they print, and what they say to bad input."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import CommandError, call_command, load_command_class
from django.core.management.base import SystemCheckError
from django.test import override_settings
from django.utils import timezone

from jobu import enqueue, handler
from jobu.management.queues import unknown_queues
from jobu.models import CronJob, JobExecution, Status
from tests.workers import MANAGE

if TYPE_CHECKING:
    from pathlib import Path


def finished(days_ago: float, status: Status = Status.SUCCESS) -> JobExecution:
    return JobExecution.objects.create(
        handler_name="echo",
        status=status,
        finished_at=timezone.now() - timedelta(days=days_ago),
    )


def prune(*arguments: str, **options: Any) -> str:
    output = io.StringIO()
    call_command("jobu_prune", *arguments, stdout=output, **options)
    return output.getvalue()


@pytest.mark.django_db
def test_prune_deletes_what_finished_before_the_retention() -> None:
    kept = {finished(29).pk, enqueue("echo").pk}
    for status in (Status.SUCCESS, Status.FAILED, Status.TIMEOUT, Status.CANCELLED):
        finished(31, status)
    assert prune() == "4 executions pruned.\n"
    assert set(JobExecution.objects.values_list("pk", flat=True)) == kept
    assert prune() == "0 executions pruned.\n"


@pytest.mark.django_db
def test_prune_takes_its_age_from_the_option_or_the_setting() -> None:
    finished(1)
    finished(3)
    with override_settings(JOBU_RETENTION_DAYS=None):
        assert prune("--days", "2.5") == "1 executions pruned.\n"
    with override_settings(JOBU_RETENTION_DAYS=0):
        assert prune("--batch-size", "1") == "1 executions pruned.\n"


@pytest.mark.django_db
def test_prune_counts_its_batches_if_it_is_asked_to() -> None:
    for _ in range(5):
        finished(31)
    assert prune("--batch-size", "2", verbosity=2).splitlines() == [
        "2 executions pruned so far",
        "4 executions pruned so far",
        "5 executions pruned so far",
        "5 executions pruned.",
    ]


@pytest.mark.django_db
def test_prune_without_any_age_says_what_is_missing() -> None:
    finished(10_000)
    with override_settings(JOBU_RETENTION_DAYS=None), pytest.raises(CommandError) as caught:
        prune()
    assert str(caught.value) == (
        "JOBU_RETENTION_DAYS is None, which keeps history for ever; --days N"
    )
    assert JobExecution.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    "arguments",
    [("--days=-1",), ("--days=nan",), ("--days=inf",), ("--open-days=-1",), ("--batch-size=0",)],
)
def test_prune_refuses_numbers_that_make_no_sense(arguments: tuple[str, ...]) -> None:
    finished(31)
    with pytest.raises(CommandError) as caught:
        prune(*arguments)
    assert str(caught.value) == (
        "--days and --open-days must be 0 or more, --batch-size 1 or more."
    )
    assert JobExecution.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("days", ["1000000", "1e12", "1e300"])
def test_prune_of_an_age_before_every_calendar_deletes_nothing(days: str) -> None:
    finished(31)
    with suppress(CommandError):
        assert prune("--days", days) == "0 executions pruned.\n"
    assert JobExecution.objects.count() == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--days", "many"), "argument --days: invalid float value: 'many'"),
        (("--batch-size", "1.5"), "argument --batch-size: invalid int value: '1.5'"),
        (("--weeks", "1"), "unrecognized arguments: --weeks 1"),
    ],
)
def test_prune_refuses_what_it_cannot_read(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(CommandError) as caught:
        prune(*arguments)
    assert str(caught.value) == f"Error: {message}"


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


@pytest.mark.pure
@pytest.mark.parametrize("command", ["runworker", "runjobu"])
@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "queue must be a name of 1 to 100 characters, not ''"),
        ("x" * 101, f"queue must be a name of 1 to 100 characters, not {'x' * 101!r}"),
        (" mail", "' mail' begins or ends with a space"),
        (
            "mail,default",
            "'mail,default' is one name with a comma in it. Are several queues meant? "
            "Then write: --queue mail --queue default",
        ),
    ],
)
def test_a_queue_that_cannot_be_meant_is_refused(command: str, name: str, problem: str) -> None:
    with pytest.raises(CommandError) as caught:
        call_command(command, f"--queue={name}")
    assert str(caught.value) == f"Error: argument --queue: {problem}"


@pytest.mark.pure
@pytest.mark.usefixtures("temporary_handlers")
def test_a_comma_is_allowed_in_the_queue_of_a_handler() -> None:
    @handler("odd", queue="a,b")
    def odd() -> None: ...

    parser = load_command_class("jobu", "runworker").create_parser("manage.py", "runworker")
    assert parser.parse_args(["--queue", "a,b", "--queue", "c"]).queues == ["a,b", "c"]


@pytest.mark.django_db
@pytest.mark.usefixtures("temporary_handlers")
def test_a_queue_that_nobody_names_is_warned_of() -> None:
    @handler("mailing", queue="mail")
    def mailing() -> None: ...

    CronJob.objects.create(
        name="x", cron_expression="@daily", handler_name="echo", queue="of cron jobs"
    )
    enqueue("echo", queue="of executions")
    assert list(unknown_queues(["mail", "of cron jobs", "of executions", "default"])) == []
    assert list(unknown_queues(["maill", "other"])) == [
        "No handler, cron job or waiting execution names the queue 'maill'. Did you mean 'mail'?",
        "No handler, cron job or waiting execution names the queue 'other'.",
    ]


@pytest.mark.pure
def test_runjobu_refuses_queues_if_no_worker_is_to_run() -> None:
    with pytest.raises(CommandError, match="--queue is about workers, but no worker is to run"):
        call_command("runjobu", "dispatcher", "--queue=mail")


def manage(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run manage.py in its own process, on SQLite files in a folder of its own."""
    return subprocess.run(
        [sys.executable, str(MANAGE), *arguments],
        env={
            **os.environ,
            "JOBU_TEST_PROCESS": "1",
            "JOBU_TEST_DATABASE": "sqlite",
            "JOBU_TEST_RUN": "commands",
            "TMPDIR": str(folder),
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


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
