"""Executions: list, enqueue, read, retry, cancel, delete."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Path, Query, Router
from ninja import Status as Reply
from pydantic import Field

from jobu.api.answers import answers, written
from jobu.api.auth import reading, writing
from jobu.api.errors import ApiError, conflict, not_found
from jobu.api.pages import PageQuery
from jobu.api.schemas import Job, JobDetail, NewJob, Page
from jobu.api.values import Id, Moment, Text
from jobu.handlers.registry import handlers
from jobu.masking import restore
from jobu.models import JobExecution, Status
from jobu.queue.actions import cancel, discard_many, retry
from jobu.queue.enqueue import enqueue_from_api
from jobu.reading.pages import find_executions

router = Router(tags=["jobs"])


class JobQuery(PageQuery):
    cron_id: Id | None = None
    status: Status | None = None
    handler_name: Annotated[Text, Field(max_length=200)] | None = None
    queue: Annotated[Text, Field(max_length=100)] | None = None
    created_from: Moment | None = Field(None, alias="from", description="Created then or later.")
    created_to: Moment | None = Field(None, alias="to", description="Created then or before.")


@router.get("", response=answers(200, Page[Job]), auth=reading("view_jobexecution"))
def list_jobs(request: HttpRequest, query: Query[JobQuery]) -> dict[str, Any]:
    """Newest first."""
    wanted = {"status": query.status, "handler_name": query.handler_name, "queue": query.queue}
    page = find_executions(
        {name: value for name, value in wanted.items() if value is not None},
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


@router.get("/{job_id}", response=answers(200, JobDetail, 404), auth=reading("view_jobexecution"))
def read_job(request: HttpRequest, job_id: Path[Id]) -> JobExecution:
    return _find(job_id)


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


def _find(job_id: int) -> JobExecution:
    found = JobExecution.objects.filter(pk=job_id).first()
    if found is None:
        raise not_found(f"There is no execution {job_id}.")
    return found


def _conflict(job_id: int, rule: str) -> ApiError:
    return conflict(f"The execution is {_find(job_id).status}; only {rule}.")
