"""Executions: list, enqueue, read, retry, cancel, delete."""

from __future__ import annotations

import logging
import time
from datetime import datetime
from typing import Annotated, Any, Literal

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive
from ninja import Path, Query, Router
from ninja import Status as Reply
from pydantic import Field

from jobu.api.answers import answers, written
from jobu.api.auth import reading, writing
from jobu.api.errors import ApiError, conflict, invalid, not_found
from jobu.api.pages import MAX_PER_PAGE, PageQuery, Parameters
from jobu.api.schemas import Job, JobDetail, JobExplained, LogLine, NewJob, Page, Retried, RetryMany
from jobu.api.values import Id, Moment, StatusFilter, Text
from jobu.handlers.options import MAX_COUNT
from jobu.handlers.registry import handlers
from jobu.jsonable import storable_time
from jobu.masking import restore
from jobu.models import JobExecution
from jobu.outcomes import DEAD
from jobu.queue.actions import RETRIABLE, cancel, discard_many, retry, retry_many
from jobu.queue.bulk import in_batches, newest_id
from jobu.queue.enqueue import enqueue_from_api
from jobu.reading.filters import status_filter
from jobu.reading.pages import find_executions, first_id_after, first_id_since

router = Router(tags=["jobs"])

SECONDS_PER_REQUEST = 5.0
Level = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]


class JobQuery(PageQuery):
    cron_id: Id | None = None
    status: StatusFilter | None = None
    handler_name: Annotated[Text, Field(max_length=200)] | None = None
    queue: Annotated[Text, Field(max_length=100)] | None = None
    created_from: Moment | None = Field(None, alias="from", description="Created then or later.")
    created_to: Moment | None = Field(None, alias="to", description="Created then or before.")


@router.get("", response=answers(200, Page[Job]), auth=reading("view_jobexecution"))
def list_jobs(request: HttpRequest, query: Query[JobQuery]) -> dict[str, Any]:
    """Newest first."""
    page = find_executions(
        _filters(query),
        cron_id=query.cron_id,
        start=query.created_from,
        end=query.created_to,
        before=query.cursor,
        size=query.limit,
    )
    return {"items": page.executions, "next": None if page.older is None else str(page.older)}


@router.post(
    "",
    response={200: JobDetail, **written(201, JobDetail, 409)},
    auth=writing("add_jobexecution"),
)
def enqueue_job(request: HttpRequest, job: NewJob, response: HttpResponse) -> Reply[Any]:
    """Enqueue one execution of a handler.

    If there is one with the `dedupe_key` already, that is the answer, with 200 instead of 201; or
    409 if it is another handler's.
    """
    given = job.model_dump(exclude_none=True)
    restore(job.params, None, handlers.sensitive_of(job.handler_name))
    key = given.get("dedupe_key")
    is_known = key is not None and JobExecution.objects.filter(dedupe_key=key).exists()
    name, params = given.pop("handler_name"), given.pop("params", None)
    execution = enqueue_from_api(name, params, **given)
    response["Location"] = f"{request.path}/{execution.pk}"
    return Reply(200 if is_known else 201, _find(execution.pk))


@router.post(
    "/retry",
    response=written(200, Retried),
    auth=writing("retry_jobexecution"),
)
def retry_jobs(request: HttpRequest, wanted: RetryMany) -> dict[str, Any]:
    """Retry all that match, for some seconds; send `next` as `cursor` to go on with the others.

    Without a status, those that are dead. At least one filter is needed.
    """
    if not wanted.model_dump(exclude_none=True, exclude={"cursor"}):
        raise invalid({"status": ['Give at least one filter, such as {"status": "DEAD"}.']})
    matching = JobExecution.objects.filter(**_filters(wanted))
    if wanted.cron_id is not None:
        matching = matching.filter(job_id=wanted.cron_id)
    if wanted.created_from is not None:
        first = first_id_since(wanted.created_from)
        matching = matching.filter(id__gte=first, created_at__gte=wanted.created_from)
    if wanted.created_to is not None:
        last = first_id_after(wanted.created_to)
        matching = matching.filter(id__lt=last, created_at__lte=wanted.created_to)
    statuses = DEAD if wanted.status is None else RETRIABLE
    after, until = wanted.cursor_ends()
    end = time.monotonic() + SECONDS_PER_REQUEST
    until = newest_id() if until is None else until
    retried = 0
    for batch in in_batches(matching, statuses, retry_many, after=after, until=until):
        retried += len(batch.changed)
        if time.monotonic() > end:
            return {"retried": retried, "next": f"{batch.after}-{until}"}
    return {"retried": retried, "next": None}


