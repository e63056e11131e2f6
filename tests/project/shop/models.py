"""Effect: a row that a handler of the tests writes, so that tests can count its runs."""

from __future__ import annotations

from django.db import models


class Effect(models.Model):
    execution_id = models.BigIntegerField()
    note = models.CharField(max_length=100, default="")

    def __str__(self) -> str:
        return f"{self.note} of {self.execution_id}"
