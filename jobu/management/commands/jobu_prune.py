"""manage.py jobu_prune"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from jobu.conf import settings
from jobu.queue.prune import prune, prune_dead_letters

_FOR_EVER_DAYS = 100_000


class Command(BaseCommand):
    help = (
        "Delete executions that finished long ago, and old dead letters that were requeued or "
        "discarded, in small batches that never make a claim wait. Workers and queue dispatchers "
        "do this by themselves, too; the command is for a first clean-up or another age."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--days",
            type=float,
            help="delete what finished more than this many days ago "
            f"(JOBU_RETENTION_DAYS, now {settings.RETENTION_DAYS})",
        )
        parser.add_argument(
            "--batch-size", type=int, default=500, help="rows per transaction (default: 500)"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        days = settings.RETENTION_DAYS if options["days"] is None else options["days"]
        if days is None:
            raise CommandError(
                "JOBU_RETENTION_DAYS is None, which keeps history for ever; --days N"
            )
        if not 0 <= days < _FOR_EVER_DAYS or options["batch_size"] < 1:
            raise CommandError("--days must be 0 or more, --batch-size 1 or more.")
        pruned = 0
        for count in prune(days, batch_size=options["batch_size"]):
            pruned += count
            if options["verbosity"] > 1:
                self.stdout.write(f"{pruned} executions pruned so far")
        self.stdout.write(f"{pruned} executions pruned.")
        if letters := sum(prune_dead_letters(days)):
            self.stdout.write(f"{letters} dead letters pruned.")
