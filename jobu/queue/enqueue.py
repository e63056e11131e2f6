"""The door of the queue: every execution is inserted here, as part of the caller's transaction.

`execution_enqueued` is sent for each new execution, whoever enqueues it, inside the transaction
that inserts it. Without a receiver nothing is done for it; with one, rows are inserted one by one.
"""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from asgiref.sync import sync_to_async
from django.db import Error, IntegrityError, connections, transaction

from jobu import logs, signals
from jobu.conf import settings
from jobu.dialects import dialect_for
from jobu.exceptions import DedupeKeyError, OptionError
from jobu.handlers.options import check_execution_options, checked_dedupe_key, checked_time
from jobu.handlers.registry import handlers
from jobu.jsonable import encode_object
from jobu.models import JobExecution
from jobu.models.job_execution import ParamSource
from jobu.queue.insert import (
    EVENT_COLUMNS,
    TICK_COLUMNS,
    insert_alike,
    insert_new,
    insert_returning,
    json_row,
)
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

Row = dict[str, Any]
"""Column → value of an execution; params and extra are JSON text, None is the default."""

RESERVED_PREFIX = "jobu:"
"""The beginning of dedupe_keys that jobu makes itself, such as those of messages."""

_CHUNK_SIZE = 1000
_TICK = {"param_source": ParamSource.CRON.value}
_EVENT = {"param_source": ParamSource.EVENT.value}


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
    """Enqueue one execution of the handler `name`; options that are not given are the handler's.

    If an execution has the `dedupe_key` already, that execution is returned; if it is another
    handler's, DedupeKeyError is raised.
    """
    fields = _fields(name, queue, priority, available_at, max_retry, timeout_seconds)
    return _enqueue(fields, params, dedupe_key)


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

    `params` may be any iterable, a generator included: only a chunk of it is held in memory.
    """
    fields = _fields(name, queue, priority, available_at, max_retry, timeout_seconds)
    encoded = (
        encode_object({} if each is None else each, f"The params at index {index} for {name!r}")
        for index, each in enumerate(params)
    )
    has_receivers = signals.execution_enqueued.has_listeners()
    count = 0
    with write_transaction(settings.DATABASE):
        while chunk := list(islice(encoded, _CHUNK_SIZE)):
            if has_receivers:
                for each in chunk:
                    _announce(_insert(fields, each))
            else:
                insert_alike(fields, chunk)
            count += len(chunk)
    return count


async def aenqueue(name: str, params: Any = None, **options: Any) -> JobExecution:
    """The async twin of `enqueue`."""
    return await sync_to_async(enqueue)(name, params, **options)


async def aenqueue_many(name: str, params: Iterable[Any], **options: Any) -> int:
    """The async twin of `enqueue_many`."""
    return await sync_to_async(enqueue_many)(name, params, **options)


def enqueue_from_api(
    name: str, params: Any, *, dedupe_key: str | None = None, **options: Any
) -> JobExecution:
    """Do the same as `enqueue` for a request of the HTTP API."""
    fields = {**_fields(name, **options), "param_source": ParamSource.API.value}
    return _enqueue(fields, params, dedupe_key)


def enqueue_by_hand(name: str, params: Any, **options: Any) -> JobExecution:
    """Do the same as `enqueue` for a person at the admin."""
    return _enqueue(
        {**_fields(name, **options), "param_source": ParamSource.MANUAL.value}, params, None
    )


def enqueue_row(row: Row) -> JobExecution:
    """Enqueue an execution of a cron job outside of its schedule."""
    return _put(*_unpacked(row))


def enqueue_ticks(rows: Sequence[Row]) -> None:
    """Enqueue the ticks that have no execution yet. Call it inside a `write_transaction`.

    A receiver that raises is logged, and the tick stays: no tick may be lost, and one receiver
    must not stop all cron jobs.
    """
    if not rows:
        return
    if not signals.execution_enqueued.has_listeners():
        insert_new(_TICK, rows, TICK_COLUMNS)
        return
    for row in rows:
        fields, encoded = _unpacked({**_TICK, **row})
        execution, is_new = _insert_unless_there(fields, encoded, ("job_id", "scheduled_time"))
        if is_new:
            _announce_tick(execution)


def enqueue_event(row: Row, limit: int | None) -> JobExecution:
    """Enqueue the execution of a message, or return the one that has its dedupe_key.

    Raises DedupeKeyError if that one is another handler's. `limit` comes from `statement_bytes`.
    """
    # The limit holds for one row, too, although this INSERT could be longer.
    json_row(row, limit)
    return _put_keyed(*_unpacked({**_EVENT, **row}))


def enqueue_events(rows: Sequence[Row], limit: int | None) -> None:
    """Do the same for many messages; a dedupe_key that is there already is left alone."""
    if rows:
        insert_new(_EVENT, rows, EVENT_COLUMNS, limit)


def _enqueue(fields: dict[str, Any], params: Any, dedupe_key: str | None) -> JobExecution:
    name = fields["handler_name"]
    encoded = "{}" if params is None else encode_object(params, f"The params for {name!r}")
    if dedupe_key is None:
        return _put(fields, encoded)
    fields["dedupe_key"] = _own_key(dedupe_key)
    return _put_keyed(fields, encoded)


def _put(fields: dict[str, Any], encoded_params: str) -> JobExecution:
    if not signals.execution_enqueued.has_listeners():
        return _insert(fields, encoded_params)
    # A receiver that raises takes the execution with it.
    with write_transaction(settings.DATABASE):
        execution = _insert(fields, encoded_params)
        _announce(execution)
    return execution


def _put_keyed(fields: dict[str, Any], encoded_params: str) -> JobExecution:
    """Do the same, unless there is an execution with the dedupe_key: then return that one."""
    if not signals.execution_enqueued.has_listeners():
        execution, _ = _insert_unless_there(fields, encoded_params, ("dedupe_key",))
    else:
        with write_transaction(settings.DATABASE):
            execution, is_new = _insert_unless_there(fields, encoded_params, ("dedupe_key",))
            if is_new:
                _announce(execution)
    if execution.handler_name != fields["handler_name"]:
        raise key_taken(fields["dedupe_key"], execution.handler_name, fields["handler_name"])
    return execution


def _insert(fields: dict[str, Any], encoded_params: str) -> JobExecution:
    return insert_returning(connections[settings.DATABASE], fields, encoded_params)


def _insert_unless_there(
    fields: dict[str, Any], encoded_params: str, unique: Sequence[str]
) -> tuple[JobExecution, bool]:
    """Return the execution with the same `unique` fields, or a new one; and whether it is new."""
    same = {name: fields[name] for name in unique}
    with suppress(JobExecution.DoesNotExist):
        return JobExecution.objects.get(**same), False
    try:
        with transaction.atomic(using=settings.DATABASE):
            return _insert(fields, encoded_params), True
    except IntegrityError:
        # Another connection has just inserted it, unless the row itself is at fault.
        with suppress(JobExecution.DoesNotExist):
            return JobExecution.objects.get(**same), False
        raise


def _announce(execution: JobExecution) -> None:
    signals.execution_enqueued.send(sender=None, execution=execution)


def _announce_tick(execution: JobExecution) -> None:
    try:
        # In a savepoint, so that a receiver's failed statement does not spoil the other ticks.
        with transaction.atomic(using=settings.DATABASE):
            _announce(execution)
    except Exception as error:
        if isinstance(error, Error) and not dialect_for(settings.DATABASE).refuses(error):
            raise
        logs.receiver_failed({"execution": execution}, error)


def _unpacked(row: Row) -> tuple[dict[str, Any], str]:
    """Return the fields that a row gives, and its params as JSON."""
    fields = {name: value for name, value in row.items() if value is not None and name != "params"}
    if "extra" in fields:
        fields["extra"] = json.loads(fields["extra"])
    return fields, row["params"]


def key_taken(dedupe_key: str, owner: str, handler_name: str) -> DedupeKeyError:
    return DedupeKeyError(
        f"The dedupe_key {dedupe_key!r} belongs to an execution of {owner!r}, so {handler_name!r} "
        "needs another one."
    )


def _fields(
    name: str,
    queue: str | None = None,
    priority: int | None = None,
    available_at: datetime | None = None,
    max_retry: int | None = None,
    timeout_seconds: int | None = None,
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
    # The handler's own options were checked when it was registered.
    if chosen := {option: value for option, value in chosen.items() if value is not None}:
        check_execution_options(**chosen)
        fields.update(chosen)
    if available_at is not None:
        fields["available_at"] = checked_time(available_at)
    return fields


def _own_key(key: Any) -> str:
    if isinstance(key, str) and key.startswith(RESERVED_PREFIX):
        raise OptionError(
            f"dedupe_key must not begin with {RESERVED_PREFIX!r}: such keys are jobu's own. "
            f"{key!r} does."
        )
    return checked_dedupe_key(key)
