"""Publish a message from the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import CommandError

from tests.management.commands import run

pytestmark = pytest.mark.django_db


def test_the_publish_command_sends_what_it_is_told(outbox: list[Any]) -> None:
    output = run(
        "jobu_publish",
        "echo",
        "--params",
        '{"ä": 1}',
        "--priority",
        "0",
        "--available-at",
        "2030-01-31T09:00:00+00:00",
        "--key",
        "k",
    )
    assert output == "Sent a message for 'echo'.\n"
    [(body, key)] = outbox
    assert (json.loads(body)["params"], json.loads(body)["priority"], key) == ({"ä": 1}, 0, b"k")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--params", "{"], "--params is not JSON"),
        (["--params", "[]"], "must be a dict"),
        (["--priority", "99999"], "priority must be"),
        (["--queue", "vip"], "may not ask for the queue 'vip'"),
        (["--available-at", "soon"], "soon"),
        (["--available-at", "2030-01-31"], "must have a time zone"),
    ],
)
def test_the_publish_command_says_what_is_wrong(
    outbox: list[Any], arguments: list[str], reason: str
) -> None:
    with pytest.raises(CommandError, match=reason):
        run("jobu_publish", "echo", *arguments)
    assert outbox == []
