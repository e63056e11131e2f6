"""What an event makes: the row of its execution, as far as messages may ask for it."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from django.db import Error

from jobu import signals
from jobu.conf import settings
from jobu.dialects import dialect_for
from jobu.exceptions import DedupeKeyError, MessageError
from jobu.handlers.registry import handlers
from jobu.jsonable import encode, encode_object, storable_text
from jobu.models import CronJob, JobExecution
from jobu.models.job_execution import ParamSource
from jobu.queue.enqueue import RESERVED_PREFIX, get_or_insert
from jobu.queue.insert import json_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jobu.handlers.options import HandlerOptions
    from jobu.handlers.registry import HandlerSpec
    from jobu.queue.messages import Event

EVENT_FIELDS = {"param_source": ParamSource.EVENT}
"""What the executions of all events have in common."""

_MAX_KEY_LENGTH = 255


class Crons:
    """The cron jobs that a batch of events refers to."""

    def __init__(self, events: Sequence[Event]) -> None:
        ids = {event.job_id for event in events if event.job_id is not None}
        names = {event.handler_name for event in events if event.job_id is None}
        self._by_id = CronJob.objects.in_bulk(ids)
        self._by_handler = {name: self._only_one(name) for name in names if name in handlers}

    def of(self, event: Event) -> CronJob | None:
        if event.job_id is None:
            return self._by_handler.get(event.handler_name)
        job = self._by_id.get(event.job_id)
        if job is None:
            raise MessageError(f"No cron job has the id {event.job_id}.")
        if job.handler_name != event.handler_name:
            raise MessageError(
                f"The cron job {event.job_id} runs {job.handler_name!r}, not the message's "
                f"{event.handler_name!r}."
            )
        return job

    def _only_one(self, handler_name: str) -> CronJob | None:
        found = CronJob.objects.filter(handler_name=handler_name, is_enabled=True)
        # By id, not by the model's ordering: two rows are all that is read.
        jobs = list(found.order_by("id")[:2])
        return jobs[0] if len(jobs) == 1 else None


def event_row(event: Event, crons: Crons, dedupe_key: str) -> dict[str, Any]:
    """Return the event as a row for `insert_new`, or raise the reason why it cannot be one."""
    spec = handlers[event.handler_name]
    _check_handler(spec)
    job = crons.of(event)
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


def check_published(event: Event) -> None:
    """Refuse what a dispatcher with this project's code and settings would refuse."""
    spec = handlers.get(event.handler_name)
    # A handler that is not here is another project's. So may be the database that says what a
    # cron job has for a queue.
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
    """Return the stored form of a message's own dedupe_key, in a name space for messages alone."""
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


def insert_one(row: dict[str, Any], limit: int | None) -> JobExecution:
    """Return the execution that has the row's dedupe_key; insert and announce it if there is none.

    A receiver that raises takes the execution with it. `limit` is as for `insert_new`.
    """
    # Refuses a row that is too long, in whichever way it is inserted.
    json_row(row, limit)
    fields: dict[str, Any] = {
        **EVENT_FIELDS,
        **row,
        "params": json.loads(row["params"]),
        "extra": None if row["extra"] is None else json.loads(row["extra"]),
    }
    if row["available_at"] is None:
        del fields["available_at"]
    execution, created = get_or_insert(fields.pop("dedupe_key"), fields)
    if created:
        try:
            signals.execution_enqueued.send(sender=None, execution=execution)
        except Error:
            raise
        except Exception as error:
            raise MessageError(f"A receiver of execution_enqueued failed: {error!r}") from error
    return execution


def is_refused(error: Exception) -> bool:
    """Tell whether a message is at fault, rather than the state of the database."""
    if isinstance(error, Error):
        return dialect_for(settings.DATABASE).refuses(error)
    return isinstance(error, MessageError | DedupeKeyError)
