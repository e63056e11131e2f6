"""manage.py jobu_token"""

from __future__ import annotations

import getpass
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from jobu.management.database_command import DatabaseCommand
from jobu.management.subcommands import add_actions
from jobu.models import ApiToken
from jobu.models.api_token import Scope
from jobu.printable import printable

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(DatabaseCommand):
    help = "Make, list and revoke tokens for the HTTP API."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = add_actions(parser, dest="verb")
        create = verbs.add_parser("create", help="make a token and print its secret, this once")
        create.add_argument("name", help="who will use it, such as ci")
        create.add_argument(
            "--scope", choices=Scope.values, default=Scope.READ.value, help="(default: read)"
        )
        revoke = verbs.add_parser("revoke", help="refuse a token from now on")
        revoke.add_argument("name")
        verbs.add_parser("list", help="list the tokens; their secrets are not known")

    def handle(self, *_args: Any, **options: Any) -> None:
        match options["verb"]:
            case "create":
                self._create(options["name"], options["scope"])
            case "revoke":
                self._revoke(options["name"])
            case _:
                self._list()

    def _create(self, name: str, scope: str) -> None:
        token = ApiToken(name=name, scope=scope, created_by=_operator())
        secret = token.renew_secret()
        try:
            token.full_clean()
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from None
        token.save()
        # Nothing else on standard output, so that a script can read it.
        self.stderr.write(f"The secret of {name!r}, scope {scope}; it is not shown again:")
        self.stdout.write(secret)

    def _revoke(self, name: str) -> None:
        token = ApiToken.objects.filter(name=name)
        if token.revoke():
            self.stdout.write(f"{name} is revoked.")
        elif token.exists():
            self.stdout.write(f"{name} was revoked already.")
        else:
            raise CommandError(f"There is no token {name!r}; jobu_token list shows them.")

    def _list(self) -> None:
        tokens = list(ApiToken.objects.order_by("name"))
        for token in tokens:
            state = f"revoked {token.revoked_at:%Y-%m-%d}" if token.revoked_at else "valid"
            used = f"{token.last_used_at:%Y-%m-%d %H:%M}" if token.last_used_at else "never"
            maker = token.created_by or "nobody known"
            line = f"{token.name}: {token.scope}, {state}, made by {maker}, last used {used}"
            self.stdout.write(printable(line))
        if not tokens:
            self.stdout.write("There are no tokens.")


def _operator() -> str:
    """Return who runs the command; a container may have no name for its user."""
    with suppress(KeyError, OSError):
        return getpass.getuser()
    return ""
