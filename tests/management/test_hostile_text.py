"""What the commands print of texts that somebody else wrote."""

from __future__ import annotations

import pytest

from jobu import QueueMessage
from jobu.messages.store import store
from jobu.models import ApiToken, DeadLetter
from tests.builders import cron
from tests.management.commands import run

pytestmark = pytest.mark.django_db


def test_what_comes_from_elsewhere_cannot_command_a_terminal() -> None:
    hostile = "a\x1b]0;title\x07\nb\u202ec"
    store([QueueMessage(id=hostile, body=f"{{\n{hostile}".encode())], "kafka")
    pk = str(DeadLetter.objects.get().pk)
    DeadLetter.objects.update(reason=hostile)
    cron(hostile, declared="x")
    ApiToken.objects.create(name=hostile, secret_hash="0" * 64)
    printed = [
        run("jobu_deadletters", "list"),
        run("jobu_deadletters", "show", pk),
        run("jobu_crons"),
        run("jobu_sync"),
        run("jobu_token", "list"),
    ]
    for output in printed:
        assert "\\x1b]0;title\\x07" in output
        assert not set("\x1b\x07\u202e") & set(output)
    # Only the body keeps its lines.
    assert printed[0].count("\n") == 1
