"""manage.py jobu_sync"""

from __future__ import annotations

from typing import Any

from jobu.dispatchers.sync import sync
from jobu.management.database_command import DatabaseCommand
from jobu.printable import printable


class Command(DatabaseCommand):
    help = (
        'Make cron jobs of the schedules that handlers declare with @handler(…, cron="0 9 * * 1"). '
        "What was edited by hand is kept. `migrate` does this, too."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        for line in sync() or ["No handler declares a schedule."]:
            self.stdout.write(printable(line))
