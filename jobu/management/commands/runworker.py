"""manage.py runworker"""

from __future__ import annotations

import argparse
from typing import Any

from django.core.management.base import CommandError, CommandParser

from jobu.conf import settings
from jobu.management.arguments import seconds, whole
from jobu.management.code_watch import CodeWatch
from jobu.management.process_command import ProcessCommand, command_line, supervise
from jobu.management.queues import add_queue_option
from jobu.processes.shutdown import exit_soon, run_until_signal
from jobu.worker.worker import Worker

_SETTINGS = (
    ("--pool-size", whole, "WORKER_POOL_SIZE", "jobs at the same time in one process"),
    (
        "--poll-interval",
        seconds,
        "WORKER_POLL_INTERVAL_SECONDS",
        "first wait when nothing is due, doubling while idle",
    ),
    ("--max-poll-interval", seconds, "WORKER_MAX_POLL_INTERVAL_SECONDS", "longest wait"),
    (
        "--claim-batch-size",
        whole,
        "WORKER_CLAIM_BATCH_SIZE",
        "executions claimed in one transaction at most",
    ),
    (
        "--shutdown-timeout",
        seconds,
        "WORKER_SHUTDOWN_TIMEOUT_SECONDS",
        "how long running jobs may still take when it stops",
    ),
)


class Command(ProcessCommand):
    help = (
        "Run jobs: claim executions from the database, run their handlers, store what they came "
        "to. Stop it with SIGTERM or Ctrl-C: it finishes what runs (see --shutdown-timeout), gives "
        "the rest back and exits 0; a second signal stops it at once. Each option defaults to the "
        "setting named in its help."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_queue_option(parser)
        parser.add_argument(
            "--processes",
            type=whole,
            default=1,
            metavar="N",
            help="worker processes; one that dies is restarted (default: 1, unsupervised)",
        )
        for option, kind, setting, meaning in _SETTINGS:
            now = getattr(settings, setting)
            parser.add_argument(
                option,
                type=kind,
                metavar="N" if kind is whole else "SECONDS",
                help=f"{meaning} (JOBU_{setting}, now {now})",
            )
        parser.add_argument(
            "--drain", action="store_true", help="exit 0 once nothing is claimable now"
        )
        parser.add_argument(
            "--reload", action="store_true", help="restart when code changes (for development)"
        )
        # Not in a supervised process of its own.
        parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)

    def start(self, options: dict[str, Any]) -> None:
        if options["reload"] and (options["processes"] > 1 or options["drain"]):
            raise CommandError("--reload goes with neither --processes nor --drain.")
        self.show_log(options["verbosity"])
        self.check_jobu_database()
        count = options["processes"]
        if options["queues"] and not options["here"]:
            self.warn_of_unknown_queues(options["queues"])
        if options["here"] or (count == 1 and not options["reload"]):
            exit_soon(run_until_signal(_make_worker(options)))
        command = command_line("--here")
        supervise(
            {f"worker process {number}": command for number in range(1, count + 1)},
            until_done=options["drain"],
            is_outdated=CodeWatch().has_changed if options["reload"] else bool,
        )


def _make_worker(options: dict[str, Any]) -> Worker:
    return Worker(
        queues=options["queues"] or (),
        pool_size=options["pool_size"],
        poll_interval=options["poll_interval"],
        max_poll_interval=options["max_poll_interval"],
        claim_batch_size=options["claim_batch_size"],
        shutdown_timeout=options["shutdown_timeout"],
        drain=options["drain"],
    )
