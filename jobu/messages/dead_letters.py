"""Keep messages that could not become executions; requeue or discard them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import Error

from jobu.conf import settings
from jobu.dialects import DatabaseNow
from jobu.exceptions import DeadLetterError, JobuError, MessageError
from jobu.jsonable import storable_text
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
from jobu.models import DeadLetter
from jobu.printable import first_line
from jobu.queue.insert import statement_bytes
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jobu.adapters.base import QueueMessage
    from jobu.models import JobExecution

_CHUNK_BYTES = 1_000_000
_KEPT_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Refusal:
    """A message that cannot become an execution, and why."""

    message: QueueMessage
    reason: str


def bury(refusals: Sequence[Refusal], adapter: str, limit: int | None) -> None:
    """Insert the dead letters, in statements of no more bytes than `statement_bytes` returns."""
    maximum = min(limit or _CHUNK_BYTES, _CHUNK_BYTES)
    chunk: list[DeadLetter] = []
    total = 0
    for refusal in refusals:
        letter = _dead_letter(refusal, adapter, limit)
        size = _size(letter)
        if chunk and total + size > maximum:
            DeadLetter.objects.bulk_create(chunk, ignore_conflicts=True)
            chunk, total = [], 0
        chunk.append(letter)
        total += size
    DeadLetter.objects.bulk_create(chunk, ignore_conflicts=True)


def requeue(dead_letter: DeadLetter | int, body: bytes | str | None = None) -> JobExecution:
    """Make an execution of the dead letter, after its handler, cron job or text was corrected.

    `body`, if given, is read instead of the stored one, which does not change. Raises MessageError
    with the reason if there still cannot be an execution, DeadLetterError if there is one already.
    """
    with write_transaction(settings.DATABASE):
        letter = _locked(dead_letter)
        if letter.requeued_at is not None:
            raise DeadLetterError(
                f"Dead letter {letter.pk} was requeued before; to run its execution once more, use "
                "jobu.retry()."
            )
        execution = _execution(letter, body)
        DeadLetter.objects.filter(pk=letter.pk).update(
            requeued_at=DatabaseNow(), discarded_at=None, execution=execution
        )
    _refresh(dead_letter)
    return execution


def discard(dead_letter: DeadLetter | int) -> None:
    """Put the dead letter aside; prune deletes it later, until then it can still be requeued."""
    with write_transaction(settings.DATABASE):
        letter = _locked(dead_letter)
        if letter.requeued_at is not None:
            raise DeadLetterError(
                f"Dead letter {letter.pk} was requeued; there is nothing to discard."
            )
        DeadLetter.objects.filter(pk=letter.pk, discarded_at=None).update(
            discarded_at=DatabaseNow()
        )
    _refresh(dead_letter)


def _locked(dead_letter: DeadLetter | int) -> DeadLetter:
    pk = dead_letter.pk if isinstance(dead_letter, DeadLetter) else dead_letter
    letter = DeadLetter.objects.select_for_update().filter(pk=pk).first()
    if letter is None:
        raise DeadLetterError(f"There is no dead letter {pk} any more.")
    return letter


def _execution(letter: DeadLetter, body: bytes | str | None) -> JobExecution:
    raw = letter.body if body is None else body
    raw = raw.encode(errors="surrogatepass") if isinstance(raw, str) else raw
    # Key and headers do not count: an execution has neither.
    check_size(len(raw))
    event = read_event(raw)
    key = (
        source_key(letter.adapter, letter.source_id)
        if event.dedupe_key is None
        else message_key(event.dedupe_key)
    )
    try:
        return enqueue_alone(event_row(event, crons_of([event]), key), statement_bytes())
    except MessageError:
        raise
    except JobuError as error:
        raise MessageError(str(error)) from error
    except Error as error:
        if not is_refused(error):
            raise
        raise MessageError(f"The database refuses: {first_line(error)}") from error


def _refresh(dead_letter: DeadLetter | int) -> None:
    if isinstance(dead_letter, DeadLetter):
        dead_letter.refresh_from_db(fields=["requeued_at", "discarded_at", "execution"])


def _dead_letter(refusal: Refusal, adapter: str, limit: int | None) -> DeadLetter:
    """Make a dead letter of as much of the message as fits: body, then key, then headers."""
    message, reason = refusal.message, refusal.reason
    room = kept = min(limit or _KEPT_BYTES, _KEPT_BYTES)
    body = message.body[:room]
    room -= len(body)
    key = None if message.key is None else message.key[:room]
    room -= len(key or b"")
    headers: list[list[str]] = []
    for name, value in message.headers:
        pair = [_text(name[: room + 1]), _text(value[: room + 1])]
        room -= len(json.dumps(pair))
        if room < 0:
            break
        headers.append(pair)
    if (body, key, len(headers)) != (message.body, message.key, len(message.headers)):
        # To wait for more room would hold up all later messages.
        reason += f" It is cut: of a message, at most {kept:,} bytes are kept."
    return DeadLetter(
        adapter=adapter,
        source_id=bounded(message.id),
        body=body,
        key=key,
        headers=headers,
        reason=reason,
    )


def _size(letter: DeadLetter) -> int:
    """Return the approximate number of bytes that the dead letter takes in a statement."""
    texts = (letter.adapter, letter.source_id, letter.reason, json.dumps(letter.headers))
    return len(letter.body) + len(letter.key or b"") + sum(len(text.encode()) for text in texts)


def _text(value: str | bytes) -> str:
    text = value if isinstance(value, str) else value.decode(errors="backslashreplace")
    return storable_text(text, len(text) * 6)
