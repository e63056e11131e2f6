"""Enqueue the executions that cron jobs and messages make, as rows; see `jobu.queue.enqueue`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.db import Error, transaction

from jobu import logs, signals
from jobu.conf import settings
from jobu.dialects import dialect_for
from jobu.handlers.registry import handlers
from jobu.models.job_execution import ParamSource
from jobu.queue.enqueue import announce, check_params, insert_unless_there, put, put_keyed
from jobu.queue.insert import EVENT_COLUMNS, TICK_COLUMNS, insert_new, json_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jobu.models import JobExecution

Row = dict[str, Any]
"""Column → value of an execution; params and extra are JSON text, None is the default."""

_TICK = {"param_source": ParamSource.CRON.value}
_EVENT = {"param_source": ParamSource.EVENT.value}


def enqueue_row(row: Row) -> JobExecution:
    """Enqueue an execution of a cron job outside of its schedule."""
    fields, encoded, params = _unpacked(row)
    name = fields["handler_name"]
    check_params(handlers.get(name), encoded, params, f"The params for {name!r}")
    return put(fields, encoded, params)


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
        unpacked = _unpacked({**_TICK, **row})
        execution, is_new = insert_unless_there(*unpacked, ("job_id", "scheduled_time"))
        if is_new:
            _announce_tick(execution)


def enqueue_event(row: Row, limit: int | None) -> JobExecution:
    """Enqueue the execution of a message, or return the one that has its dedupe_key.

    Raises DedupeKeyError if that one is another handler's. `limit` comes from `statement_bytes`.
    """
    # The limit holds for one row, too, although this INSERT could be longer.
    json_row(row, limit)
    return put_keyed(*_unpacked({**_EVENT, **row}))


def enqueue_events(rows: Sequence[Row], limit: int | None) -> None:
    """Do the same for many messages; a dedupe_key that is there already is left alone."""
    if rows:
        insert_new(_EVENT, rows, EVENT_COLUMNS, limit)


def _announce_tick(execution: JobExecution) -> None:
    try:
        # In a savepoint, so that a receiver's failed statement does not spoil the other ticks.
        with transaction.atomic(using=settings.DATABASE):
            announce(execution)
    except Exception as error:
        if isinstance(error, Error) and not dialect_for(settings.DATABASE).refuses(error):
            raise
        logs.receiver_failed({"execution": execution}, error)


def _unpacked(row: Row) -> tuple[dict[str, Any], str, Any]:
    """Return the fields that a row gives, its params as JSON, and its params."""
    fields = {name: value for name, value in row.items() if value is not None and name != "params"}
    if "extra" in fields:
        fields["extra"] = json.loads(fields["extra"])
    return fields, row["params"], json.loads(row["params"])
