"""LogLine: what a handler logged while it ran."""

from __future__ import annotations

import logging
from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from jobu.models.fields import ExactCharField
from jobu.models.job_execution import JobExecution

MAX_LOGGER_LENGTH = 200


class LogLine(models.Model):
    # Without a constraint in the database: it would lock the execution's row with each line, in
    # the way of claim and settle, on MariaDB up to a deadlock.
    execution = models.ForeignKey(
        JobExecution,
        on_delete=models.CASCADE,
        related_name="log_lines",
        db_constraint=False,
        db_index=False,
    )
    attempt = models.PositiveIntegerField()
    logged_at = models.DateTimeField(
        help_text=_("By the clock of the machine that ran it; no two lines of a run share one.")
    )
    level = models.PositiveSmallIntegerField()
    logger = ExactCharField(max_length=MAX_LOGGER_LENGTH)
    message = models.TextField()

    class Meta:
        verbose_name = _("log line")
        verbose_name_plural = _("log lines")
        ordering: ClassVar = ["execution_id", "attempt", "logged_at"]
        constraints: ClassVar = [
            # In the order in which they are read; and what is written twice is there once.
            models.UniqueConstraint(
                fields=["execution", "attempt", "logged_at"], name="jobu_log_unique_line"
            )
        ]

    def __str__(self) -> str:
        return f"{self.level_name}: {self.message}"

    @property
    def level_name(self) -> str:
        return logging.getLevelName(self.level)
