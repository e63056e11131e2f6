"""Print all executions, effects and log lines, and how many crons are due, as JSON."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand
from django.core.serializers.json import DjangoJSONEncoder

from jobu.models import CronJob, JobExecution, LogLine
from tests.project.shop.models import Effect


class Command(BaseCommand):
    def handle(self, *_args: Any, **_options: Any) -> None:
        fields = (
            "id",
            "handler_name",
            "status",
            "attempt",
            "retry_count",
            "error_message",
            "params",
            "result",
            "job__name",
            "scheduled_time",
        )
        report = {
            # Before the executions: what was due then and is not now has none in the report.
            "due": CronJob.objects.due().count(),
            "executions": list(JobExecution.objects.values(*fields)),
            "effects": list(Effect.objects.values_list("execution_id", flat=True)),
            "notes": list(Effect.objects.values_list("execution_id", "note")),
            "lines": list(LogLine.objects.values_list("execution_id", "message")),
        }
        self.stdout.write(json.dumps(report, cls=DjangoJSONEncoder))
