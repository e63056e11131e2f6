"""manage.py jobu_deadletters"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError

from jobu.exceptions import JobuError
from jobu.management.arguments import whole
from jobu.management.database_command import DatabaseCommand
from jobu.management.subcommands import add_actions
from jobu.messages import discard, requeue
from jobu.models import DeadLetter
from jobu.printable import printable, printable_lines

if TYPE_CHECKING:
    from django.core.management.base import CommandParser

    from jobu.models.dead_letter import DeadLetterQuerySet

_REASON_CHARACTERS = 100


class Command(DatabaseCommand):
    help = "Look at the queue messages that could not become executions; requeue or discard them."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = add_actions(parser, dest="action", metavar="ACTION")
        listing = actions.add_parser("list", help="list the open ones, newest first")
        listing.add_argument("--all", action="store_true", help="requeued and discarded ones, too")
        listing.add_argument("--limit", type=whole, default=50, help="how many (default: 50)")
        show = actions.add_parser("show", help="show one: reason, headers and body, masked")
        show.add_argument("id", type=whole)
        show.add_argument(
            "--raw",
            action="store_true",
            help="write the whole body as it came, unmasked, and nothing else",
        )
        again = actions.add_parser("requeue", help="make executions of them")
        _add_selection(again)
        again.add_argument(
            "--body", help="of one dead letter: read this text instead of its body; - reads stdin"
        )
        _add_selection(actions.add_parser("discard", help="put them aside"))

    def handle(self, *_args: Any, **options: Any) -> None:
        getattr(self, f"_{options['action']}")(options)

    def _list(self, options: dict[str, Any]) -> None:
        letters = DeadLetter.objects.listed()
        letters = letters if options["all"] else letters.open()
        found = 0
        for letter in letters.order_by("-received_at", "-id")[: options["limit"]]:
            size = getattr(letter, "size", 0)
            reason = " ".join(str(letter.reason).split())[:_REASON_CHARACTERS]
            line = (
                f"{letter.pk}  {letter.received_at:%Y-%m-%d %H:%M:%S}  {_state(letter)}  {letter}  "
                f"{size:,} bytes  {reason}"
            )
            self.stdout.write(printable(line))
            found += 1
        if not found:
            self.stdout.write("There are no dead letters.")

    def _show(self, options: dict[str, Any]) -> None:
        letter = DeadLetter.objects.filter(pk=options["id"]).first()
        if letter is None:
            raise CommandError(f"There is no dead letter {options['id']}.")
        if options["raw"]:
            sys.stdout.buffer.write(letter.body)
            return
        for name, value in {
            "message": letter,
            "received": letter.received_at,
            "state": _state(letter),
            "execution": letter.execution_id,
            "reason": letter.reason,
            "key": letter.key,
            "headers": letter.masked_headers(),
            "size": f"{len(letter.body):,} bytes",
        }.items():
            self.stdout.write(printable(f"{name}: {value}"))
        self.stdout.write(f"\n{printable_lines(letter.body_text())}")

    def _requeue(self, options: dict[str, Any]) -> None:
        body = sys.stdin.buffer.read() if options["body"] == "-" else options["body"]
        chosen = _chosen(options)
        if body is not None and len(chosen) != 1:
            raise CommandError("--body goes with the id of one dead letter.")
        failures = 0
        for pk in chosen:
            try:
                self.stdout.write(f"{pk}: requeued as execution {requeue(pk, body).pk}")
            except JobuError as error:
                failures += 1
                self.stderr.write(printable(f"{pk}: {error}"))
        if failures:
            raise CommandError(f"{failures} of {len(chosen)} could not be requeued.")

    def _discard(self, options: dict[str, Any]) -> None:
        for pk in _chosen(options):
            try:
                discard(pk)
            except JobuError as error:
                raise CommandError(str(error)) from error
            self.stdout.write(f"{pk}: discarded")


def _add_selection(parser: Any) -> None:
    parser.add_argument("id", type=whole, nargs="*")
    parser.add_argument("--all", action="store_true", help="every open one")
    parser.add_argument("--reason", help="every open one whose reason contains this text")


def _chosen(options: dict[str, Any]) -> list[int]:
    if options["id"]:
        return list(options["id"])
    letters: DeadLetterQuerySet = DeadLetter.objects.open()
    if options["reason"]:
        letters = letters.filter(reason__contains=options["reason"])
    elif not options["all"]:
        raise CommandError("Which ones? Give ids, --reason TEXT or --all.")
    return list(letters.order_by("id").values_list("id", flat=True))


def _state(letter: DeadLetter) -> str:
    if letter.requeued_at is not None:
        return "requeued"
    return "discarded" if letter.discarded_at is not None else "open"
