"""What the commands that start a long-running process share."""

from __future__ import annotations

import argparse
import logging
import sys
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from django.core.checks import Tags
from django.core.management.base import BaseCommand, CommandError
from django.db import Error, connections
from django.utils.autoreload import get_child_arguments

from jobu.checks import TAG, check_database
from jobu.conf import settings
from jobu.dialects import bounded, dialect_of
from jobu.logs import logger
from jobu.management.queues import unknown_queues
from jobu.models import JobExecution
from jobu.printable import printable
from jobu.processes.supervisor import Supervisor

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from django.core.management.base import CommandParser

_LEVELS = {0: logging.WARNING, 1: logging.INFO}


class ProcessCommand(BaseCommand):
    """Checks that jobu's tables are there, and shows its log where the project shows none."""

    # Not those of the URLs: to import all views takes time and memory, which no handler needs.
    requires_system_checks: tuple[str, ...] | Literal["__all__"] = (Tags.models, TAG)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        # Ours, for a supervisor that wants to know whether the code can be loaded.
        parser.add_argument("--probe", action="store_true", help=argparse.SUPPRESS)
        return parser

    def handle(self, *_args: Any, **options: Any) -> None:
        if not options["probe"]:
            self.start(options)

    def start(self, options: dict[str, Any]) -> None:
        raise NotImplementedError

    def get_check_kwargs(self, options: Any) -> Any:
        # Since Django 6.1 the checks of models ask every database: one that is not up yet would
        # end the command, where a process waits for it.
        return super().get_check_kwargs(options) | {"databases": ()}

    def check_jobu_database(self) -> None:
        """Refuse a database that will never do; wait, later on, for one that is not up yet."""
        alias = settings.DATABASE
        connection = connections[alias]
        # A server that hangs must not keep it here: the process says what it waits for.
        with bounded(connection, dialect_of(connection).bounds()):
            for message in check_database(databases=[alias]):
                if message.is_serious():
                    raise CommandError(f"{message.msg} {message.hint}")
                self.stderr.write(self.style.WARNING(printable(f"{message.msg} {message.hint}")))
            try:
                tables = connection.introspection.table_names()
            except Error:
                return
        if JobExecution._meta.db_table not in tables:
            raise CommandError(
                f"The database '{alias}' has no tables of jobu yet. "
                f"Run: manage.py migrate --database {alias}"
            )

    def warn_of_unknown_queues(self, names: Iterable[str]) -> None:
        connection = connections[settings.DATABASE]
        with bounded(connection, dialect_of(connection).bounds()):
            for warning in unknown_queues(names):
                self.stderr.write(self.style.WARNING(printable(warning)))

    def show_log(self, verbosity: int, *, prefix: str = "") -> None:
        if logger.hasHandlers():
            return
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter(f"{prefix}%(asctime)s %(levelname)s %(message)s"))
        logger.addHandler(handler)
        logger.setLevel(_LEVELS.get(verbosity, logging.DEBUG))


def supervise(commands: Mapping[str, Sequence[str]], **options: Any) -> NoReturn:
    """Keep the processes of these command lines of ours alive; exit when all have ended."""
    sys.exit(Supervisor(commands, probe=("--probe",), **options).run())


def command_line(*more: str) -> list[str]:
    """Return the command line that started this process, with `more` arguments."""
    return [*get_child_arguments(), *more]


def command_line_of(command: str, *arguments: str) -> list[str]:
    """Return a command line like the one that started this process, for another command."""
    ours = get_child_arguments()
    return [*ours[: len(ours) - len(sys.argv[1:])], command, *arguments]
