"""manage.py runjobu"""

from __future__ import annotations

import argparse
import os
import socket
import sys
from typing import Any

from django.conf import settings as django_settings
from django.core.management import CommandError, CommandParser, call_command, get_commands
from django.core.management.base import ALL_CHECKS

from jobu.management.arguments import whole
from jobu.management.code_watch import CodeWatch
from jobu.management.process_command import ProcessCommand, command_line_of, supervise
from jobu.management.queues import add_queue_option
from jobu.processes.prefixed import PrefixedOutput
from jobu.processes.shutdown import end_with_supervisor

_US = "runjobu"
_COMMANDS = {
    "dispatcher": "jobu_dispatcher",
    "worker": "jobu_worker",
    "web": "runserver",
    "queue-dispatcher": "jobu_queuedispatcher",
}
_OTHER_NAMES = {"admin": "web", "queue_dispatcher": "queue-dispatcher"}
_HIGHEST_PORT = 65_535
_DEFAULT_PARTS = ("dispatcher", "worker", "web")


class Command(ProcessCommand):
    help = (
        "Run the parts of jobu together: dispatcher, worker and Django's development server, each "
        "in a process of its own that is restarted if it dies. For development and small installs; "
        "name the parts to run only some of them, as in: runjobu worker dispatcher. Stop them all "
        "with one SIGTERM or Ctrl-C; a second one stops them at once."
    )
    # It runs the web server, too.
    requires_system_checks = ALL_CHECKS

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "parts",
            nargs="*",
            metavar="PART",
            help=f"{', '.join(_COMMANDS)} (default: {' '.join(_DEFAULT_PARTS)}); "
            + " and ".join(f"{other} for {part}" for other, part in _OTHER_NAMES.items())
            + " will do, too",
        )
        parser.add_argument(
            "--queue-dispatcher",
            action="store_true",
            help="run the queue dispatcher, too",
        )
        parser.add_argument(
            "--bind",
            default="127.0.0.1:8000",
            metavar="ADDRESS:PORT",
            help="where the web server listens (default: 127.0.0.1:8000)",
        )
        add_queue_option(parser)
        parser.add_argument(
            "--processes", type=whole, default=1, metavar="N", help="worker processes (default: 1)"
        )
        parser.add_argument(
            "--reload", action="store_true", help="restart all when code changes (for development)"
        )
        parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)

    def start(self, options: dict[str, Any]) -> None:
        if options["here"]:
            end_with_supervisor()
            call_command("runserver", options["bind"], use_reloader=False, skip_checks=True)
            return
        parts = _chosen_parts(options)
        if "web" in parts:
            _refuse_web_server_that_cannot_start(options["bind"])
        self.check_jobu_database()
        if options["queues"]:
            self.warn_of_unknown_queues(options["queues"])
        commands = _command_lines(parts, options)
        output = PrefixedOutput(sys.stdout.buffer, [*commands, _US])
        self.show_log(options["verbosity"], prefix=output.prefix(_US))
        # Lines of a pipe come one by one only if Python does not buffer them.
        os.environ["PYTHONUNBUFFERED"] = "1"
        is_outdated = CodeWatch().has_changed if options["reload"] else bool
        supervise(commands, output=output, is_outdated=is_outdated)


def _chosen_parts(options: dict[str, Any]) -> list[str]:
    """Return the parts in the order in which they were named, each once."""
    chosen = options["parts"] or list(_DEFAULT_PARTS)
    if options["queue_dispatcher"]:
        chosen = [*chosen, "queue-dispatcher"]
    chosen = [_OTHER_NAMES.get(part, part) for part in chosen]
    for part in chosen:
        if part not in _COMMANDS:
            raise CommandError(f"There is no part {part!r}; there are {', '.join(_COMMANDS)}.")
        if _COMMANDS[part] not in get_commands():
            raise CommandError(f"This version of jobu has no {_COMMANDS[part]}.")
    if options["processes"] > 1 and "worker" not in chosen:
        raise CommandError("--processes is about workers, but no worker is to run.")
    if options["queues"] and "worker" not in chosen:
        raise CommandError("--queue is about workers, but no worker is to run.")
    return list(dict.fromkeys(chosen))


def _command_lines(parts: list[str], options: dict[str, Any]) -> dict[str, list[str]]:
    common = ["--verbosity", str(options["verbosity"])]
    if options.get("pythonpath"):
        common += ["--pythonpath", options["pythonpath"]]
    lines = {}
    for part in parts:
        if part == "web":
            # Through us: Django's server alone would outlive a supervisor that is killed.
            lines[part] = command_line_of(_US, "--here", "--bind", options["bind"], *common)
        else:
            lines[part] = command_line_of(_COMMANDS[part], *common)
    if options["reload"] and "dispatcher" in lines:
        lines["dispatcher"] = [*lines["dispatcher"], "--sync"]
    if "worker" in lines:
        queues = [f"--queue={name}" for name in options["queues"] or ()]
        lines["worker"] = [*lines["worker"], *queues, "--here"]
    for number in range(2, options["processes"] + 1):
        lines[f"worker {number}"] = lines["worker"]
    return lines


def _refuse_web_server_that_cannot_start(bind: str) -> None:
    """Say so at once: a server that cannot listen would be restarted again and again."""
    host, _, port = bind.rpartition(":")
    if not port.isdigit() or int(port) > _HIGHEST_PORT:
        raise CommandError(f"--bind takes ADDRESS:PORT, as in 127.0.0.1:8000, not {bind!r}.")
    if not django_settings.DEBUG and not django_settings.ALLOWED_HOSTS:
        raise CommandError("The web server needs ALLOWED_HOSTS in the settings if DEBUG is False.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host.strip("[]"), int(port)), family=family).close()
    except OSError as error:
        raise CommandError(
            f"The web server cannot listen at {bind}: {error}. "
            "Choose another port, as in: --bind 127.0.0.1:8001"
        ) from error
