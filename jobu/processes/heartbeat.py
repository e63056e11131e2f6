"""The heartbeat of a process, which others see in its row of the Process table."""

from __future__ import annotations

import os
import socket
import time
import uuid
from typing import TYPE_CHECKING

from jobu import logs
from jobu.conf import settings
from jobu.dialects import DatabaseNow
from jobu.models import Process

if TYPE_CHECKING:
    from collections.abc import Sequence


class Heartbeat:
    """One per process, however much it runs: its cost does not grow with the work."""

    def __init__(self, kind: str, queues: Sequence[str] = (), slots: int = 0) -> None:
        self.process_id = uuid.uuid4()
        self.kind = kind
        self.stopping = False
        self._queues = list(queues)
        self._slots = slots
        self._last_beat = float("-inf")
        self._steady_since = float("inf")

    def register(self) -> None:
        """Add the process to the table. Call it before anything is claimed."""
        began = time.monotonic()
        Process.objects.update_or_create(
            id=self.process_id,
            defaults={
                "kind": self.kind,
                "host": socket.gethostname(),
                "pid": os.getpid(),
                "queues": self._queues,
                "slots": self._slots,
                "stopping": self.stopping,
                "heartbeat_at": DatabaseNow(),
            },
        )
        self._last_beat = began
        self._steady_since = time.monotonic()

    def beat(self) -> None:
        began = time.monotonic()
        sign = {"heartbeat_at": DatabaseNow(), "stopping": self.stopping}
        own = Process.objects.filter(id=self.process_id)
        # By the database's clock, which also shows when the database or its machine stood still.
        if not own.steady().update(**sign):
            if not own.update(**sign):
                logs.process_resurrected(self.kind, self.process_id)
                self.register()
            self._steady_since = time.monotonic()
        self._last_beat = began

    def is_late(self) -> bool:
        """Tell whether others may take this process for dead by now."""
        return time.monotonic() - self._last_beat > settings.LEASE_SECONDS

    def may_judge_others(self) -> bool:
        """Tell whether this process may take silent processes for dead.

        No process can beat while the database is gone, stands still or waits for a lock. So the
        silence of others means nothing until this process has itself beaten for a lease without a
        gap. The lease begins again after each gap, and at the start, because nobody knows what
        was before.
        """
        return time.monotonic() - self._steady_since > settings.LEASE_SECONDS

    def deregister(self) -> None:
        Process.objects.filter(id=self.process_id).delete()
