"""Enqueue executions and make cron jobs, all the time, as a busy web site does, until SIGTERM.

The journal gets a line for each one that the database acknowledged.
"""

from __future__ import annotations

import json
import random
import signal
import time
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
from tests.project.shop.models import Effect

MISSED_TICKS = 10


class Command(BaseCommand):
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("journal", type=Path)
        parser.add_argument("--seed", type=int, required=True)
        parser.add_argument("--pause", type=float, default=0.02)
        parser.add_argument("--shared", type=float, default=0.05, help="how many write one row")

    def handle(self, *_args: Any, **options: Any) -> None:
        # Not an Event: a signal that comes while `wait` holds its lock would wait for it for ever.
        signals: list[int] = []
        signal.signal(signal.SIGTERM, lambda number, _: signals.append(number))
        chance = random.Random(options["seed"])
        shared = Effect.objects.create(execution_id=0).pk
        with options["journal"].open("a", buffering=1) as journal:
            while not signals:
                time.sleep(chance.uniform(0, 2 * options["pause"]))
                # Not from the seed: what two producers enqueue must have two names.
                params: dict[str, Any] = {"token": uuid.uuid4().hex}
                if chance.random() < options["shared"]:
                    params["shared"] = shared
                elif chance.random() < 0.02:
                    # On its way whatever happens.
                    params["seconds"] = chance.uniform(2, 8)
                else:
                    params["seconds"] = chance.uniform(0, 0.05)
                try:
                    produce(params, chance, journal)
                except Error as error:
                    write(journal, token=params["token"], error=str(error))
                    connection.close()
                    time.sleep(0.2)


def produce(params: dict[str, Any], chance: random.Random, journal: TextIO) -> None:
    if not journal.tell() or chance.random() < 0.02:
        make_due_cron(params["token"], journal)
        return
    is_atomic = "shared" in params or chance.random() < 0.4
    execution = enqueue("atomic_token" if is_atomic else "token", params)
    write(journal, token=params["token"], id=execution.pk)


def make_due_cron(name: str, journal: TextIO) -> None:
    """Make a cron job whose last ticks nobody has dispatched yet."""
    first = timezone.now().replace(second=0, microsecond=0) - timedelta(minutes=MISSED_TICKS)
    job = CronJob(
        name=name,
        cron_expression="* * * * *",
        timezone="UTC",
        handler_name="token",
        handler_params={"token": name},
        max_retry=100,
        misfire=Misfire.ALL,
        next_run_at=first,
    )
    job.planned = job.plan_key
    job.save()
    write(journal, cron=name, first=first.isoformat())


def write(journal: TextIO, **line: Any) -> None:
    journal.write(f"{json.dumps(line)}\n")
