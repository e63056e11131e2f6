"""Store queue messages: each becomes one execution or one dead letter, however often it comes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import DataError, IntegrityError, connections

from jobu import signals
from jobu.conf import settings
from jobu.dialects import dialect_for
from jobu.exceptions import JobuError, MessageError
from jobu.jsonable import storable_text
from jobu.models import DeadLetter, JobExecution
from jobu.queue.event_rows import EVENT_FIELDS, Crons, event_row, insert_one
from jobu.queue.insert import insert_new
from jobu.queue.messages import read_event
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import QuerySet

    from jobu.adapters.base import QueueMessage
    from jobu.queue.messages import Event

MAX_KEY_LENGTH = 255
_CHUNK_BYTES = 1_000_000
_CHUNK_VALUES = 1_000
_REASON_CHARACTERS = 2_000

REFUSED = (DataError, IntegrityError, MessageError)
"""What storing a batch raises because of a message, rather than because of the database's state."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A message that cannot become an execution, why, and the key that its execution would have."""

    message: QueueMessage
    reason: str
    dedupe_key: str


def store(messages: Sequence[QueueMessage], adapter: str) -> list[Refusal]:
    """Store the messages in one transaction; return those that became dead letters.

    If the database refuses them together, each is stored by itself, so that only the one at
    fault becomes a dead letter.
    """
    try:
        with write_transaction(settings.DATABASE):
            return _store_together(messages, adapter)
    except REFUSED:
        return [refusal for message in messages for refusal in _store_alone(message, adapter)]


def source_key(adapter: str, source_id: str) -> str:
    """Return the dedupe_key of a message that has none of its own."""
    return _bounded(f"{adapter}:{source_id}")


def _store_together(messages: Sequence[QueueMessage], adapter: str) -> list[Refusal]:
    dead = _dead_already(messages, adapter)
    rows, refusals = _sort_out([m for m in messages if _source_id(m) not in dead], adapter)
    if signals.execution_enqueued.has_listeners():
        for row in rows:
            insert_one(row)
    elif rows:
        insert_new(EVENT_FIELDS, rows)
    if refusals:
        keys = [refusal.dedupe_key for refusal in refusals]
        known = _existing(JobExecution.objects.all(), "dedupe_key", keys)
        refusals = [refusal for refusal in refusals if refusal.dedupe_key not in known]
        _bury(refusals, adapter)
    return refusals


def _store_alone(message: QueueMessage, adapter: str) -> list[Refusal]:
    try:
        with write_transaction(settings.DATABASE):
            return _store_together([message], adapter)
    except REFUSED as error:
        reason = str(error) if isinstance(error, MessageError) else f"The database refuses: {error}"
        refusal = _refusal(message, reason, source_key(adapter, message.id))
        with write_transaction(settings.DATABASE):
            _bury([refusal], adapter)
        return [refusal]


def _sort_out(
    messages: Sequence[QueueMessage], adapter: str
) -> tuple[list[dict[str, Any]], list[Refusal]]:
    """Return the rows of the executions to insert, and the messages that cannot be one."""
    events: list[tuple[QueueMessage, Event, str]] = []
    refusals: list[Refusal] = []
    limit = settings.QUEUE_MAX_MESSAGE_BYTES
    for message in messages:
        key = source_key(adapter, message.id)
        try:
            event = read_event(message.body, limit)
        except Exception as error:  # noqa: BLE001 - no message, however odd, may stop the others
            refusals.append(_refusal(message, _reason(error), key))
        else:
            events.append((message, event, event.dedupe_key or key))
    crons = Crons([event for _, event, _ in events])
    rows: list[dict[str, Any]] = []
    for message, event, key in events:
        try:
            rows.append(event_row(event, crons, key))
        except Exception as error:  # noqa: BLE001
            refusals.append(_refusal(message, _reason(error), key))
    return rows, refusals


def _dead_already(messages: Sequence[QueueMessage], adapter: str) -> set[str]:
    """Return the source ids of the messages that are dead letters: those stay what they are."""
    letters = DeadLetter.objects.filter(adapter=adapter)
    if not letters.exists():
        return set()
    return _existing(letters, "source_id", [_source_id(message) for message in messages])


def _existing(rows: QuerySet[Any], column: str, values: Sequence[str]) -> set[str]:
    """Return which of the values the column has; asked in parts, as statements have limits."""
    found: set[str] = set()
    for start in range(0, len(values), _CHUNK_VALUES):
        wanted = values[start : start + _CHUNK_VALUES]
        found.update(rows.filter(**{f"{column}__in": wanted}).values_list(column, flat=True))
    return found


def _bury(refusals: Sequence[Refusal], adapter: str) -> None:
    """Insert the dead letters, in statements that no server refuses for their length."""
    chunk: list[DeadLetter] = []
    size = 0
    for refusal in refusals:
        letter = _dead_letter(refusal, adapter)
        if chunk and size + len(letter.body) > _CHUNK_BYTES:
            DeadLetter.objects.bulk_create(chunk, ignore_conflicts=True)
            chunk, size = [], 0
        chunk.append(letter)
        size += len(letter.body)
    DeadLetter.objects.bulk_create(chunk, ignore_conflicts=True)


def _dead_letter(refusal: Refusal, adapter: str) -> DeadLetter:
    message, reason = refusal.message, refusal.reason
    body = message.body
    if len(body) > _CHUNK_BYTES:
        most = dialect_for(settings.DATABASE).most_bytes(connections[settings.DATABASE])
        if most is not None and len(body) > most:
            # The database cannot hold it; to wait until it can would hold up all that follow.
            body = body[:most]
            reason += f" Only its first {most:,} bytes are kept: the database takes no more."
    return DeadLetter(
        adapter=adapter,
        source_id=_source_id(message),
        body=body,
        key=message.key,
        headers=[[_text(name), _text(value)] for name, value in message.headers],
        reason=reason,
    )


def _refusal(message: QueueMessage, reason: str, key: str) -> Refusal:
    return Refusal(message, storable_text(reason, _REASON_CHARACTERS), key)


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, JobuError) else f"{type(error).__name__}: {error}"


def _source_id(message: QueueMessage) -> str:
    return _bounded(message.id)


def _bounded(text: str) -> str:
    """Make of any text one that its column can hold; what is too long is told apart by a hash."""
    text = _text(text)
    if len(text) <= MAX_KEY_LENGTH:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"{text[: MAX_KEY_LENGTH - len(digest) - 1]}:{digest}"


def _text(value: str | bytes) -> str:
    text = value if isinstance(value, str) else value.decode(errors="backslashreplace")
    return storable_text(text, len(text) * 4 + 4)
