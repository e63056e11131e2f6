"""manage.py jobu_prune"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from jobu.conf import settings
from jobu.management.database_command import DatabaseCommand
from jobu.queue.prune import prune, prune_dead_letters

_FOR_EVER_DAYS = 100_000


class Command(DatabaseCommand):
    help = (
        "Delete executions that finished long ago, and old dead letters, in small batches that "
        "never make a claim wait. Workers and queue dispatchers do this by themselves, too; the "
        "command is for a first clean-up or another age."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--days",
            type=float,
            help="delete what finished, and dead letters that came and were requeued or discarded, "
            f"more than this many days ago (JOBU_RETENTION_DAYS, now {settings.RETENTION_DAYS})",
        )
        parser.add_argument(
            "--open-days",
            type=float,
            help="delete open dead letters that came more than this many days ago "
            f"(JOBU_DEAD_LETTER_RETENTION_DAYS, now {settings.DEAD_LETTER_RETENTION_DAYS})",
        )
        parser.add_argument(
            "--batch-size", type=int, default=500, help="rows per transaction (default: 500)"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        days, open_days = options["days"], options["open_days"]
        if days is None and open_days is None and settings.RETENTION_DAYS is None:
            raise CommandError(
                "JOBU_RETENTION_DAYS is None, which keeps history for ever; --days N"
            )
        days = settings.RETENTION_DAYS if days is None else days
        open_days = settings.DEAD_LETTER_RETENTION_DAYS if open_days is None else open_days
        ages = [age for age in (days, open_days) if age is not None]
        if not all(0 <= age < _FOR_EVER_DAYS for age in ages) or options["batch_size"] < 1:
            raise CommandError("--days and --open-days must be 0 or more, --batch-size 1 or more.")
        if days is not None:
            self._prune_executions(days, options)
        if letters := sum(count for count, _ in prune_dead_letters(days, open_days)):
            self.stdout.write(f"{letters} dead letters pruned.")

    def _prune_executions(self, days: float, options: dict[str, Any]) -> None:
        pruned = 0
        for count in prune(days, batch_size=options["batch_size"]):
            pruned += count
            if options["verbosity"] > 1:
                self.stdout.write(f"{pruned} executions pruned so far")
        self.stdout.write(f"{pruned} executions pruned.")
