"""Enqueue executions from outside the test's own process."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from jobu import enqueue_many


class Command(BaseCommand):
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("handler")
        parser.add_argument("count", type=int)
        parser.add_argument("--seconds", type=float)
        parser.add_argument("--max-retry", type=int)

    def handle(self, *_args: Any, **options: Any) -> None:
        params = {} if options["seconds"] is None else {"seconds": options["seconds"]}
        enqueue_many(
            options["handler"],
            (params for _ in range(options["count"])),
            max_retry=options["max_retry"],
        )
