"""What tomorrow's models have and today's do not: all that docs/upgrading.md allows."""

from __future__ import annotations

from django.db import models

from jobu.dialects import DatabaseNow
from jobu.models import CronJob, DeadLetter, JobExecution, LogLine, Process
from jobu.models.fields import ExactCharField, ExactJSONField, StatusIndex

for _model in (CronJob, DeadLetter, JobExecution, LogLine, Process):
    ExactJSONField(null=True).contribute_to_class(_model, "later_nullable")
    ExactCharField(max_length=50, db_default="by the database").contribute_to_class(
        _model, "later_defaulted"
    )
models.DateTimeField(db_default=DatabaseNow()).contribute_to_class(JobExecution, "later_at")
INDEX = StatusIndex(fields=["later_defaulted", "id"], name="jobu_exec_later", status="PENDING")
JobExecution._meta.indexes = [*JobExecution._meta.indexes, INDEX]


class Later(models.Model):
    execution = models.ForeignKey(JobExecution, on_delete=models.CASCADE, db_constraint=False)
    note = ExactCharField(max_length=50, db_default="")

    class Meta:
        app_label = "jobu"

    def __str__(self) -> str:
        return str(self.note)
