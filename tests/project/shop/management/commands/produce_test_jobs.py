"""Enqueue executions and make cron jobs, all the time, as a busy web site does, until SIGTERM.

The journal gets a line for each one that the database acknowledged.
"""

from __future__ import annotations

import json
import random
import signal
import threading
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any, TextIO

from django.core.management.base import BaseCommand, CommandParser
from django.db import Error, connection
from django.utils import timezone

from jobu import enqueue
from jobu.models import CronJob
from jobu.models.cron_job import Misfire

MISSED_TICKS = 10


class Command(BaseCommand):
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("journal", type=Path)
        parser.add_argument("--seed", type=int, required=True)
        parser.add_argument("--pause", type=float, default=0.02)

    def handle(self, *_args: Any, **options: Any) -> None:
        stopped = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: stopped.set())
        chance = random.Random(options["seed"])
        with options["journal"].open("a", buffering=1) as journal:
            while not stopped.wait(chance.uniform(0, 2 * options["pause"])):
                # Not from the seed: a restarted producer must not repeat what it named before.
                token = uuid.uuid4().hex
                try:
                    produce(token, chance, journal)
                except Error as error:
                    write(journal, token=token, error=str(error))
                    connection.close()
                    stopped.wait(0.2)


def produce(token: str, chance: random.Random, journal: TextIO) -> None:
    if chance.random() < 0.02:
        make_due_cron(token, journal)
        return
    # Most are short; some are on their way whatever happens.
    seconds = chance.uniform(2, 8) if chance.random() < 0.01 else chance.uniform(0, 0.05)
    handler = "atomic_token" if chance.random() < 0.4 else "token"
    execution = enqueue(handler, {"token": token, "seconds": round(seconds, 3)})
    write(journal, token=token, id=execution.pk)


def make_due_cron(name: str, journal: TextIO) -> None:
    """Make a cron job whose last ticks nobody has dispatched yet."""
    now = timezone.now().replace(second=0, microsecond=0)
    job = CronJob(
        name=name,
        cron_expression="* * * * *",
        timezone="UTC",
        handler_name="token",
        handler_params={"token": name},
        max_retry=100,
        misfire=Misfire.ALL,
        next_run_at=now - timedelta(minutes=MISSED_TICKS),
    )
    job.planned = job.plan_key
    job.save()
    write(journal, cron=name, first=job.next_run_at.isoformat())


def write(journal: TextIO, **line: Any) -> None:
    journal.write(f"{json.dumps(line)}\n")
