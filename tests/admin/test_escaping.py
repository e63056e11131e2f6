"""Whatever a handler, a message, a cron job or a log carries is text on every page."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from jobu.models import CronJob, DeadLetter, JobExecution, Process, Status
from tests.admin.pages import act, list_of, page_of
from tests.builders import (
    cron,
    dead_letter,
    finished,
    log_line,
    pending,
    process,
    running,
)

pytestmark = pytest.mark.django_db

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7|add:7 }}</textarea></pre>"


@pytest.fixture
def pages() -> list[str]:
    """Put it into every string there is, and return where they all are shown."""
    job = cron(
        EVIL,
        EVIL,
        description=EVIL,
        timezone=EVIL[:64],
        handler_name=EVIL,
        handler_params={EVIL: EVIL},
        queue=EVIL,
        problem=EVIL,
        declared=EVIL,
    )
    worker = process(host=EVIL, queues=[EVIL], slots=1)
    progress = {"done": 1, "total": 2, "note": EVIL}
    fields: dict[str, Any] = {
        "job": job,
        "handler_name": EVIL,
        "queue": EVIL,
        "params": {EVIL: EVIL},
        "error_message": EVIL,
        "progress": progress,
    }
    error = dict.fromkeys(("attempt", "at", "process", "status", "message", "traceback"), EVIL)
    runs = running(worker.pk, **fields)
    failed = finished(
        Status.FAILED, **fields, result=EVIL, errors=[error, EVIL], dedupe_key=EVIL, attempt=2
    )
    pending(**fields)
    log_line(failed, logger=EVIL, message=EVIL)
    letter = dead_letter(
        adapter=EVIL[:100],
        source_id=EVIL,
        body=EVIL.encode(),
        key=EVIL.encode(),
        reason=EVIL,
        headers=[[EVIL, EVIL]],
    )
    preview = {"cron_expression": EVIL, "timezone": EVIL, "name": EVIL}
    return [
        *(list_of(model) for model in (CronJob, JobExecution, Process, DeadLetter)),
        *(page_of(row) for row in (job, runs, failed, worker, letter)),
        *(page_of(row, "history") for row in (job, failed, letter)),
        *(page_of(job, name) for name in ("run", "backfill", "delete")),
        page_of(failed, "retry"),
        list_of(JobExecution, handler_name=EVIL, queue=EVIL, status="dead"),
        list_of(JobExecution, q=EVIL),
        list_of(CronJob, q=EVIL, handler_name=EVIL),
        reverse("admin:jobu_cronjob_add", query={"copy": job.pk, "name": EVIL}),
        reverse("admin:jobu_cronjob_preview", query=preview),
        reverse("admin:jobu_jobexecution_live", query={"id": runs.pk}),
        reverse("admin:index"),
    ]


def test_markup_is_inert_on_every_page(admin_client: Client, pages: list[str]) -> None:
    for address in pages:
        page = admin_client.get(address)
        assert page.status_code == 200, address
        assert_inert(page.text, address)


def test_markup_is_inert_where_actions_ask_and_tell(admin_client: Client, pages: list[str]) -> None:
    query = {"handler_name": EVIL}
    for verb in ("retry", "cancel", "raise_priority", "discard"):
        page = admin_client.post(act(verb, **query), {"everything": "1"})
        assert page.status_code == 200
        assert_inert(page.text, verb)
    job = CronJob.objects.get()
    page = admin_client.post(page_of(job, "run"), {"params": "{}"}, follow=True)
    assert_inert(page.text, "run")
    letter = DeadLetter.objects.get()
    page = admin_client.post(page_of(letter), {"body": f'{{"handler_name": "{EVIL[:8]}"}}'})
    assert_inert(page.text, "requeue")
    form = {"action": "requeue_selected", "_selected_action": [letter.pk]}
    page = admin_client.post(list_of(DeadLetter), form, follow=True)
    assert_inert(page.text, "requeue several")


def assert_inert(text: str, where: str) -> None:
    assert "<script>alert" not in text, where
    assert "<img src=x" not in text, where
    assert "14}}" not in text and ">14<" not in text, where
    assert "</pre>{" not in text and "</textarea></pre>" not in text, where
