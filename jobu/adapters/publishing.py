"""Send messages that a queue dispatcher, here or elsewhere, makes executions of."""

from __future__ import annotations

import os
from threading import Lock
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed

from jobu.adapters.lookup import make_adapter
from jobu.conf import PREFIX
from jobu.exceptions import AdapterError, JobuError
from jobu.messages.format import check_size, write_event

if TYPE_CHECKING:
    from datetime import datetime

    from jobu.adapters.base import BaseQueueAdapter

_adapters: dict[int, BaseQueueAdapter] = {}
_lock = Lock()


def publish(
    handler_name: str,
    params: Any = None,
    *,
    job_id: int | None = None,
    queue: str | None = None,
    priority: int | None = None,
    available_at: datetime | None = None,
    dedupe_key: str | None = None,
    key: str | bytes | None = None,
) -> None:
    """Send a message through the configured adapter; return once the queue system has it.

    Raises MessageError for what messages may not ask of a handler that is registered here, and
    AdapterError if the queue system did not take it. It does not wait for the caller's transaction:
    use `transaction.on_commit` for that. `key` is the queue system's own, such as Kafka's, where
    messages of one key keep their order.
    """
    body = write_event(
        handler_name,
        params,
        job_id=job_id,
        queue=queue,
        priority=priority,
        available_at=available_at,
        dedupe_key=dedupe_key,
    )
    key = key.encode() if isinstance(key, str) else key
    check_size(len(body) + len(key or b""))
    adapter = _adapter()
    try:
        adapter.publish(body, key=key)
    except (JobuError, ImproperlyConfigured):
        raise
    except Exception as error:
        # Whatever a client raises, it says that the message may not have come through.
        raise AdapterError(f"{type(adapter).__name__} did not take the message: {error}") from error


def _adapter() -> BaseQueueAdapter:
    """Return this process's adapter for publishing; a connection does not survive a fork."""
    with _lock:
        pid = os.getpid()
        if pid not in _adapters:
            _adapters.clear()
            _adapters[pid] = make_adapter()
        return _adapters[pid]


def _forget(setting: str, **_kwargs: Any) -> None:
    if setting.startswith(PREFIX):
        _adapters.clear()


setting_changed.connect(_forget)
