"""`--queue`: what is refused, and what is warned of."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command, load_command_class

from jobu import enqueue, handler
from jobu.management.queues import unknown_queues
from tests.builders import cron


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

    cron(queue="of cron jobs")
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
