"""Each kind of user on each page: a row shows only to those who may view its model."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import Permission
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from jobu.models import ApiToken, CronJob, DeadLetter, JobExecution, Process, Status
from tests.admin.pages import list_of, page_of, staff
from tests.builders import (
    cron,
    database_now,
    dead_letter,
    finished,
    log_line,
    pending,
    process,
    running,
)

# What a page shows to whom is the same on every database, and these are thousands of pages.
pytestmark = [pytest.mark.django_db, pytest.mark.pure, pytest.mark.timeout(600)]

MODELS = (CronJob, JobExecution, DeadLetter, Process, ApiToken)
# Each stands in all that a row holds, except for the names by which other rows refer to it.
MARKS = {model: f"of-{model._meta.model_name}" for model in MODELS}

AN_EXECUTION = re.compile(r"/admin/jobu/jobexecution/\d")


@pytest.fixture
def pages() -> list[str]:
    job_mark, mark = MARKS[CronJob], MARKS[JobExecution]
    job = cron(handler_params={"x": job_mark}, description=job_mark)
    worker = process(slots=1, host=MARKS[Process], queues=[MARKS[Process]])
    fields = {"job": job, "params": {"x": mark}, "error_message": mark, "dedupe_key": mark}
    error = {"attempt": 1, "message": mark, "traceback": mark}
    failed = finished(
        Status.FAILED, **fields, result=mark, errors=[error], claimed_by=worker.pk, attempt=1
    )
    runs = running(worker.pk, job=job, handler_name=mark, progress={"done": 1, "note": mark})
    pending(job=job, handler_name=mark)
    log_line(failed, message=mark)
    letter_mark = MARKS[DeadLetter]
    letter = dead_letter(
        source_id=letter_mark,
        body=letter_mark.encode(),
        key=letter_mark.encode(),
        headers=[[letter_mark, letter_mark]],
        reason=letter_mark,
        requeued_at=database_now(),
        execution=runs,
    )
    token = ApiToken.objects.create(name=MARKS[ApiToken], created_by=MARKS[ApiToken])
    rows: list[Model] = [job, failed, runs, letter, worker, token]
    autocomplete = reverse("admin:autocomplete")
    return [
        reverse("admin:index"),
        *(list_of(model) for model in MODELS),
        list_of(DeadLetter, state="all"),
        list_of(JobExecution, q=mark),
        list_of(CronJob, failing="yes"),
        *(page_of(row, page) for row in rows for page in ("change", "history", "delete")),
        *(page_of(job, page) for page in ("run", "backfill", "switch")),
        page_of(failed, "retry"),
        page_of(letter, "discard"),
        *(reverse(f"admin:jobu_cronjob_{name}") for name in ("preview", "handler")),
        reverse("admin:jobu_cronjob_add", query={"copy": job.pk}),
        reverse("admin:jobu_apitoken_add"),
        reverse("admin:jobu_jobexecution_live", query={"id": runs.pk}),
        reverse("admin:jobu_publish"),
        reverse("admin:jobu_failures"),
        reverse("admin:jobu_jobexecution_add"),
        reverse("admin:jobu_jobexecution_add", query={"copy": failed.pk}),
        reverse("admin:jobu_jobexecution_lines", args=[failed.pk]),
        f"{autocomplete}?app_label=jobu&model_name=jobexecution&field_name=job",
        f"{autocomplete}?app_label=jobu&model_name=deadletter&field_name=execution",
    ]


def kinds() -> Iterator[tuple[str, ...]]:
    """Yield nobody, each permission alone, and the views of all models but one."""
    yield ()
    ours = Permission.objects.filter(content_type__app_label="jobu")
    codenames = sorted(ours.values_list("codename", flat=True))
    yield from ((codename,) for codename in codenames)
    for hidden in MODELS:
        own = hidden._meta.model_name or ""
        yield tuple(name for name in codenames if own not in name or name.startswith("delete_"))


def test_a_row_shows_only_to_who_may_view_its_model(pages: list[str]) -> None:
    for codenames in kinds():
        client = staff(*codenames)
        hidden = {
            mark: model
            for model, mark in MARKS.items()
            if not {f"{verb}_{model._meta.model_name}" for verb in ("view", "change")}
            & set(codenames)
        }
        for address in pages:
            page = client.get(address)
            assert page.status_code in (200, 302, 400, 403, 404, 405), (codenames, address)
            if page.status_code != 200:
                continue
            shown = page.text.replace(address, "")
            seen = [mark for mark in hidden if mark in shown]
            assert not seen, (codenames, address)
            if MARKS[JobExecution] in hidden:
                assert not AN_EXECUTION.search(shown), (codenames, address)


def test_every_row_shows_to_who_may_view_everything(pages: list[str], admin_client: Client) -> None:
    shown = [admin_client.get(address).text for address in pages]
    for mark in MARKS.values():
        assert sum(mark in text for text in shown) > 1, mark
    assert sum(bool(AN_EXECUTION.search(text)) for text in shown) > 1
