"""API tokens on the command line."""

from __future__ import annotations

import io
import re

import pytest
from django.core.management import CommandError, call_command

from jobu.models import ApiToken
from tests.api.callers import works

pytestmark = pytest.mark.django_db


def command(*arguments: str) -> str:
    output = io.StringIO()
    call_command("jobu_token", *arguments, stdout=output, stderr=io.StringIO())
    return output.getvalue()


def test_the_command_prints_the_secret_and_nothing_else() -> None:
    secret = command("create", "ci", "--scope", "write").rstrip("\n")
    assert works(secret)
    assert ApiToken.objects.get().scope == "write"


def test_the_command_lists_and_revokes() -> None:
    assert command("list") == "There are no tokens.\n"
    secret = command("create", "ci").strip()
    assert re.fullmatch(r"ci: read, valid, made by .+, last used never\n", command("list"))
    assert works(secret)
    assert command("revoke", "ci") == "ci is revoked.\n"
    assert command("revoke", "ci") == "ci was revoked already.\n"
    assert re.fullmatch(
        r"ci: read, revoked [\d-]+, made by .+, last used [\d: -]+\n", command("list")
    )
    assert not works(secret)


def test_the_command_says_what_is_wrong() -> None:
    with pytest.raises(CommandError, match="no token 'nobody'"):
        command("revoke", "nobody")
    command("create", "ci")
    with pytest.raises(CommandError, match="already exists"):
        command("create", "ci")
    with pytest.raises(CommandError, match="100 characters"):
        command("create", "x" * 101)