@router.get(
    "/{job_id}", response=answers(200, JobExplained, 404), auth=reading("view_jobexecution")
)
def read_job(request: HttpRequest, job_id: Path[Id]) -> JobExecution:
    return _find(job_id)


class LogQuery(Parameters):
    cursor: Annotated[Text, Field(max_length=100)] | None = Field(
        None, description="`next` of the page before."
    )
    limit: Annotated[int, Field(ge=1, le=MAX_PER_PAGE)] = 500
    attempt: Annotated[int, Field(ge=1, le=MAX_COUNT)] | None = None
    level: Level | None = Field(None, description="That level and those above it.")


@router.get(
    "/{job_id}/logs",
    response=answers(200, Page[LogLine], 404),
    auth=reading("view_jobexecution"),
)
def read_logs(request: HttpRequest, job_id: Path[Id], query: Query[LogQuery]) -> dict[str, Any]:
    """What was logged while it ran, the oldest first."""
    lines = _find(job_id).log_lines.order_by("attempt", "logged_at")
    if query.attempt is not None:
        lines = lines.filter(attempt=query.attempt)
    if query.level is not None:
        lines = lines.filter(level__gte=logging.getLevelNamesMapping()[query.level])
    if query.cursor is not None:
        attempt, at = _place(query.cursor)
        lines = lines.filter(Q(attempt__gt=attempt) | Q(attempt=attempt, logged_at__gt=at))
    found = list(lines[: query.limit + 1])
    items = found[: query.limit]
    is_last = len(found) <= query.limit
    last = None if is_last else f"{items[-1].attempt} {items[-1].logged_at.isoformat()}"
    return {"items": items, "next": last}


@router.post(
    "/{job_id}/retry",
    response=answers(200, JobDetail, 404, 409),
    auth=writing("retry_jobexecution"),
)
def retry_job(request: HttpRequest, job_id: Path[Id]) -> JobExecution:
    """Put a failed, timed-out or cancelled execution back into the queue, with all its attempts."""
    if not retry(job_id):
        raise _conflict(job_id, "FAILED, TIMEOUT and CANCELLED can be retried")
    return _find(job_id)


@router.post(
    "/{job_id}/cancel",
    response=answers(200, JobDetail, 404, 409),
    auth=writing("cancel_jobexecution"),
)
def cancel_job(request: HttpRequest, job_id: Path[Id]) -> JobExecution:
    """Cancel a pending execution; ask a running one to stop, which takes it a moment."""
    if not cancel(job_id):
        raise _conflict(job_id, "PENDING and RUNNING can be cancelled")
    return _find(job_id)


@router.delete(
    "/{job_id}", response=answers(204, None, 404, 409), auth=writing("delete_jobexecution")
)
def delete_job(request: HttpRequest, job_id: Path[Id]) -> Reply[None]:
    """Delete a finished execution from the history."""
    if not discard_many([job_id]):
        raise _conflict(job_id, "finished executions can be deleted")
    return Reply(204, None)


def _filters(query: JobQuery | RetryMany) -> dict[str, Any]:
    wanted = {"handler_name": query.handler_name, "queue": query.queue}
    given = {name: value for name, value in wanted.items() if value is not None}
    return given if query.status is None else {**given, **status_filter(query.status)}


def _place(cursor: str) -> tuple[int, datetime]:
    """Return the attempt and the time of the last line of a page."""
    attempt, _, time_of_line = cursor.partition(" ")
    try:
        # In a query string, a plus sign may have become a space.
        at = parse_datetime(time_of_line.replace(" ", "+"))
    except ValueError:
        at = None
    if at is None or is_naive(at) or not attempt.isdecimal() or int(attempt) > MAX_COUNT:
        raise invalid({"cursor": ["It is not the `next` of a page before."]})
    return int(attempt), storable_time(at)


def _find(job_id: int) -> JobExecution:
    found = JobExecution.objects.filter(pk=job_id).first()
    if found is None:
        raise not_found(f"There is no execution {job_id}.")
    return found


def _conflict(job_id: int, rule: str) -> ApiError:
    return conflict(f"The execution is {_find(job_id).status}; only {rule}.")
