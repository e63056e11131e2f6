"""The door of the queue: every execution is enqueued here, as part of the caller's transaction.

`jobu.queue.enqueue_rows` is the same door for cron jobs and messages. `execution_enqueued` is sent
for each new execution, whoever enqueues it, inside the transaction that inserts it. Without a
receiver nothing is done for it; with one, rows are inserted one by one.
"""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, Never

from asgiref.sync import sync_to_async
from django.db import Error, IntegrityError, connections, transaction

from jobu import signals
from jobu.conf import settings
from jobu.dialects import not_migrated
from jobu.exceptions import DedupeKeyError, NotJSONError, OptionError, ParamsError
from jobu.handlers.misnamed import refuse_options
from jobu.handlers.options import (
    check_execution_options,
    checked_dedupe_key,
    checked_delay,
    checked_time,
)
from jobu.handlers.registry import handlers
from jobu.jsonable import encode_object
from jobu.models import JobExecution
from jobu.models.job_execution import ParamSource
from jobu.queue.insert import (
    insert_alike,
    insert_returning,
)
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime, timedelta

    from jobu.handlers.registry import HandlerSpec

RESERVED_PREFIX = "jobu:"
"""The beginning of dedupe_keys that jobu makes itself, such as those of messages."""

_CHUNK_SIZE = 1000


def enqueue(
    name: str,
    params: Any = None,
    *,
    queue: str | None = None,
    priority: int | None = None,
    available_at: datetime | None = None,
    delay: float | timedelta | None = None,
    max_retry: int | None = None,
    timeout_seconds: int | None = None,
    dedupe_key: str | None = None,
    **unknown: Never,
) -> JobExecution:
    """Enqueue one execution of the handler `name`; options that are not given are the handler's.

    Raises ParamsError if the params do not fit the handler. With a `delay`, in seconds or as a
    timedelta, it is due so much later by the database's clock.

    If an execution has the `dedupe_key` already, that execution is returned; if it is another
    handler's, DedupeKeyError is raised.
    """
    if unknown:
        refuse_options("enqueue()", unknown)
    fields = _fields(name, queue, priority, available_at, delay, max_retry, timeout_seconds)
    return _enqueue(fields, params, dedupe_key)


def enqueue_many(
    name: str,
    params: Iterable[Any],
    *,
    queue: str | None = None,
    priority: int | None = None,
    available_at: datetime | None = None,
    delay: float | timedelta | None = None,
    max_retry: int | None = None,
    timeout_seconds: int | None = None,
    **unknown: Never,
) -> int:
    """Enqueue one execution for each of `params`, all or none; return how many.

    `params` may be any iterable, a generator included: only a chunk of it is held in memory.
    """
    if unknown:
        refuse_options("enqueue_many()", unknown)
    fields = _fields(name, queue, priority, available_at, delay, max_retry, timeout_seconds)
    encoded = _checked_many(name, params)
    has_receivers = signals.execution_enqueued.has_listeners()
    count = 0
    with write_transaction(settings.DATABASE):
        while chunk := list(islice(encoded, _CHUNK_SIZE)):
            if has_receivers:
                for each in chunk:
                    announce(_insert(fields, each, json.loads(each)))
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


def enqueue_by_hand(
    name: str, params: Any, *, dedupe_key: str | None = None, **options: Any
) -> JobExecution:
    """Do the same for a person, at a command line or in the admin."""
    fields = {**_fields(name, **options), "param_source": ParamSource.MANUAL.value}
    return _enqueue(fields, params, dedupe_key)


def _enqueue(fields: dict[str, Any], params: Any, dedupe_key: str | None) -> JobExecution:
    name = fields["handler_name"]
    encoded, decoded = _checked(handlers[name], params, f"The params for {name!r}")
    if dedupe_key is None:
        return put(fields, encoded, decoded)
    fields["dedupe_key"] = _own_key(dedupe_key)
    return put_keyed(fields, encoded, decoded)


