"""manage.py jobu_publish"""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError

from jobu.adapters.publishing import publish
from jobu.exceptions import JobuError
from jobu.management.database_command import DatabaseCommand
from jobu.printable import printable

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(DatabaseCommand):
    help = (
        "Send a message through the configured adapter (JOBU_QUEUE_DISPATCHER_ADAPTER). A queue "
        "dispatcher makes an execution of the handler of it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("handler_name")
        parser.add_argument("--params", default="{}", help='as JSON, such as {"days": 30}')
        parser.add_argument("--job-id", type=int, help="of the cron job whose params are the base")
        parser.add_argument("--queue")
        parser.add_argument("--priority", type=int)
        parser.add_argument("--available-at", help="such as 2030-01-31T09:00:00+00:00")
        parser.add_argument("--dedupe-key")
        parser.add_argument("--key", help="the queue system's own key of the message")

    def handle(self, *_args: Any, **options: Any) -> None:
        given = ("job_id", "queue", "priority", "dedupe_key", "key")
        available_at = options["available_at"]
        try:
            publish(
                options["handler_name"],
                json.loads(options["params"]),
                available_at=datetime.fromisoformat(available_at) if available_at else None,
                **{name: options[name] for name in given},
            )
        except json.JSONDecodeError as error:
            raise CommandError(f"--params is not JSON: {error}") from error
        except (JobuError, ImproperlyConfigured, ValueError) as error:
            # One line: clients of queue systems quote what the network said.
            raise CommandError(printable(" ".join(str(error).split()))) from error
        self.stdout.write(f"Sent a message for {options['handler_name']!r}.")
