"""Store queue messages: each becomes one execution or one dead letter, however often it comes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.db import Error

from jobu import signals
from jobu.conf import settings
from jobu.exceptions import JobuError
from jobu.handlers.registry import handlers
from jobu.jsonable import storable_text
from jobu.messages.dead_letters import Refusal, bury
from jobu.messages.format import check_size, read_event
from jobu.messages.rows import (
    bounded,
    crons_of,
    enqueue_alone,
    event_row,
    is_refused,
    message_key,
    source_key,
)
from jobu.models import DeadLetter, JobExecution
from jobu.printable import first_line
from jobu.queue.enqueue import key_taken
from jobu.queue.enqueue_rows import enqueue_events
from jobu.queue.insert import statement_bytes
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from django.db.models import QuerySet

    from jobu.adapters.base import QueueMessage
    from jobu.messages.format import Event

_CHUNK_VALUES = 250
_REASON_CHARACTERS = 2_000


@dataclass(slots=True)
class _Reading:
    """A message that was read: the row of its execution, or the reason why there is none."""

    message: QueueMessage
    source_id: str
    dedupe_key: str
    handler_name: str = ""
    has_own_key: bool = False
    row: dict[str, Any] = field(default_factory=dict, repr=False)
    reason: str = ""

    def refuse(self, error: Exception) -> None:
        is_told = isinstance(error, JobuError)
        self.reason = str(error) if is_told else f"{type(error).__name__}: {error}"


def store(messages: Sequence[QueueMessage], adapter: str) -> list[Refusal]:
    """Store the messages in one transaction; return those that became dead letters.

    If the database refuses them together, each is stored by itself, so that only the one at
    fault becomes a dead letter.
    """
    limit = statement_bytes()
    try:
        # Reading takes time, so it comes before the transaction: SQLite has one writer at a time.
        return _write(_read(messages, adapter), adapter, limit)
    except (Error, JobuError) as error:
        if not is_refused(error):
            raise
    return [refusal for message in messages for refusal in _store_alone(message, adapter, limit)]


def _store_alone(message: QueueMessage, adapter: str, limit: int | None) -> list[Refusal]:
    try:
        return _write(_read([message], adapter), adapter, limit)
    except (Error, JobuError) as error:
        if not is_refused(error):
            raise
        reason = (
            f"The database refuses: {first_line(error)}" if isinstance(error, Error) else str(error)
        )
    refusal = _refusal(message, reason)
    with write_transaction(settings.DATABASE):
        bury([refusal], adapter, limit)
    return [refusal]


def _read(messages: Sequence[QueueMessage], adapter: str) -> list[_Reading]:
    readings: list[_Reading] = []
    events: list[tuple[_Reading, Event]] = []
    for message in messages:
        source_id = bounded(message.id)
        reading = _Reading(message, source_id, source_key(adapter, source_id))
        readings.append(reading)
        try:
            check_size(message.size)
            event = read_event(message.body)
        except Exception as error:  # noqa: BLE001 - no message, however odd, may stop the others
            reading.refuse(error)
            continue
        events.append((reading, event))
        reading.handler_name = event.handler_name
        if event.dedupe_key is not None:
            reading.has_own_key = True
            reading.dedupe_key = message_key(event.dedupe_key)
    crons = crons_of([event for _, event in events])
    for reading, event in events:
        try:
            reading.row = event_row(event, crons, reading.dedupe_key)
        except Exception as error:  # noqa: BLE001
            reading.refuse(error)
    return readings


def _write(readings: Sequence[_Reading], adapter: str, limit: int | None) -> list[Refusal]:
    with write_transaction(settings.DATABASE):
        dead = _dead_already(readings, adapter)
        fresh = [reading for reading in readings if reading.source_id not in dead]
        rows = [reading.row for reading in fresh if reading.row]
        if signals.execution_enqueued.has_listeners():
            for row in rows:
                enqueue_alone(row, limit)
        else:
            enqueue_events(rows, limit)
        refusals = _refusals(fresh)
        bury(refusals, adapter, limit)
    return refusals


def _refusals(readings: Iterable[_Reading]) -> list[Refusal]:
    """Return the messages that have no execution after the rows were inserted."""
    doubtful = [each for each in readings if not each.row or each.has_own_key]
    keys = [reading.dedupe_key for reading in doubtful]
    owners = _look_up(JobExecution.objects.all(), "dedupe_key", keys, "handler_name")
    refusals = []
    for reading in doubtful:
        owner = owners.get(reading.dedupe_key)
        if owner is None:
            is_dead = not reading.row
        else:
            # A key that the message brings may be another's; a key made of its place cannot be.
            mine = handlers.name_of(reading.handler_name)
            is_dead = reading.has_own_key and handlers.name_of(owner) != mine
        if is_dead:
            reason = reading.reason or str(
                key_taken(reading.dedupe_key, str(owner), reading.handler_name)
            )
            refusals.append(_refusal(reading.message, reason))
    return refusals


def _dead_already(readings: Sequence[_Reading], adapter: str) -> Container[str]:
    """Return the source ids of the messages that are dead letters already; they stay so."""
    letters = DeadLetter.objects.filter(adapter=adapter)
    if not letters.exists():
        return ()
    return _look_up(letters, "source_id", [reading.source_id for reading in readings], "id")


def _look_up(
    rows: QuerySet[Any], column: str, values: Sequence[str], wanted: str
) -> dict[str, Any]:
    """Return value → `wanted` of the rows; in several statements, because each has a limit."""
    found: dict[str, Any] = {}
    for start in range(0, len(values), _CHUNK_VALUES):
        part = values[start : start + _CHUNK_VALUES]
        found.update(rows.filter(**{f"{column}__in": part}).values_list(column, wanted))
    return found


def _refusal(message: QueueMessage, reason: str) -> Refusal:
    return Refusal(message, storable_text(reason, _REASON_CHARACTERS))
