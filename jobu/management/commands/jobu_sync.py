"""manage.py jobu_sync"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jobu.dispatchers.sync import sync
from jobu.management.database_command import DatabaseCommand
from jobu.printable import printable

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(DatabaseCommand):
    help = (
        'Make cron jobs of the schedules that handlers declare with @handler(…, cron="0 9 * * 1"). '
        "What was edited by hand is kept. A cron job whose schedule is no longer in the code is "
        "disabled, and enabled again when it is back. `migrate` does this, too."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--keep",
            action="store_true",
            help="leave cron jobs alone whose schedules are no longer in the code",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        for line in sync(keep=options["keep"]) or ["No handler declares a schedule."]:
            self.stdout.write(printable(line))
