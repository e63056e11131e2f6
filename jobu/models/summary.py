"""Summary: what finished within one minute, quarter of an hour or two hours."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from jobu.models.fields import ExactJSONField


class Summary(models.Model):
    seconds = models.PositiveIntegerField()
    begins_at = models.DateTimeField()
    content = ExactJSONField(default=dict)

    class Meta:
        verbose_name = _("summary")
        verbose_name_plural = _("summaries")
        constraints: ClassVar = [
            # Several processes may summarise the same time; the first one's summary stays.
            models.UniqueConstraint(
                fields=["seconds", "begins_at"], name="jobu_summary_unique_time"
            )
        ]

    def __str__(self) -> str:
        return f"{self.begins_at:%Y-%m-%d %H:%M} + {self.seconds} s"


class Dashboard(Summary):
    """The dashboard as Django's admin sees it: a place in its index, and a permission to view."""

    class Meta:
        proxy = True
        verbose_name = _("dashboard")
        verbose_name_plural = _("dashboard")
        default_permissions = ("view",)