def _checked_many(name: str, many: Iterable[Any]) -> Iterator[str]:
    """Yield each params as JSON; decode only what needs a closer look, because it takes as long."""
    spec = handlers[name]
    must_fit, limit = settings.VALIDATE_ON_ENQUEUE, settings.MAX_PARAMS_BYTES
    for index, params in enumerate(many):
        try:
            encoded = "{}" if params is None else encode_object(params, "The params")
            if len(encoded) > limit or (must_fit and not spec.surely_takes(params)):
                _checked(spec, params, "The params")
        except (NotJSONError, ParamsError):
            # The words name the index; to make them for each would cost more than all of this.
            _checked(spec, params, f"The params at index {index} for {name!r}")
            raise
        yield encoded


def _checked(spec: HandlerSpec, params: Any, what: str) -> tuple[str, Any]:
    """Return the params as JSON, and what a worker will read of it."""
    encoded = "{}" if params is None else encode_object(params, what)
    decoded = json.loads(encoded)
    check_params(spec, encoded, decoded, what)
    return encoded, decoded


def check_params(spec: HandlerSpec | None, encoded: str, params: dict[str, Any], what: str) -> None:
    """Raise ParamsError if the params are too large, or do not fit a handler that is known."""
    if len(encoded) > settings.MAX_PARAMS_BYTES:
        raise ParamsError(
            f"{what} are {len(encoded):,} bytes as JSON; at most {settings.MAX_PARAMS_BYTES:,} are "
            "accepted (JOBU_MAX_PARAMS_BYTES). Keep large data in a file or table and enqueue "
            "where it is."
        )
    if spec is not None and settings.VALIDATE_ON_ENQUEUE:
        try:
            spec.check(params)
        except ParamsError as error:
            raise ParamsError(f"{what} do not fit: {error}") from None


def put(fields: dict[str, Any], encoded: str, params: Any) -> JobExecution:
    if not signals.execution_enqueued.has_listeners():
        return _insert(fields, encoded, params)
    # A receiver that raises takes the execution with it.
    with write_transaction(settings.DATABASE):
        execution = _insert(fields, encoded, params)
        announce(execution)
    return execution


def put_keyed(fields: dict[str, Any], encoded: str, params: Any) -> JobExecution:
    """Do the same, unless there is an execution with the dedupe_key: then return that one."""
    if not signals.execution_enqueued.has_listeners():
        execution, _ = insert_unless_there(fields, encoded, params, ("dedupe_key",))
    else:
        with write_transaction(settings.DATABASE):
            execution, is_new = insert_unless_there(fields, encoded, params, ("dedupe_key",))
            if is_new:
                announce(execution)
    name = fields["handler_name"]
    if handlers.name_of(execution.handler_name) != handlers.name_of(name):
        raise key_taken(fields["dedupe_key"], execution.handler_name, name)
    return execution


def _insert(fields: dict[str, Any], encoded: str, params: Any) -> JobExecution:
    return insert_returning(connections[settings.DATABASE], fields, encoded, params)


def insert_unless_there(
    fields: dict[str, Any], encoded: str, params: Any, unique: Sequence[str]
) -> tuple[JobExecution, bool]:
    """Return the execution with the same `unique` fields, or a new one; and whether it is new."""
    same = {name: fields[name] for name in unique}
    try:
        return JobExecution.objects.get(**same), False
    except JobExecution.DoesNotExist:
        pass
    except Error as error:
        if missing := not_migrated(error):
            raise missing from error
        raise
    try:
        with transaction.atomic(using=settings.DATABASE):
            return _insert(fields, encoded, params), True
    except IntegrityError:
        # Another connection has just inserted it, unless the row itself is at fault.
        with suppress(JobExecution.DoesNotExist):
            return JobExecution.objects.get(**same), False
        raise


def announce(execution: JobExecution) -> None:
    signals.execution_enqueued.send(sender=None, execution=execution)


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
    delay: float | timedelta | None = None,
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
    if delay is not None:
        if available_at is not None:
            raise OptionError("Give available_at or delay, not both.")
        fields["delay"] = checked_delay(delay)
    return fields


def _own_key(key: Any) -> str:
    if isinstance(key, str) and key.startswith(RESERVED_PREFIX):
        raise OptionError(
            f"dedupe_key must not begin with {RESERVED_PREFIX!r}: such keys are jobu's own. "
            f"{key!r} does."
        )
    return checked_dedupe_key(key)
