"""Requeue or discard what could not become an execution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobu.conf import settings
from jobu.dialects import DatabaseNow
from jobu.exceptions import DeadLetterError, JobuError, MessageError
from jobu.models import DeadLetter
from jobu.queue.event_rows import Crons, event_row, insert_one
from jobu.queue.events import REFUSED, source_key
from jobu.queue.messages import read_event
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from jobu.models import JobExecution


def requeue(dead_letter: DeadLetter | int, body: bytes | str | None = None) -> JobExecution:
    """Make an execution of the dead letter, now that handler, cron job or text are right.

    `body` is read instead of the one that came, which is kept as it is. Raises MessageError with
    the reason if it still cannot be an execution, DeadLetterError if it became one before.
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
    event = read_event(raw.encode(errors="surrogatepass") if isinstance(raw, str) else raw)
    key = event.dedupe_key or source_key(letter.adapter, letter.source_id)
    try:
        return insert_one(event_row(event, Crons([event]), key))
    except MessageError:
        raise
    except REFUSED as error:
        raise MessageError(f"The database refuses: {error}") from error
    except JobuError as error:
        raise MessageError(str(error)) from error


def _refresh(dead_letter: DeadLetter | int) -> None:
    if isinstance(dead_letter, DeadLetter):
        dead_letter.refresh_from_db(fields=["requeued_at", "discarded_at", "execution"])
