"""manage.py rundispatcher"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jobu.conf import settings
from jobu.dispatchers.cron import Dispatcher
from jobu.management.arguments import seconds
from jobu.management.process_command import ProcessCommand
from jobu.processes.shutdown import exit_soon, run_until_signal

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(ProcessCommand):
    help = (
        "Make executions of cron jobs when their ticks come, each tick once. Any number of "
        "dispatchers may run; one is enough. Workers run what they make. Stop it with SIGTERM or "
        "Ctrl-C."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--poll-interval",
            type=seconds,
            metavar="SECONDS",
            help="how often to look for edited cron jobs where the database cannot call "
            "(JOBU_DISPATCHER_POLL_INTERVAL_SECONDS, "
            f"now {settings.DISPATCHER_POLL_INTERVAL_SECONDS})",
        )
        parser.add_argument(
            "--max-sleep",
            type=seconds,
            metavar="SECONDS",
            help="longest wait (JOBU_DISPATCHER_MAX_SLEEP_SECONDS, "
            f"now {settings.DISPATCHER_MAX_SLEEP_SECONDS})",
        )
        parser.add_argument(
            "--once", action="store_true", help="dispatch what is due now, then exit 0"
        )
        parser.add_argument(
            "--sync",
            action="store_true",
            help="first make cron jobs of the schedules that handlers declare, as jobu_sync does",
        )

    def start(self, options: dict[str, Any]) -> None:
        self.show_log(options["verbosity"])
        self.check_jobu_database()
        dispatcher = Dispatcher(
            poll_interval=options["poll_interval"],
            max_sleep=options["max_sleep"],
            once=options["once"],
            sync=options["sync"],
        )
        exit_soon(run_until_signal(dispatcher))
