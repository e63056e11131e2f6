"""Tally: what has finished so far, for metrics that must not count the history anew."""

from __future__ import annotations

from django.db import models

from jobu.models.fields import ExactJSONField


class Tally(models.Model):
    """One row. `totals` is handler → status → count, seconds, and how many per bucket.

    `revision` grows with each change, so that of two who change it at once one notices.
    """

    revision = models.PositiveBigIntegerField(default=0)
    counted_until = models.DateTimeField()
    totals = ExactJSONField(default=dict)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"counted until {self.counted_until}"
