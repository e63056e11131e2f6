"""However much a row holds, a page shows a bounded part of it, and a download the whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from jobu.dialects import DatabaseNow
from jobu.masking import mask
from jobu.models import CronJob, DeadLetter, JobExecution, LogLine, Process, Status
from tests.admin.cron_jobs.test_cron_jobs import ADD, FORM
from tests.admin.pages import act, list_of, page_of, staff, told
from tests.builders import cron, dead_letter, finished, pending, process, running

pytestmark = pytest.mark.django_db

MEGABYTE = 1024 * 1024
# Characters of a page; each may be escaped to six.
MAX_PAGE_SIZE = 1_500_000
# Quotes are escaped in HTML, and deep lists are indented: both make more of less.
TEXT = "'\"<" * (MEGABYTE // 3)
DEEP: Any = [0] * (MEGABYTE // 3)
for _ in range(28):
    DEEP = [DEEP]
VALUES = [{"text": TEXT}, {"deep": DEEP}, {f"key {number}": number for number in range(60_000)}]
NAMES = ["a long text", "a deep list", "many keys"]


def size_of(client: Client, address: str) -> int:
    page = client.get(address)
    assert page.status_code == 200, address
    return len(page.content)


@pytest.mark.parametrize("value", VALUES, ids=NAMES)
def test_a_page_is_bounded_and_the_download_is_the_whole(
    value: dict[str, Any], admin_client: Client
) -> None:
    execution = finished(Status.FAILED, params=value, result=value, error_message=TEXT)
    page = admin_client.get(page_of(execution))
    assert len(page.content) < MAX_PAGE_SIZE
    assert page.text.count("This is only the beginning.") == 2
    for name in ("params", "result"):
        address = reverse("admin:jobu_jobexecution_download", args=[execution.pk, name])
        assert address in page.text
        file = admin_client.get(address)
        assert json.loads(file.content) == value
        assert file["Content-Type"] == "application/json; charset=utf-8"
        name = f"execution-{execution.pk}.{name}.json"
        assert file["Content-Disposition"] == f'attachment; filename="{name}"'
        assert file["X-Content-Type-Options"] == "nosniff"
    for address in (list_of(JobExecution), page_of(execution, "retry")):
        assert size_of(admin_client, address) < MAX_PAGE_SIZE
    page = admin_client.post(act("discard"), {"ids": [execution.pk]})
    assert len(page.content) < MAX_PAGE_SIZE


@pytest.mark.parametrize("value", VALUES, ids=NAMES)
def test_no_more_is_masked_than_a_page_shows(
    value: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def parts(value: Any) -> int:
        if isinstance(value, dict):
            value = list(value.values())
        return 1 + sum(map(parts, value)) if isinstance(value, list) else 1

    def count(value: Any, names: Any = ()) -> Any:
        sizes.append(parts(value))
        return mask(value, names)

    monkeypatch.setattr("jobu.admin.shared.params.mask", count)
    monkeypatch.setattr("jobu.admin.cron_jobs.form.mask", count)
    execution = finished(Status.FAILED, params=value, result=value)
    done, job = finished(params=value), cron(handler_params=value)
    viewer = staff(
        *("view_jobexecution", "retry_jobexecution", "add_jobexecution", "run_cronjob"),
        *("view_cronjob", "change_cronjob"),
    )
    again = reverse("admin:jobu_jobexecution_add", query={"copy": done.pk})
    for address in (page_of(execution), page_of(execution, "retry"), again):
        assert "Download the whole" in viewer.get(address).text
    for address in (page_of(job), page_of(job, "run")):
        assert "Download the whole" in viewer.get(address).text
    assert "Download the whole" in staff("view_cronjob").get(page_of(job)).text
    assert len(sizes) >= 7
    assert max(sizes) <= 100_000


@pytest.mark.parametrize("value", VALUES, ids=NAMES)
def test_who_sees_masks_keeps_large_params_whole(value: dict[str, Any]) -> None:
    failed = finished(Status.FAILED, params={**value, "password": "x"})
    helper = staff("view_jobexecution", "retry_jobexecution")
    helper.post(page_of(failed, "retry"), {"params": "{}"})
    failed.refresh_from_db()
    assert (failed.status, failed.params) == (Status.PENDING, {**value, "password": "x"})


def test_a_small_value_is_shown_whole(admin_client: Client) -> None:
    execution = finished(params={"days": 30}, result=["a", {"b": None}])
    page = admin_client.get(page_of(execution)).text
    assert "only the beginning" not in page
    assert "&quot;days&quot;: 30" in page


def test_the_last_attempts_are_shown_and_all_are_in_the_download(admin_client: Client) -> None:
    long = TEXT[:50_000]
    errors = [
        {"attempt": number, "message": f"message {number} {long}", "traceback": long}
        for number in range(1, 31)
    ]
    execution = finished(Status.FAILED, errors=errors, attempt=30)
    page = admin_client.get(page_of(execution))
    assert len(page.content) < MAX_PAGE_SIZE
    assert "20 earlier attempts" in page.text
    assert "message 20 " not in page.text
    assert all(f"message {number} " in page.text for number in range(21, 31))
    address = reverse("admin:jobu_jobexecution_download", args=[execution.pk, "attempts"])
    assert address in page.text
    assert json.loads(admin_client.get(address).content) == errors


def test_the_last_log_lines_are_shown_and_all_are_in_the_download(admin_client: Client) -> None:
    execution = finished()
    LogLine.objects.bulk_create(
        LogLine(
            execution=execution,
            attempt=attempt,
            logged_at=DatabaseNow(number),
            level=20,
            logger="shop",
            message=f"line {attempt}.{number} " + "'" * 3_900,
        )
        for attempt in (1, 2)
        for number in range(100)
    )
    page = admin_client.get(page_of(execution))
    assert len(page.content) < MAX_PAGE_SIZE
    assert "Earlier lines" in page.text
    assert "line 1.0 " not in page.text
    assert "line 2.99 " in page.text
    address = reverse("admin:jobu_jobexecution_download", args=[execution.pk, "log"])
    file = admin_client.get(address)
    assert file["Content-Type"] == "text/plain; charset=utf-8"
    lines = file.text.splitlines()
    assert len(lines) == 200
    assert "INFO shop: line 1.0 " in lines[0] and "line 2.99 " in lines[-1]


def test_a_large_dead_letter_is_shown_in_part_and_requeued_as_it_came(
    admin_client: Client,
) -> None:
    body = json.dumps({"handler_name": "echo", "params": {"text": TEXT[: MEGABYTE // 2]}}).encode()
    headers = [["name", TEXT], *([f"h{number}", "x"] for number in range(1_000))]
    dead = dead_letter(body=body, key=TEXT.encode(), headers=headers, reason=TEXT)
    page = admin_client.get(page_of(dead))
    assert len(page.content) < MAX_PAGE_SIZE
    assert "too large to be edited here" in page.text
    for name, whole in [("body", body), ("key", TEXT.encode())]:
        file = admin_client.get(reverse("admin:jobu_deadletter_download", args=[dead.pk, name]))
        assert file.content == whole
        assert file["Content-Type"] == "text/plain; charset=utf-8"
        assert file["X-Content-Type-Options"] == "nosniff"
        assert file["Content-Disposition"].startswith("attachment; ")
    file = admin_client.get(reverse("admin:jobu_deadletter_download", args=[dead.pk, "headers"]))
    assert json.loads(file.content) == headers
    assert size_of(admin_client, list_of(DeadLetter)) < MAX_PAGE_SIZE
    admin_client.post(page_of(dead), {"body": '{"handler_name": "fail"}'})
    execution = JobExecution.objects.get()
    assert (execution.handler_name, execution.params["text"]) == ("echo", TEXT[: MEGABYTE // 2])


def test_a_large_message_that_is_refused_again_says_why(admin_client: Client) -> None:
    dead = dead_letter(body=b'{"handler_name": "nobody", "x": "' + b"x" * MEGABYTE + b'"}')
    page = admin_client.post(page_of(dead), {})
    assert page.status_code == 200
    assert page.context["form"].non_field_errors()
    assert len(page.content) < MAX_PAGE_SIZE


@pytest.mark.parametrize("value", VALUES, ids=NAMES)
def test_params_that_are_too_large_for_a_form_stay_as_they_are(
    value: dict[str, Any], admin_client: Client, settings: Any
) -> None:
    settings.JOBU_MAX_PARAMS_BYTES = 10 * MEGABYTE
    job = cron(handler_params=value)
    for address in (page_of(job), page_of(job, "run"), page_of(job, "delete"), list_of(CronJob)):
        assert size_of(admin_client, address) < MAX_PAGE_SIZE
    page = admin_client.get(page_of(job))
    assert "These params are too large to be edited here" in page.text
    assert reverse("admin:jobu_cronjob_download", args=[job.pk]) in page.text
    form = {**page.context["adminform"].form.initial, "priority": 7, "handler_params": "{}"}
    given = {name: text for name, text in form.items() if text is not None}
    page = admin_client.post(page_of(job), given, follow=True)
    assert "was changed successfully" in told(page)[0]
    admin_client.post(page_of(job, "run"), {"params": "{}"})
    job.refresh_from_db()
    assert (job.priority, job.handler_params) == (7, value)
    assert JobExecution.objects.get().params == value


def test_a_viewer_sees_the_beginning_of_a_crons_params() -> None:
    job = cron(handler_params=VALUES[0])
    viewer = staff("view_cronjob")
    page = viewer.get(page_of(job))
    assert len(page.content) < MAX_PAGE_SIZE
    assert "This is only the beginning." in page.text
    address = reverse("admin:jobu_cronjob_download", args=[job.pk])
    assert address in page.text
    assert json.loads(viewer.get(address).content) == VALUES[0]


def test_a_copy_of_large_params_starts_without_them(admin_client: Client) -> None:
    job = cron(handler_params=VALUES[0])
    page = admin_client.get(reverse("admin:jobu_cronjob_add", query={"copy": job.pk}))
    assert len(page.content) < MAX_PAGE_SIZE
    assert told(page) == ["The params are too large for a form, so they are not copied."]


def test_a_description_that_is_too_large_for_a_form_stays_as_it_is(admin_client: Client) -> None:
    job = cron(description=TEXT)
    for client in (admin_client, staff("view_cronjob")):
        page = client.get(page_of(job))
        assert len(page.content) < MAX_PAGE_SIZE
        assert "This is only the beginning." in page.text
        address = reverse("admin:jobu_cronjob_description", args=[job.pk])
        assert address in page.text
        assert client.get(address).text == TEXT
    assert size_of(admin_client, list_of(CronJob)) < MAX_PAGE_SIZE
    page = admin_client.post(page_of(job), {**FORM, "description": "short"}, follow=True)
    assert "was changed successfully" in told(page)[0]
    job.refresh_from_db()
    assert (job.timezone, job.description) == ("Europe/Berlin", TEXT)


def test_a_copy_of_a_large_description_starts_without_it(admin_client: Client) -> None:
    job = cron(description=TEXT)
    page = admin_client.get(reverse("admin:jobu_cronjob_add", query={"copy": job.pk}))
    assert len(page.content) < MAX_PAGE_SIZE
    assert told(page) == ["The description is too large for a form, so it is not copied."]


def test_a_description_longer_than_a_form_can_show_is_refused(admin_client: Client) -> None:
    page = admin_client.post(ADD, {**FORM, "description": "x" * 100_001})
    assert "has at most 100000 characters" in page.text
    admin_client.post(ADD, {**FORM, "description": "x" * 100_000})
    job = CronJob.objects.get()
    assert len(job.description) == 100_000
    assert "maxlength" in admin_client.get(page_of(job)).text


def test_a_process_names_some_of_what_it_runs(admin_client: Client) -> None:
    worker = process(slots=300)
    for _ in range(250):
        running(worker.pk)
    page = admin_client.get(page_of(worker)).text
    assert "and 50 more" in page
    assert page.count("/admin/jobu/jobexecution/") < 210


def test_a_download_needs_the_permission_to_view() -> None:
    execution, dead, job = pending(), dead_letter(), cron()
    addresses = {
        "view_jobexecution": [
            reverse("admin:jobu_jobexecution_download", args=[execution.pk, name])
            for name in ("params", "result", "attempts", "log")
        ],
        "view_deadletter": [
            reverse("admin:jobu_deadletter_download", args=[dead.pk, name])
            for name in ("body", "key", "headers")
        ],
        "view_cronjob": [
            reverse(f"admin:jobu_cronjob_{name}", args=[job.pk])
            for name in ("download", "description")
        ],
    }
    for codename, own in addresses.items():
        others = [f"view_{model._meta.model_name}" for model in (Process, CronJob, DeadLetter)]
        others += ["view_jobexecution", "run_cronjob", "retry_jobexecution"]
        stranger = staff(*(name for name in others if name != codename))
        viewer = staff(codename)
        for address in own:
            assert stranger.get(address).status_code == 403
            assert Client().get(address).status_code == 302
            assert viewer.get(address).status_code == 200


def test_a_download_of_nothing_is_not_found(admin_client: Client) -> None:
    execution, dead = pending(), dead_letter()
    for name, args in [
        ("jobexecution", [execution.pk, "id"]),
        ("jobexecution", [execution.pk + 1, "params"]),
        ("deadletter", [dead.pk, "reason"]),
        ("deadletter", [dead.pk + 1, "body"]),
        ("cronjob", [1]),
    ]:
        address = reverse(f"admin:jobu_{name}_download", args=args)
        assert admin_client.get(address).status_code == 404
