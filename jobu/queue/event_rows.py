"""What an event makes: the row of its execution."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.db import Error

from jobu import signals
from jobu.exceptions import MessageError
from jobu.handlers.registry import handlers
from jobu.jsonable import encode, encode_object
from jobu.models import CronJob, JobExecution
from jobu.models.job_execution import ParamSource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jobu.queue.messages import Event

EVENT_FIELDS = {"param_source": ParamSource.EVENT}
"""What the executions of all events have in common."""


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
    options = handlers[event.handler_name].options
    job = crons.of(event)
    params = event.params
    if job is not None:
        if not isinstance(job.handler_params, dict):
            raise MessageError(f"The params of the cron job {job.name!r} are not a JSON object.")
        params = {**job.handler_params, **params}
    source = options if job is None else job
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


def insert_one(row: dict[str, Any]) -> JobExecution:
    """Return the execution that has the row's dedupe_key; insert and announce it if there is none.

    A receiver that raises takes the execution with it.
    """
    fields: dict[str, Any] = {
        **EVENT_FIELDS,
        **row,
        "params": json.loads(row["params"]),
        "extra": None if row["extra"] is None else json.loads(row["extra"]),
    }
    if row["available_at"] is None:
        del fields["available_at"]
    execution, created = JobExecution.objects.get_or_create(
        dedupe_key=fields.pop("dedupe_key"), defaults=fields
    )
    if created:
        try:
            signals.execution_enqueued.send(sender=None, execution=execution)
        except Error:
            raise
        except Exception as error:
            raise MessageError(f"A receiver of execution_enqueued failed: {error!r}") from error
    return execution
