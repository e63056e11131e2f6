"""jobu: scheduled, queued and event-driven jobs for Django, run from its own database.

The public API, imported lazily so that `import jobu` works before Django's apps are loaded.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jobu.adapters.base import BaseQueueAdapter, QueueMessage
    from jobu.adapters.publishing import publish
    from jobu.dispatchers.cron import Dispatcher
    from jobu.dispatchers.queue import QueueDispatcher
    from jobu.exceptions import JobCancelled, JobTimeout, RetryLater
    from jobu.handlers.base import BaseHandler, HandlerParams, HandlerResult
    from jobu.handlers.context import current_job
    from jobu.handlers.decorator import handler
    from jobu.handlers.schedule import Schedule
    from jobu.queue.actions import cancel, retry
    from jobu.queue.enqueue import aenqueue, aenqueue_many, enqueue, enqueue_many
    from jobu.transactions import get_connection, transactional, transactional_readonly
    from jobu.worker.worker import Worker

__all__ = [
    "BaseHandler",
    "BaseQueueAdapter",
    "Dispatcher",
    "HandlerParams",
    "HandlerResult",
    "JobCancelled",
    "JobTimeout",
    "QueueDispatcher",
    "QueueMessage",
    "RetryLater",
    "Schedule",
    "Worker",
    "aenqueue",
    "aenqueue_many",
    "cancel",
    "current_job",
    "enqueue",
    "enqueue_many",
    "get_connection",
    "handler",
    "publish",
    "retry",
    "transactional",
    "transactional_readonly",
]

_HOMES = {
    "BaseHandler": "jobu.handlers.base",
    "BaseQueueAdapter": "jobu.adapters.base",
    "Dispatcher": "jobu.dispatchers.cron",
    "HandlerParams": "jobu.handlers.base",
    "HandlerResult": "jobu.handlers.base",
    "JobCancelled": "jobu.exceptions",
    "JobTimeout": "jobu.exceptions",
    "QueueDispatcher": "jobu.dispatchers.queue",
    "QueueMessage": "jobu.adapters.base",
    "RetryLater": "jobu.exceptions",
    "Schedule": "jobu.handlers.schedule",
    "Worker": "jobu.worker.worker",
    "aenqueue": "jobu.queue.enqueue",
    "aenqueue_many": "jobu.queue.enqueue",
    "cancel": "jobu.queue.actions",
    "current_job": "jobu.handlers.context",
    "enqueue": "jobu.queue.enqueue",
    "enqueue_many": "jobu.queue.enqueue",
    "get_connection": "jobu.transactions",
    "handler": "jobu.handlers.decorator",
    "publish": "jobu.adapters.publishing",
    "retry": "jobu.queue.actions",
    "transactional": "jobu.transactions",
    "transactional_readonly": "jobu.transactions",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'jobu' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
