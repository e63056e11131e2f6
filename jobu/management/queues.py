"""`--queue`: which queues a worker serves, and what cannot be meant by it."""

from __future__ import annotations

import argparse
import difflib
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING

from django.db import Error

from jobu.exceptions import OptionError
from jobu.handlers.options import check_execution_options
from jobu.handlers.registry import handlers
from jobu.models import CronJob, JobExecution
from jobu.models.job_execution import IN_LANE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from django.core.management.base import CommandParser


def add_queue_option(parser: CommandParser) -> None:
    parser.add_argument(
        "--queue",
        action="append",
        type=_queue,
        dest="queues",
        metavar="NAME",
        help="work on this queue only; for two: --queue mail --queue reports (default: every one)",
    )


def unknown_queues(names: Iterable[str]) -> Iterator[str]:
    """Yield a warning for each queue that no handler, cron job or waiting execution names."""
    declared = {spec.options.queue for spec in handlers}
    for name in dict.fromkeys(names):
        if name in declared:
            continue
        # A database that does not answer is somebody else's to report.
        with suppress(Error):
            if not _is_in_database(name):
                close = difflib.get_close_matches(name, declared, n=1)
                hint = f" Did you mean {close[0]!r}?" if close else ""
                yield f"No handler, cron job or waiting execution names the queue {name!r}.{hint}"


def _queue(text: str) -> str:
    try:
        check_execution_options(queue=text)
    except OptionError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if text != text.strip():
        raise argparse.ArgumentTypeError(f"{text!r} begins or ends with a space")
    parts = [shlex.quote(part) for each in text.split(",") if (part := each.strip())]
    if "," in text and text not in {spec.options.queue for spec in handlers}:
        raise argparse.ArgumentTypeError(
            f"{text!r} is one name with a comma in it. Are several queues meant? "
            f"Then write: {' '.join(f'--queue {part}' for part in parts or ['NAME'])}"
        )
    return text


def _is_in_database(name: str) -> bool:
    """Look at cron jobs, and at executions where an index leads to those of a queue."""
    waiting = JobExecution.objects.pending().filter(aside_until=IN_LANE, queue=name)
    return waiting.exists() or CronJob.objects.filter(queue=name).exists()
