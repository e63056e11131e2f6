"""The connection to the queue system, which may be away for a while."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ImproperlyConfigured

from jobu import logs
from jobu.exceptions import AdapterError, JobuError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jobu.adapters.base import BaseQueueAdapter, QueueMessage

_FIRST_DELAY_SECONDS = 0.2
_LONGEST_DELAY_SECONDS = 5.0
_LOG_INTERVAL_SECONDS = 60.0


class BrokerAway(JobuError):  # noqa: N818 - a condition to wait out
    """The queue system cannot be used; try again after `delay` seconds."""

    def __init__(self, delay: float) -> None:
        super().__init__(f"away, next attempt in {delay:.1f} s")
        self.delay = delay


class Broker:
    """Calls the adapter; turns its exceptions into one log line a minute and a delay."""

    def __init__(self, adapter: BaseQueueAdapter, who: str) -> None:
        self._adapter = adapter
        self._who = who
        self._is_connected = False
        self._failures = 0
        self._logged_at = float("-inf")
        self._is_known = False

    @property
    def adapter_name(self) -> str:
        return self._adapter.name

    @property
    def is_ready(self) -> bool:
        return self._is_connected and self._adapter.is_ready()

    def connect(self) -> None:
        """Connect now if possible; raise only errors that waiting cannot mend."""
        try:
            self._call(lambda: None)
        except BrokerAway as away:
            if isinstance(away.__cause__, ImproperlyConfigured):
                raise away.__cause__ from None

    def receive(self, max_messages: int, timeout: float) -> list[QueueMessage]:
        messages = list(self._call(self._adapter.receive, max_messages, timeout))
        # Messages may come from the client's memory, so only an empty answer proves the connection.
        if not messages:
            self._over()
        return messages

    def complete(self, messages: Sequence[QueueMessage]) -> None:
        self._call(self._adapter.complete, messages)
        self._over()

    def abandon(self, message: QueueMessage, reason: str) -> None:
        self._call(self._adapter.abandon, message, reason)

    def keep_alive(self) -> None:
        self._call(self._adapter.keep_alive)

    def leave(self) -> None:
        """Disconnect for good; if that fails, the queue system notices by itself."""
        if self._is_connected:
            self._disconnect()

    def _call(self, function: Callable[..., Any], *args: Any) -> Any:
        try:
            if not self._is_connected:
                self._adapter.connect()
                self._is_connected = True
            result = function(*args)
        except Exception as error:
            if self._is_connected and not isinstance(error, AdapterError):
                self._disconnect()
            raise BrokerAway(self._failed(error)) from error
        return result

    def _disconnect(self) -> None:
        self._is_connected = False
        try:
            self._adapter.disconnect()
        except Exception as error:  # noqa: BLE001 - it is given up in any case
            logs.adapter_left_badly(self._who, error)

    def _failed(self, error: Exception) -> float:
        self._failures += 1
        if time.monotonic() - self._logged_at >= _LOG_INTERVAL_SECONDS:
            self._logged_at = time.monotonic()
            self._is_known = True
            logs.broker_failed(self._who, error)
        bound = min(_LONGEST_DELAY_SECONDS, _FIRST_DELAY_SECONDS * 2 ** min(self._failures, 10))
        return random.uniform(bound / 2, bound)  # noqa: S311 - spreads a fleet's reconnects

    def _over(self) -> None:
        self._failures = 0
        if self._is_known:
            self._is_known = False
            logs.broker_back(self._who)
