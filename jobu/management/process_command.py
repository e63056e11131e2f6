"""What the commands that start a long-running process share."""

from __future__ import annotations

import atexit
import logging
import os
import signal
import sys
from typing import TYPE_CHECKING, Any, Literal

from django.core.checks import Tags
from django.core.management.base import BaseCommand, CommandError
from django.db import Error, connections
from django.utils.autoreload import (
    DJANGO_AUTORELOAD_ENV,
    get_child_arguments,
    run_with_reloader,
)

from jobu.checks import TAG, check_database
from jobu.conf import settings
from jobu.dialects import bounded, dialect_of
from jobu.logs import logger
from jobu.models import JobExecution
from jobu.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from jobu.processes.polling import PollingProcess

_LEVELS = {0: logging.WARNING, 1: logging.INFO}


class ProcessCommand(BaseCommand):
    """Checks that jobu's tables are there, and shows its log where the project shows none."""

    # Not those of the URLs: to import all views takes time and memory, which no handler needs.
    requires_system_checks: tuple[str, ...] | Literal["__all__"] = (Tags.models, TAG)

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

    def show_log(self, verbosity: int, *, prefix: str = "") -> None:
        if logger.hasHandlers():
            return
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter(f"{prefix}%(asctime)s %(levelname)s %(message)s"))
        logger.addHandler(handler)
        logger.setLevel(_LEVELS.get(verbosity, logging.DEBUG))


def run_with_reload(make_process: Callable[[], PollingProcess]) -> None:
    """Run for development: Django's reloader starts a new interpreter when code changes."""
    # A Ctrl-C reaches both interpreters; the outer one must wait for the inner one's clean end.
    # There it is no KeyboardInterrupt: if one strikes inside an exec(), such as that of a dataclass
    # while modules are imported, Python ends as if killed, although somebody caught it.
    is_inner = os.environ.get(DJANGO_AUTORELOAD_ENV) == "true"
    signal.signal(signal.SIGINT, _exit_well if is_inner else signal.SIG_IGN)

    def main() -> None:
        process = make_process()
        # The reloader leaves by exiting the interpreter; give running jobs back before that.
        atexit.register(process.stop)
        process.start()
        process.join()

    run_with_reloader(main)


def _exit_well(*_signal: Any) -> None:
    sys.exit(0)


def command_line(*more: str) -> list[str]:
    """Return the command line that started this process, with `more` arguments."""
    return [*get_child_arguments(), *more]


def command_line_of(command: str, *arguments: str) -> list[str]:
    """Return a command line like the one that started this process, for another command."""
    ours = get_child_arguments()
    return [*ours[: len(ours) - len(sys.argv[1:])], command, *arguments]
