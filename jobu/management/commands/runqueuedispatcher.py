"""manage.py runqueuedispatcher"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError

from jobu.conf import settings
from jobu.dispatchers.queue import QueueDispatcher
from jobu.management.arguments import seconds, whole
from jobu.management.process_command import ProcessCommand
from jobu.processes.shutdown import exit_soon, run_until_signal

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(ProcessCommand):
    help = (
        "Make executions of the messages of a queue system (JOBU_QUEUE_DISPATCHER_ADAPTER; Kafka "
        "unless set), each message once; what cannot be one becomes a dead letter. Any number may "
        "run. Workers run what they make. Stop it with SIGTERM or Ctrl-C."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--batch-size",
            type=whole,
            metavar="N",
            help="messages in one transaction at most "
            f"(JOBU_QUEUE_DISPATCHER_BATCH_SIZE, now {settings.QUEUE_DISPATCHER_BATCH_SIZE})",
        )
        parser.add_argument(
            "--max-pending",
            type=whole,
            metavar="N",
            help="pause while so many executions are claimable "
            f"(JOBU_QUEUE_DISPATCHER_MAX_PENDING, now {settings.QUEUE_DISPATCHER_MAX_PENDING})",
        )
        parser.add_argument(
            "--drain", action="store_true", help="exit 0 once nothing has come for a while"
        )
        parser.add_argument(
            "--idle-timeout",
            type=seconds,
            default=10.0,
            metavar="SECONDS",
            help="how long that is (default: 10)",
        )

    def start(self, options: dict[str, Any]) -> None:
        self.show_log(options["verbosity"])
        self.check_jobu_database()
        try:
            dispatcher = QueueDispatcher(
                batch_size=options["batch_size"],
                max_pending=options["max_pending"],
                drain=options["drain"],
                idle_timeout=options["idle_timeout"],
            )
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error
        exit_soon(run_until_signal(dispatcher))
