"""The queue dispatcher: makes executions of messages, each message once."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from django.db import reset_queries

from jobu import logs
from jobu.adapters.lookup import make_adapter
from jobu.conf import settings
from jobu.dispatchers.broker import Broker, BrokerAway
from jobu.handlers.registry import handlers
from jobu.messages.store import store
from jobu.models.process import ProcessKind
from jobu.processes.housekeeper import Chore
from jobu.processes.polling import PollingProcess
from jobu.queue.prune import prune_dead_letters
from jobu.reading.depth import count_claimable

if TYPE_CHECKING:
    from jobu.adapters.base import BaseQueueAdapter, QueueMessage

_RECEIVE_SECONDS = 0.5
_COUNT_SECONDS = 1.0
_RESUME_BELOW = 0.9
_PAUSE_SECONDS = 0.5
_PRUNE_INTERVAL_SECONDS = 60


class QueueDispatcher(PollingProcess):
    """Receives a batch, stores it in one transaction, and only then completes it; until stopped.

    With `drain` it stops by itself once nothing has come for `idle_timeout` seconds. Any number
    may run at the same time; the queue system shares the messages out among them.
    """

    kind = ProcessKind.QUEUE_DISPATCHER.value

    def __init__(
        self,
        *,
        adapter: BaseQueueAdapter | None = None,
        batch_size: int | None = None,
        max_pending: int | None = None,
        drain: bool = False,
        idle_timeout: float = 10.0,
    ) -> None:
        super().__init__()
        self._broker = Broker(adapter or make_adapter(), self.name)
        self._batch_size = (
            settings.QUEUE_DISPATCHER_BATCH_SIZE if batch_size is None else batch_size
        )
        self._backpressure = _Backpressure(
            settings.QUEUE_DISPATCHER_MAX_PENDING if max_pending is None else max_pending, self.name
        )
        self._drain = drain
        self._idle_timeout = idle_timeout
        self._busy_at = time.monotonic()
        self._received: list[QueueMessage] = []
        self._stored: list[QueueMessage] = []

    def describe(self) -> str:
        return f"messages from {self._broker.adapter_name}; pid {os.getpid()}"

    def chores(self) -> list[Chore]:
        return [Chore(_PRUNE_INTERVAL_SECONDS, self._prune_dead_letters)]

    def begin(self) -> None:
        if not any(spec.takes_events for spec in handlers):
            logs.no_handler_takes_events(self.name)
        self._broker.connect()

    def poll(self) -> float:
        # With DEBUG, Django keeps thousands of statements, with the bodies of messages in them.
        reset_queries()
        try:
            return self._take_a_batch()
        except BrokerAway as away:
            self._busy_at = time.monotonic()
            return away.delay

    def finish(self) -> None:
        """Complete the stored messages and give back the others."""
        # A failure is logged, and all of them will be delivered again.
        with suppress(BrokerAway):
            if self._stored:
                self._broker.complete(self._stored)
            for message in self._received:
                self._broker.abandon(message, "the dispatcher stops before it could store it")
        self._broker.leave()

    def _take_a_batch(self) -> float:
        if self._received or self._stored:
            # An outage left them over: nobody has called the adapter for a while.
            self._broker.keep_alive()
        self._store_batch()
        room = self._backpressure.room(self._batch_size)
        if not room:
            self._busy_at = time.monotonic()
            self._broker.keep_alive()
            return _PAUSE_SECONDS
        self._received = self._broker.receive(room, _RECEIVE_SECONDS)
        self._store_batch()
        self._stop_if_drained()
        return 0

    def _store_batch(self) -> None:
        """Store the received messages, then complete them; the next poll repeats what failed."""
        if self._received:
            self._busy_at = time.monotonic()
            refusals = store(self._received, self._broker.adapter_name)
            self._stored, self._received = self._received, []
            for refusal in refusals:
                logs.message_is_dead(self._broker.adapter_name, refusal.message.id, refusal.reason)
            logs.messages_stored(self.name, len(self._stored))
            self._backpressure.add(len(self._stored))
        if self._stored:
            self._broker.complete(self._stored)
            self._stored = []
            self._busy_at = time.monotonic()

    def _stop_if_drained(self) -> None:
        if not self._broker.is_ready:
            self._busy_at = time.monotonic()
        if self._drain and time.monotonic() - self._busy_at >= self._idle_timeout:
            self.request_stop()

    def _prune_dead_letters(self) -> None:
        batches = prune_dead_letters(settings.RETENTION_DAYS, settings.DEAD_LETTER_RETENTION_DAYS)
        # One batch, because the heartbeat waits for its turn; the rest goes next time.
        for count, were_open in islice(batches, 1):
            logs.dead_letters_pruned(count, were_open=were_open)


class _Backpressure:
    """Says when enough waits in the database, and messages should stay in their queue system.

    It counts once a second and adds up in between: a count for each batch would cost too much.
    """

    def __init__(self, max_pending: int | None, who: str) -> None:
        self._max_pending = max_pending
        self._who = who
        self._pending = 0
        self._counted_at = float("-inf")
        self._is_paused = False

    def room(self, wanted: int) -> int:
        """Return how many of the wanted messages may come now."""
        if self._max_pending is None:
            return wanted
        if time.monotonic() - self._counted_at >= _COUNT_SECONDS:
            self._count(self._max_pending)
        return 0 if self._is_paused else max(0, min(wanted, self._max_pending - self._pending))

    def add(self, count: int) -> None:
        self._pending += count

    def _count(self, limit: int) -> None:
        self._pending = count_claimable(limit)
        self._counted_at = time.monotonic()
        if not self._is_paused and self._pending >= limit:
            self._is_paused = True
            logs.queue_paused(self._who, self._pending)
        elif self._is_paused and self._pending <= limit * _RESUME_BELOW:
            self._is_paused = False
            logs.queue_resumed(self._who, self._pending)
