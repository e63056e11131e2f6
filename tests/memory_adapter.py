"""An adapter to a queue in memory, which fails when it is told to."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any, ClassVar

from jobu import BaseQueueAdapter, QueueMessage
from jobu.exceptions import AdapterError


class MemoryAdapter(BaseQueueAdapter):
    name = "memory"

    def __init__(self) -> None:
        self.waiting: list[QueueMessage] = []
        self.completed: list[str] = []
        self.abandoned: list[str] = []
        self.calls: list[str] = []
        self.failures: dict[str, list[Exception]] = {}
        self.ready = True

    def send(self, *, body: bytes | None = None, **members: Any) -> None:
        if body is None:
            body = json.dumps({"handler_name": "echo", **members}).encode()
        self.waiting.append(QueueMessage(id=str(time.monotonic_ns()), body=body))

    def fail(self, method: str, *errors: Exception) -> None:
        self.failures[method] = list(errors)

    def connect(self) -> None:
        self._note("connect")

    def disconnect(self) -> None:
        self._note("disconnect")

    def receive(self, max_messages: int, timeout: float) -> list[QueueMessage]:
        self._note("receive")
        taken, self.waiting = self.waiting[:max_messages], self.waiting[max_messages:]
        if not taken:
            time.sleep(0.01)
        return taken

    def complete(self, messages: Sequence[QueueMessage]) -> None:
        self._note("complete")
        self.completed += [message.id for message in messages]

    def abandon(self, message: QueueMessage, reason: str) -> None:
        self._note("abandon")
        self.abandoned.append(message.id)

    def keep_alive(self) -> None:
        self._note("keep_alive")

    def is_ready(self) -> bool:
        return self.ready

    def _note(self, method: str) -> None:
        self.calls.append(method)
        if self.failures.get(method):
            raise self.failures[method].pop(0)


class Outbox(MemoryAdapter):
    """Keep what is published; the queue systems themselves are the adapters' own tests."""

    name = "outbox"
    sent: ClassVar[list[tuple[bytes, bytes | None]]] = []
    is_down: ClassVar[bool] = False

    def publish(
        self, body: bytes, *, key: bytes | None = None, headers: Sequence[tuple[str, bytes]] = ()
    ) -> None:
        if self.is_down:
            raise AdapterError("the <broker> is down")
        self.sent.append((body, key))
