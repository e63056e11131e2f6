"""Who may not see what is sensitive gets masks, and cannot lose what they stand for."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from jobu import handler
from jobu.masking import MASK
from jobu.models import CronJob, JobExecution, Status
from tests.admin.cron_jobs.test_cron_jobs import ADD, FORM
from tests.admin.pages import history, list_of, page_of, staff
from tests.builders import cron, dead_letter, finished

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("temporary_handlers", "charge")]

PARAMS = {"user": "ann", "card": "4111-1111", "smtp": {"password": "open sesame", "port": 25}}
MASKED = {"user": "ann", "card": MASK, "smtp": {"password": MASK, "port": 25}}
SECRETS = ("4111-1111", "open sesame")
EVERYTHING = (
    "view_jobexecution",
    "retry_jobexecution",
    "publish_message",
    "view_cronjob",
    "add_cronjob",
    "change_cronjob",
    "run_cronjob",
    "view_deadletter",
    "change_deadletter",
)


@pytest.fixture
def charge() -> None:
    @handler("charge", sensitive=("card",))
    def charge(user: str, card: str, smtp: dict[str, Any] | None = None) -> None:
        """Charge a card."""


@pytest.fixture
def operator() -> Client:
    """May do everything but see what is sensitive."""
    return staff(*EVERYTHING)


def failed(**fields: Any) -> JobExecution:
    return finished(Status.FAILED, **{"handler_name": "charge", "params": PARAMS, **fields})


def cron_form(job: CronJob, **changes: Any) -> dict[str, Any]:
    given = {"name": job.name, "handler_name": "charge", "handler_params": json.dumps(MASKED)}
    return {**FORM, **given, **changes}


def assert_masked(page: Any) -> None:
    assert page.status_code == 200
    assert MASK in page.text
    assert not any(secret in page.text for secret in SECRETS)


def test_every_page_with_params_masks_them(operator: Client) -> None:
    execution, job = (
        failed(result={"token": "open sesame"}),
        cron(handler_name="charge", handler_params=PARAMS),
    )
    for address in (
        page_of(execution),
        page_of(execution, "retry"),
        page_of(job),
        page_of(job, "run"),
        f"{ADD}?copy={job.pk}",
    ):
        assert_masked(operator.get(address))
    assert_masked(staff("view_cronjob").get(page_of(job)))


def test_downloads_are_masked_like_pages(operator: Client) -> None:
    execution, job = failed(), cron(handler_name="charge", handler_params=PARAMS)
    dead = dead_letter(json.dumps(PARAMS).encode(), headers=[["token", "open sesame"]])
    addresses = [
        reverse("admin:jobu_jobexecution_download", args=[execution.pk, "params"]),
        reverse("admin:jobu_cronjob_download", args=[job.pk]),
        reverse("admin:jobu_deadletter_download", args=[dead.pk, "body"]),
        reverse("admin:jobu_deadletter_download", args=[dead.pk, "headers"]),
    ]
    for address in addresses:
        assert_masked(operator.get(address))
    trusted = staff(*EVERYTHING, "view_sensitive_params")
    assert [json.loads(trusted.get(address).content) for address in addresses] == [
        PARAMS,
        PARAMS,
        PARAMS,
        [["token", "open sesame"]],
    ]


def test_params_that_are_too_large_for_a_form_keep_their_secrets(operator: Client) -> None:
    large = {**PARAMS, "user": "a" * 200_000}
    job = cron(handler_name="charge", handler_params=large)
    assert_masked(operator.get(page_of(job, "run")))
    operator.post(page_of(job, "run"), {"params": "{}"})
    assert JobExecution.objects.get().params == large
    assert operator.post(page_of(job), cron_form(job, description="new")).status_code == 302
    job.refresh_from_db()
    assert (job.description, job.handler_params) == ("new", large)


def test_who_has_the_permission_sees_them() -> None:
    execution, job = failed(), cron(handler_name="charge", handler_params=PARAMS)
    for viewer in (
        staff(*EVERYTHING, "view_sensitive_params"),
        staff("view_cronjob", "view_jobexecution", "view_sensitive_params"),
    ):
        for address in (page_of(execution), page_of(job)):
            page = viewer.get(address).text
            assert MASK not in page.replace(f'data-mask="{MASK}"', "")
            assert all(secret in page for secret in SECRETS)


def test_a_retry_keeps_what_is_masked(operator: Client) -> None:
    execution = failed()
    given = {**MASKED, "user": "bob"}
    operator.post(page_of(execution, "retry"), {"params": json.dumps(given)})
    execution.refresh_from_db()
    assert (execution.status, execution.params) == (Status.PENDING, {**PARAMS, "user": "bob"})
    [(_who, _row, note)] = history()
    assert note == "Retried with other params: user."


def test_a_secret_can_be_replaced_or_taken_out_unseen(operator: Client) -> None:
    execution = failed()
    given = {"user": "ann", "card": "5500", "smtp": {"port": 25}}
    operator.post(page_of(execution, "retry"), {"params": json.dumps(given)})
    execution.refresh_from_db()
    assert execution.params == given
    [(_who, _row, note)] = history()
    assert note == "Retried with other params: card, smtp."


def test_a_run_now_keeps_what_is_masked(operator: Client) -> None:
    job = cron(handler_name="charge", handler_params=PARAMS)
    operator.post(page_of(job, "run"), {"params": json.dumps(MASKED)})
    assert JobExecution.objects.get().params == PARAMS


def test_an_edited_cron_job_keeps_what_is_masked(operator: Client) -> None:
    job = cron(handler_name="charge", handler_params=PARAMS)
    assert operator.post(page_of(job), cron_form(job)).status_code == 302
    given = json.dumps({**MASKED, "user": "bob"})
    assert operator.post(page_of(job), cron_form(job, handler_params=given)).status_code == 302
    job.refresh_from_db()
    assert job.handler_params == {**PARAMS, "user": "bob"}
    assert not any(secret in str(history()) for secret in SECRETS)


def test_a_copy_of_a_cron_job_has_what_is_masked(operator: Client) -> None:
    job = cron(handler_name="charge", handler_params=PARAMS)
    form = cron_form(job, name="a copy")
    page = operator.post(ADD, form)
    assert "card is masked, and there is no value to keep" in page.text
    assert operator.post(f"{ADD}?copy={job.pk}", form).status_code == 302
    assert CronJob.objects.get(name="a copy").handler_params == PARAMS


def test_another_handler_does_not_make_a_secret_of_the_first_public(operator: Client) -> None:
    job = cron(handler_name="charge", handler_params=PARAMS)
    page = operator.post(page_of(job), cron_form(job, handler_name="echo"))
    assert "card is masked, and there is no value to keep" in page.text
    # A password is one for every handler.
    given = json.dumps({"smtp": MASKED["smtp"]})
    form = cron_form(job, handler_name="echo", handler_params=given)
    assert operator.post(page_of(job), form).status_code == 302
    job.refresh_from_db()
    assert (job.handler_name, job.handler_params) == ("echo", {"smtp": PARAMS["smtp"]})


@pytest.mark.parametrize("has_cron", [True, False])
def test_a_mask_cannot_be_published(operator: Client, has_cron: bool) -> None:
    form = {"handler_name": "echo", "params": json.dumps({"password": MASK})}
    if has_cron:
        form["job_id"] = str(cron(handler_params={"password": "open sesame"}).pk)
    page = operator.post(reverse("admin:jobu_publish"), form)
    assert "password is masked, and there is no value to keep" in page.text


def test_a_dead_letter_is_masked_as_far_as_it_can_be_read(operator: Client) -> None:
    broken = b'{"handler": "charge", "params": {"card": "4111-1111", "password": "open sesame"'
    headers = [["authorization", "open sesame"], ["context", '{"token": "open sesame"}']]
    dead = dead_letter(broken, headers=headers)
    assert_masked(operator.get(page_of(dead)))
    assert_masked(staff("view_deadletter").get(page_of(dead)))
    page = staff("view_deadletter", "view_sensitive_params").get(page_of(dead)).text
    assert all(secret in page for secret in SECRETS)


def test_a_dead_letter_that_nobody_touched_goes_as_it_came(operator: Client) -> None:
    dead = dead_letter(b'{"handler": "echo", "params": {"password": "open sesame"}}')
    [body] = [operator.get(page_of(dead)).context["form"].initial["body"]]
    assert operator.post(page_of(dead), {"body": body}).status_code == 302
    assert JobExecution.objects.get().params == {"password": "open sesame"}


def test_a_corrected_dead_letter_keeps_what_is_masked(operator: Client) -> None:
    dead = dead_letter(b'{"handler": "ecco", "params": {"password": "open sesame"}}')
    body = operator.get(page_of(dead)).context["form"].initial["body"]
    page = operator.post(page_of(dead), {"body": body.replace("ecco", "echo")})
    assert page.status_code == 302
    assert JobExecution.objects.get().params == {"password": "open sesame"}


@pytest.mark.parametrize(
    "body",
    [
        b'{"handler": "charg", "params": {"card": "4111-1111"}}',
        b'{"handler": "echo", "params": {"password": "open sesame"}',
    ],
)
def test_a_dead_letter_whose_masks_cannot_be_kept_is_refused(operator: Client, body: bytes) -> None:
    dead = dead_letter(body)
    given = {"handler": "echo", "params": {"card": MASK, "password": MASK}}
    page = operator.post(page_of(dead), {"body": json.dumps(given)})
    assert "masked" in page.text
    assert not JobExecution.objects.exists()


def test_what_is_posted_is_in_no_error_report(
    operator: Client, error_reports: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    operator.raise_request_exception = False

    def fail(*_args: Any, **_options: Any) -> None:
        raise ValueError("something went wrong")

    monkeypatch.setattr("jobu.admin.executions.retry.retry", fail)
    page = operator.post(page_of(failed(), "retry"), {"params": json.dumps(PARAMS)})
    assert page.status_code == 500
    told = error_reports()
    assert "something went wrong" in told
    assert not any(secret in told for secret in SECRETS)


def test_lists_show_no_params(operator: Client) -> None:
    failed()
    cron(handler_name="charge", handler_params=PARAMS)
    for model in (JobExecution, CronJob):
        assert not any(secret in operator.get(list_of(model)).text for secret in SECRETS)
