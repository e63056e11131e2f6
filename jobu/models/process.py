"""Process: one started worker or dispatcher, with a fresh id at each boot."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, ClassVar, Self

from django.db import models
from django.utils.translation import gettext_lazy as _

from jobu.conf import settings
from jobu.dialects import DatabaseNow
from jobu.models.fields import ExactCharField, ExactJSONField

if TYPE_CHECKING:
    from django.db.models.manager import Manager


class ProcessKind(models.TextChoices):
    WORKER = "worker", _("worker")
    DISPATCHER = "dispatcher", _("dispatcher")
    QUEUE_DISPATCHER = "queue-dispatcher", _("queue dispatcher")


STARTED_BY = {ProcessKind.WORKER: "runworker", ProcessKind.DISPATCHER: "rundispatcher"}
"""The commands that start the processes which each project needs."""


class ProcessQuerySet(models.QuerySet["Process"]):
    def alive(self) -> Self:
        """Beat within the lease."""
        return self.filter(heartbeat_at__gt=DatabaseNow(-settings.LEASE_SECONDS))

    def stale(self) -> Self:
        """Did not beat within the lease: what it runs will be rescued."""
        return self.filter(heartbeat_at__lte=DatabaseNow(-settings.LEASE_SECONDS))

    def steady(self) -> Self:
        """Beat so recently that the others cannot have been kept from beating for a lease."""
        return self.filter(heartbeat_at__gt=DatabaseNow(-settings.LEASE_SECONDS / 2))


class Process(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = ExactCharField(max_length=20, choices=ProcessKind)
    host = models.CharField(max_length=255)
    pid = models.PositiveIntegerField()
    queues = ExactJSONField(default=list, blank=True, help_text=_("Empty means every queue."))
    slots = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(db_default=DatabaseNow())
    heartbeat_at = models.DateTimeField(db_default=DatabaseNow(), db_index=True)
    stopping = models.BooleanField(default=False)

    objects: ClassVar[Manager[Process]] = ProcessQuerySet.as_manager()

    class Meta:
        verbose_name = _("process")
        verbose_name_plural = _("processes")
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(kind__in=ProcessKind.values), name="jobu_process_kind_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.host}:{self.pid}"
