"""Make the row of an execution of an event, if messages may ask for it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from django.db import Error

from jobu.conf import settings
from jobu.dialects import dialect_for
from jobu.exceptions import DedupeKeyError, MessageError
from jobu.handlers.registry import handlers
from jobu.jsonable import encode, encode_object, storable_text
from jobu.models import CronJob
from jobu.queue.enqueue import RESERVED_PREFIX
from jobu.queue.enqueue_rows import enqueue_event

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jobu.handlers.options import HandlerOptions
    from jobu.handlers.registry import HandlerSpec
    from jobu.messages.format import Event
    from jobu.models import JobExecution
    from jobu.queue.enqueue_rows import Row

_MAX_KEY_LENGTH = 255


Crons = dict[int, CronJob]
"""The cron jobs that a batch of events names, by their ids."""


def crons_of(events: Sequence[Event]) -> Crons:
    return CronJob.objects.in_bulk({e.job_id for e in events if e.job_id is not None})


def event_row(event: Event, crons: Crons, dedupe_key: str) -> dict[str, Any]:
    """Return the row of the event's execution, or raise the reason why there cannot be one."""
    spec = handlers[event.handler_name]
    _check_handler(spec)
    job = None if event.job_id is None else _cron_of(event, crons)
    params = event.params
    if job is not None:
        if not isinstance(job.handler_params, dict):
            raise MessageError(f"The params of the cron job {job.name!r} are not a JSON object.")
        params = {**job.handler_params, **params}
    source = spec.options if job is None else job
    _check_lane(event, spec.options, source)
    return {
        "job_id": None if job is None else job.pk,
        "handler_name": event.handler_name,
        "params": encode_object(params, "The params"),
        "queue": source.queue if event.queue is None else event.queue,
        "priority": source.priority if event.priority is None else event.priority,
        "available_at": event.available_at,
        "max_retry": source.max_retry,
        "timeout_seconds": source.timeout_seconds,
        "dedupe_key": dedupe_key,
        "extra": encode(event.extra, "What it says besides") if event.extra else None,
    }


def _cron_of(event: Event, crons: Crons) -> CronJob:
    job = crons.get(event.job_id or 0)
    if job is None:
        raise MessageError(f"No cron job has the id {event.job_id}.")
    if handlers.name_of(job.handler_name) != handlers.name_of(event.handler_name):
        raise MessageError(
            f"The cron job {event.job_id} runs {job.handler_name!r}, not the message's "
            f"{event.handler_name!r}."
        )
    return job


def check_published(event: Event) -> None:
    """Refuse an event that a dispatcher with this project's code and settings would refuse."""
    spec = handlers.get(event.handler_name)
    # An unknown handler is another project's. A cron job may be in another project's database.
    if spec is not None:
        _check_handler(spec)
        if event.job_id is None:
            _check_lane(event, spec.options)


def _check_handler(spec: HandlerSpec) -> None:
    if not spec.takes_events:
        raise MessageError(
            f"Messages may not start the handler {spec.name!r}. If they should, declare it with "
            f'@handler({spec.name!r}, events=True), or set JOBU_EVENT_HANDLERS = "all".'
        )


def _check_lane(event: Event, *sources: HandlerOptions | CronJob) -> None:
    """Refuse a queue or priority that is neither one of the sources' own nor in the settings."""
    asked = (
        ("queue", event.queue, "EVENT_QUEUES"),
        ("priority", event.priority, "EVENT_PRIORITIES"),
    )
    for option, value, setting in asked:
        if value is None or value in [getattr(source, option) for source in sources]:
            continue
        if value not in getattr(settings, setting):
            raise MessageError(
                f"Messages for {event.handler_name!r} may not ask for the {option} {value!r}. If "
                f"they should, list it in JOBU_{setting}."
            )


def message_key(dedupe_key: str) -> str:
    """Return the stored form of a message's own dedupe_key; only messages have such keys."""
    return bounded(f"{RESERVED_PREFIX}key:{dedupe_key}")


def source_key(adapter: str, source_id: str) -> str:
    """Return the dedupe_key of a message that has none of its own, by its bounded id."""
    return bounded(f"{RESERVED_PREFIX}message:{adapter}:{source_id}")


def bounded(text: str) -> str:
    """Make of any text one that its column can hold; what this changes is told apart by a hash."""
    clean = storable_text(text, _MAX_KEY_LENGTH * 10)
    if clean == text and len(text) <= _MAX_KEY_LENGTH:
        return text
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
    return f"{clean[: _MAX_KEY_LENGTH - len(digest) - 1]}:{digest}"


def enqueue_alone(row: Row, limit: int | None) -> JobExecution:
    """Enqueue one message's row; raise MessageError if a receiver of the signal fails."""
    try:
        return enqueue_event(row, limit)
    except (Error, MessageError, DedupeKeyError):
        raise
    except Exception as error:
        raise MessageError(f"A receiver of execution_enqueued failed: {error!r}") from error


def is_refused(error: Exception) -> bool:
    """Tell whether the message causes the error, not the state of the database."""
    if isinstance(error, Error):
        return dialect_for(settings.DATABASE).refuses(error)
    return isinstance(error, MessageError | DedupeKeyError)
