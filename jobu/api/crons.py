"""Cron jobs: list, create, read, update, delete, toggle, run."""

from __future__ import annotations

import json
from typing import Annotated, Any

from django.db import IntegrityError
from django.db.models import QuerySet
from django.db.models.functions import Lower
from django.http import HttpRequest, HttpResponse
from ninja import Path, Query, Router
from ninja import Status as Reply
from pydantic import Field

from jobu.api.answers import answers, written
from jobu.api.auth import reading, writing
from jobu.api.errors import conflict, invalid, not_found
from jobu.api.pages import PageQuery, page
from jobu.api.schemas import Cron, CronChange, CronDetail, JobDetail, NewCron, Page, Run, Toggle
from jobu.api.values import Id, Text
from jobu.conf import settings
from jobu.handlers.registry import handlers
from jobu.jsonable import encode_object
from jobu.masking import mask, restore
from jobu.models import CronJob, JobExecution
from jobu.transactions import write_transaction

router = Router(tags=["crons"])

# A list does not show these, so it does not read them.
_LONG = ("description", "handler_params")


class CronQuery(PageQuery):
    handler_name: Annotated[Text, Field(max_length=200)] | None = None
    queue: Annotated[Text, Field(max_length=100)] | None = None
    enabled: bool | None = None
    search: Annotated[Text, Field(max_length=200)] | None = Field(
        None, description="A part of the name."
    )


@router.get("", response=answers(200, Page[Cron]), auth=reading("view_cronjob"))
def list_crons(request: HttpRequest, query: Query[CronQuery]) -> dict[str, Any]:
    """Oldest first."""
    wanted = {
        "handler_name": query.handler_name,
        "queue": query.queue,
        "is_enabled": query.enabled,
        "folded_name__contains": query.search.lower() if query.search else None,
    }
    given = {name: value for name, value in wanted.items() if value is not None}
    # Not `icontains`: the collation of the names tells A from a.
    crons = CronJob.objects.annotate(folded_name=Lower("name")).defer(*_LONG)
    return page(crons.filter(**given), query)


@router.post("", response=written(201, CronDetail, 409), auth=writing("add_cronjob"))
def create_cron(request: HttpRequest, cron: NewCron, response: HttpResponse) -> Reply[Any]:
    job = CronJob(**_checked(cron.model_dump(exclude_unset=True), CronJob()))
    _save(job)
    response["Location"] = f"{request.path}/{job.pk}"
    return Reply(201, job)


@router.get("/{cron_id}", response=answers(200, CronDetail, 404), auth=reading("view_cronjob"))
def read_cron(request: HttpRequest, cron_id: Path[Id]) -> CronJob:
    return _find(cron_id)


@router.patch(
    "/{cron_id}", response=written(200, CronDetail, 404, 409), auth=writing("change_cronjob")
)
def update_cron(request: HttpRequest, cron_id: Path[Id], change: CronChange) -> CronJob:
    """Change some fields. Masked params that come back unchanged keep their values."""
    job = _find(cron_id)
    changes = _checked(change.model_dump(exclude_unset=True), job)
    for name, value in changes.items():
        setattr(job, name, value)
    _save(job, [*changes, "updated_at"])
    return job


@router.delete("/{cron_id}", response=answers(204, None, 404), auth=writing("delete_cronjob"))
def delete_cron(request: HttpRequest, cron_id: Path[Id]) -> Reply[None]:
    """Delete a cron job; its executions stay in the history."""
    with write_transaction(settings.DATABASE):
        # Locked first, so that no dispatcher adds an execution during the deletion.
        _find(cron_id, CronJob.objects.select_for_update()).delete()
    return Reply(204, None)


@router.post(
    "/{cron_id}/toggle", response=written(200, CronDetail, 404, 409), auth=writing("change_cronjob")
)
def toggle_cron(request: HttpRequest, cron_id: Path[Id], toggle: Toggle | None = None) -> CronJob:
    """Enable or disable it; without a body, the opposite of what it is."""
    with write_transaction(settings.DATABASE):
        job = _find(cron_id, CronJob.objects.select_for_update())
        wanted = not job.is_enabled if toggle is None else toggle.is_enabled
        if job.is_enabled == wanted:
            raise conflict(f"It is {'enabled' if wanted else 'disabled'} already.")
        job.is_enabled = wanted
        job.save(update_fields=["is_enabled", "updated_at"])
    return job


@router.post(
    "/{cron_id}/run",
    response=written(201, JobDetail, 404, 409),
    auth=writing("run_cronjob", "view_jobexecution"),
)
def run_cron(request: HttpRequest, cron_id: Path[Id], run: Run | None = None) -> Reply[Any]:
    """Enqueue one execution now, outside the schedule."""
    job = _find(cron_id)
    names = handlers.sensitive_of(job.handler_name)
    try:
        execution = job.run_now(restore(run.params, job.handler_params, names) if run else None)
    except IntegrityError:
        raise conflict("The cron job was deleted meanwhile.") from None
    return Reply(201, JobExecution.objects.get(pk=execution.pk))


def _find(cron_id: int, rows: QuerySet[CronJob] | None = None) -> CronJob:
    found = (CronJob.objects.all() if rows is None else rows).filter(pk=cron_id).first()
    if found is None:
        raise not_found(f"There is no cron job {cron_id}.")
    return found


def _checked(fields: dict[str, Any], job: CronJob) -> dict[str, Any]:
    """Refuse what the model's validation does not check: bad JSON, an unknown handler.

    Masked params keep the values of the cron job, unless its new handler would show them.
    """
    before = names = handlers.sensitive_of(job.handler_name)
    if "handler_name" in fields:
        names = handlers[fields["handler_name"]].options.sensitive
    if "handler_params" in fields:
        params = json.loads(encode_object(fields["handler_params"], "handler_params"))
        fields["handler_params"] = restore(params, job.handler_params, names)
    elif names != before:
        restore(mask(job.handler_params, before), job.handler_params, names)
    return fields


def _save(job: CronJob, update_fields: list[str] | None = None) -> None:
    """Save with the same checks and messages as the admin."""
    job.full_clean()
    # The meaning of H depends on the name, so the field cannot check it alone.
    if problems := job.find_problems():
        raise invalid({"cron_expression": problems})
    try:
        with write_transaction(settings.DATABASE):
            job.save(update_fields=update_fields)
    except IntegrityError:
        # Somebody else was quicker; now the validation finds it, too.
        job.full_clean()
        raise conflict("It was changed by somebody else meanwhile; try again.") from None
