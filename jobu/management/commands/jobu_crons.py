"""manage.py jobu_crons"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from django.utils import timezone

from jobu.cron import describe, next_times
from jobu.management.database_command import DatabaseCommand
from jobu.models import CronJob
from jobu.printable import printable

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(DatabaseCommand):
    help = "List the cron jobs with what they mean and when they come next, each in its own zone."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--count", type=int, default=3, help="next times (default: 3)")

    def handle(self, *_args: Any, **options: Any) -> None:
        jobs = list(CronJob.objects.order_by("name"))
        for job in jobs:
            line = f"{job.name}: {job.cron_expression} ({job.timezone}), {self._state(job)}"
            self.stdout.write(printable(line))
            if job.is_enabled and not job.find_problems():
                self.stdout.write(f"    {describe(job.cron_expression)}")
                for tick in next_times(
                    job.cron_expression,
                    job.timezone,
                    timezone.now(),
                    options["count"],
                    seed=job.name,
                ):
                    self.stdout.write(f"    {tick.astimezone(ZoneInfo(job.timezone)).isoformat()}")
        if not jobs:
            self.stdout.write("There are no cron jobs.")

    def _state(self, job: CronJob) -> str:
        if not job.is_enabled:
            return f"disabled. {job.problem}".strip()
        found = job.find_problems()
        if missing := job.find_missing_handler():
            found.append(f"enabled, but its executions fail: {missing}")
        return "; ".join(found) or "enabled"
