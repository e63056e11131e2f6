"""Django's own options, which actions of commands take as well."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import CommandError, call_command, load_command_class
from django.core.management.base import BaseCommand

pytestmark = pytest.mark.pure


def parsed(command: str, *arguments: str) -> dict[str, Any]:
    parser = load_command_class("jobu", command).create_parser("manage.py", command)
    return vars(parser.parse_args(arguments))


@pytest.mark.parametrize("command", ["jobu_token", "jobu_deadletters", "jobu_executions"])
def test_an_action_takes_django_s_options_before_and_after_it(command: str) -> None:
    given = ["--settings=x", "--pythonpath=y", "--verbosity=2", "--traceback", "--no-color"]
    after = parsed(command, "list", *given, "--skip-checks")
    before = parsed(command, *given, "--skip-checks", "list")
    assert after == before
    assert (after["settings"], after["verbosity"], after["traceback"]) == ("x", 2, True)
    assert parsed(command, "list")["verbosity"] == 1


def test_actions_take_every_option_that_django_s_commands_have_by_themselves() -> None:
    """`BaseCommand.add_base_argument`, which gives them, is Django's own."""
    plain = vars(BaseCommand().create_parser("manage.py", "x").parse_args([]))
    ours = parsed("jobu_token", "list")
    assert {name: ours[name] for name in plain} == plain


def test_an_unknown_option_of_an_action_is_still_an_error() -> None:
    with pytest.raises(CommandError, match="unrecognized arguments: --nope"):
        call_command("jobu_token", "list", "--nope")
