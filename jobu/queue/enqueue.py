"""Put executions into the queue, as part of the caller's transaction."""

from __future__ import annotations

import json
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from asgiref.sync import sync_to_async
from django.db import connections
from django.utils.timezone import is_naive

from jobu import signals
from jobu.conf import settings
from jobu.exceptions import DedupeKeyError, OptionError
from jobu.handlers.options import check_execution_options
from jobu.handlers.registry import handlers
from jobu.jsonable import encode_object, storable_text
from jobu.models import JobExecution
from jobu.queue.insert import insert_alike, insert_returning
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Iterable

RESERVED_PREFIX = "jobu:"
"""How the dedupe_keys begin that jobu makes itself, such as those of messages."""

_CHUNK_SIZE = 1000


def enqueue(
    name: str,
    params: Any = None,
    *,
    queue: str | None = None,
    priority: int | None = None,
    available_at: datetime | None = None,
    max_retry: int | None = None,
    timeout_seconds: int | None = None,
    dedupe_key: str | None = None,
) -> JobExecution:
    """Enqueue one execution of the handler `name`; what is not given comes from the handler.

    With a `dedupe_key` that an execution already has, that execution is returned instead; if it is
    another handler's, DedupeKeyError is raised.
    """
    fields = _fields(name, queue, priority, available_at, max_retry, timeout_seconds)
    encoded = "{}" if params is None else encode_object(params, f"The params for {name!r}")
    key = None if dedupe_key is None else _own_key(dedupe_key)
    if not signals.execution_enqueued.has_listeners():
        return _insert_one(fields, encoded, key)[0]
    # A receiver that raises takes the execution with it.
    with write_transaction(settings.DATABASE):
        execution, created = _insert_one(fields, encoded, key)
        if created:
            signals.execution_enqueued.send(sender=None, execution=execution)
    return execution


def enqueue_many(
    name: str,
    params: Iterable[Any],
    *,
    queue: str | None = None,
    priority: int | None = None,
    available_at: datetime | None = None,
    max_retry: int | None = None,
    timeout_seconds: int | None = None,
) -> int:
    """Enqueue one execution for each of `params`, all or none; return how many.

    `params` may be any iterable, a generator included: no more than a chunk is held in memory.
    """
    fields = _fields(name, queue, priority, available_at, max_retry, timeout_seconds)
    encoded = (
        encode_object({} if each is None else each, f"The params at index {index} for {name!r}")
        for index, each in enumerate(params)
    )
    insert = _insert_each if signals.execution_enqueued.has_listeners() else insert_alike
    count = 0
    with write_transaction(settings.DATABASE):
        while chunk := list(islice(encoded, _CHUNK_SIZE)):
            insert(fields, chunk)
            count += len(chunk)
    return count


async def aenqueue(name: str, params: Any = None, **options: Any) -> JobExecution:
    """The async twin of `enqueue`."""
    return await sync_to_async(enqueue)(name, params, **options)


async def aenqueue_many(name: str, params: Iterable[Any], **options: Any) -> int:
    """The async twin of `enqueue_many`."""
    return await sync_to_async(enqueue_many)(name, params, **options)


def _insert_one(
    fields: dict[str, Any], encoded_params: str, dedupe_key: str | None
) -> tuple[JobExecution, bool]:
    """Return the execution, and whether it is new."""
    if dedupe_key is None:
        return insert_returning(connections[settings.DATABASE], fields, encoded_params), True
    return get_or_insert(dedupe_key, {**fields, "params": json.loads(encoded_params)})


def get_or_insert(dedupe_key: str, fields: dict[str, Any]) -> tuple[JobExecution, bool]:
    """Return the execution that has the key, and whether it is new; refuse another handler's."""
    found, created = JobExecution.objects.get_or_create(dedupe_key=dedupe_key, defaults=fields)
    if found.handler_name != fields["handler_name"]:
        raise key_taken(dedupe_key, found.handler_name, fields["handler_name"])
    return found, created


def key_taken(dedupe_key: str, owner: str, handler_name: str) -> DedupeKeyError:
    return DedupeKeyError(
        f"The dedupe_key {dedupe_key!r} belongs to an execution of {owner!r}, so {handler_name!r} "
        "needs another one."
    )


def _insert_each(fields: dict[str, Any], encoded_params: list[str]) -> None:
    """Insert rows one by one: receivers of the signal want to see each with its id."""
    for text in encoded_params:
        execution = JobExecution.objects.create(**fields, params=json.loads(text))
        signals.execution_enqueued.send(sender=None, execution=execution)


def _fields(
    name: str,
    queue: str | None,
    priority: int | None,
    available_at: datetime | None,
    max_retry: int | None,
    timeout_seconds: int | None,
) -> dict[str, Any]:
    options = handlers[name].options
    fields: dict[str, Any] = {
        "handler_name": name,
        "queue": options.queue,
        "priority": options.priority,
        "max_retry": options.max_retry,
        "timeout_seconds": options.timeout_seconds,
    }
    chosen = {
        "queue": queue,
        "priority": priority,
        "max_retry": max_retry,
        "timeout_seconds": timeout_seconds,
    }
    # Those of the handler were checked when it was registered.
    if chosen := {option: value for option, value in chosen.items() if value is not None}:
        check_execution_options(**chosen)
        fields.update(chosen)
    if available_at is not None:
        fields["available_at"] = checked_time(available_at)
    return fields


def checked_time(value: Any) -> datetime:
    """Return the time, or refuse what is not an instant."""
    if not isinstance(value, datetime):
        raise OptionError(f"available_at must be a datetime, not {value!r}")
    if is_naive(value):
        raise OptionError(
            f"available_at must have a time zone, but {value!r} has none. "
            "Use django.utils.timezone.now() plus a timedelta, or make_aware()."
        )
    return value


def checked_dedupe_key(key: Any) -> str:
    """Return the key, or refuse what its column could not hold."""
    if not isinstance(key, str) or not 1 <= len(key) <= 255 or storable_text(key, 255) != key:
        raise OptionError(f"dedupe_key must be a text of 1 to 255 characters, not {key!r}")
    return key


def _own_key(key: Any) -> str:
    if isinstance(key, str) and key.startswith(RESERVED_PREFIX):
        raise OptionError(
            f"dedupe_key must not begin with {RESERVED_PREFIX!r}: such keys are jobu's own. "
            f"{key!r} does."
        )
    return checked_dedupe_key(key)
