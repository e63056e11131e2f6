"""Cron jobs: the list, the form, its preview, and what can be done."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from jobu.models import CronJob, JobExecution, Status
from jobu.models.job_execution import ParamSource
from tests.admin.pages import history, list_of, page_of, staff, told
from tests.builders import cron, finished, pending

pytestmark = pytest.mark.django_db

ADD = reverse("admin:jobu_cronjob_add")
PREVIEW = reverse("admin:jobu_cronjob_preview")
FORM = {
    "name": "nightly",
    "cron_expression": "0 2 * * *",
    "timezone": "Europe/Berlin",
    "handler_name": "echo",
    "handler_params": '{"days": 7}',
    "is_enabled": "on",
    "max_retry": "3",
    "timeout_seconds": "60",
    "priority": "0",
    "queue": "default",
    "misfire": "latest",
    "misfire_window_seconds": "3600",
    "jitter_seconds": "0",
    "pause_after_failures": "0",
}


def names(client: Client, **query: Any) -> list[str]:
    page = client.get(list_of(CronJob, **query))
    assert page.status_code == 200
    return [job.name for job in page.context["cl"].result_list]


def test_the_list_says_when_and_how_it_went(admin_client: Client) -> None:
    job = cron(timezone="Asia/Seoul")
    for status in (Status.SUCCESS, Status.FAILED, Status.SUCCESS, Status.TIMEOUT):
        finished(status, job=job)
    page = admin_client.get(list_of(CronJob)).text
    assert "At 02:00 every day" in page
    assert "Asia/Seoul" in page
    assert "02:00 KST" in page
    assert page.count('class="jobu-mark') == 4
    assert ">50 %<" in page
    assert 'role="switch" aria-checked="true"' in page


def test_the_next_run_follows_the_plan_of_the_dispatcher(admin_client: Client) -> None:
    job = cron()
    planned = timezone.now() + timedelta(hours=5, seconds=1)
    CronJob.objects.filter(pk=job.pk).update(planned=job.plan_key, next_run_at=planned)
    assert "in 5 h<" in admin_client.get(list_of(CronJob)).text
    CronJob.objects.filter(pk=job.pk).update(problem="its <zone> is gone")
    assert "its &lt;zone&gt; is gone" in admin_client.get(list_of(CronJob)).text
    CronJob.objects.update(problem="", timezone="Nowhere/At All", cron_expression="nonsense")
    assert admin_client.get(list_of(CronJob)).status_code == 200
    assert admin_client.get(page_of(job)).status_code == 200


def test_the_list_can_be_filtered_and_searched(admin_client: Client) -> None:
    healthy, sick = cron(name="healthy", queue="mail"), cron(name="sick", handler_name="fail")
    cron(name="new", is_enabled=False)
    cron(name="broken", problem="no such zone")
    for job, last in ((healthy, Status.SUCCESS), (sick, Status.FAILED)):
        finished(Status.FAILED, job=job)
        finished(last, job=job)
    pending(job=sick)
    assert names(admin_client, failing="yes") == ["broken", "sick"]
    assert names(admin_client, failing="no") == ["healthy", "new"]
    assert names(admin_client, is_enabled="0") == ["new"]
    assert names(admin_client, is_enabled="1") == ["broken", "healthy", "sick"]
    assert names(admin_client, queue="mail") == ["healthy"]
    assert names(admin_client, handler_name="fail") == ["sick"]
    assert names(admin_client, q="sic") == ["sick"]


def test_a_cron_job_is_made_and_changed(admin_client: Client) -> None:
    assert admin_client.get(ADD).status_code == 200
    assert admin_client.post(ADD, FORM).status_code == 302
    job = CronJob.objects.get()
    assert job.handler_params == {"days": 7}
    assert admin_client.post(page_of(job), {**FORM, "name": "nightly 2"}).status_code == 302
    page = admin_client.post(page_of(job), {**FORM, "cron_expression": "every day"})
    assert "needs five fields" in page.text
    job.refresh_from_db()
    assert (job.name, job.cron_expression) == ("nightly 2", "0 2 * * *")


def test_saving_leaves_what_a_dispatcher_wrote_meanwhile(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = cron(timezone="UTC")
    tick = datetime(2026, 1, 1, tzinfo=UTC)

    def dispatched_meanwhile(form: Any) -> Any:
        CronJob.objects.update(planned="as it was", last_run_at=tick)
        return {}

    monkeypatch.setattr("django.forms.ModelForm.clean", dispatched_meanwhile)
    assert admin_client.post(page_of(job), {**FORM, "description": "edited"}).status_code == 302
    job.refresh_from_db()
    assert (job.planned, job.last_run_at) == ("as it was", tick)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"handler_params": "{"}, "This is not JSON"),
        ({"handler_params": "[1]"}, "Params are a JSON object"),
        ({"handler_params": '{"a": "\\u0000"}'}, "NUL character"),
        (
            {"handler_name": "sleep", "handler_params": '{"seconds": "x"}'},
            "seconds must be a number",
        ),
        ({"handler_name": "sleep", "handler_params": "{}"}, "missing params: seconds"),
        ({"handler_name": "no such"}, "Select a valid choice"),
        ({"timezone": "Nowhere"}, "is not a time zone"),
        ({"cron_expression": "61 * * * *"}, "minute field"),
        ({"timeout_seconds": "0"}, "is violated"),
    ],
)
def test_bad_input_is_refused_with_words(
    admin_client: Client, change: dict[str, str], problem: str
) -> None:
    page = admin_client.post(ADD, {**FORM, **change})
    assert page.status_code == 200
    assert problem in page.text.replace("&#x27;", "'")
    assert not CronJob.objects.exists()


def test_a_cron_job_of_a_handler_that_is_not_here_can_still_be_edited(admin_client: Client) -> None:
    job = cron(handler_name="elsewhere")
    assert "elsewhere (not registered here)" in admin_client.get(page_of(job)).text
    form = {**FORM, "handler_name": "elsewhere", "name": "renamed"}
    assert admin_client.post(page_of(job), form).status_code == 302
    job.refresh_from_db()
    assert (job.name, job.handler_name) == ("renamed", "elsewhere")


def test_the_preview_has_words_and_ten_times(admin_client: Client) -> None:
    query = {"cron_expression": "30 6 * * mon-fri", "timezone": "Asia/Seoul", "name": "x"}
    page = admin_client.get(PREVIEW, query).text
    assert "At 06:30 on Monday to Friday" in page
    assert page.count("06:30 KST") == 10


def test_the_preview_marks_clock_changes(admin_client: Client) -> None:
    query = {"cron_expression": "30 2 1-31/3 3,10 *", "timezone": "Europe/Berlin", "name": "x"}
    page = admin_client.get(PREVIEW, {**query, "cron_expression": "30 2 * 3,10 sun"}).text
    assert "Clocks go" in page
    page = admin_client.get(PREVIEW, {**query, "timezone": "UTC"}).text
    assert "Clocks go" not in page


@pytest.mark.parametrize(
    ("query", "field", "problem"),
    [
        ({"cron_expression": "0 25 * * *", "timezone": "UTC"}, "cron expression", "hour field"),
        ({"cron_expression": "0 2 * * *", "timezone": "Mars"}, "timezone", "not a time zone"),
        ({"cron_expression": "<script>", "timezone": "UTC"}, "cron expression", "&lt;script&gt;"),
        ({}, "cron expression", "needs five fields"),
    ],
)
def test_the_preview_names_the_field_that_is_wrong(
    admin_client: Client, query: dict[str, str], field: str, problem: str
) -> None:
    page = admin_client.get(PREVIEW, query).text
    assert f"<strong>{field}</strong>" in page
    assert problem in page
    assert "<script>" not in page


def test_a_handler_is_described_for_the_form(admin_client: Client) -> None:
    address = reverse("admin:jobu_cronjob_handler")
    answer = admin_client.get(address, {"name": "async_blocks"}).json()
    assert answer["doc"] == "Block the event loop, for a while or until interrupted."
    assert [field["name"] for field in answer["fields"]] == ["seconds"]
    assert answer["options"]["max_retry"] == 1
    assert admin_client.get(address, {"name": "nope"}).status_code == 404
    assert staff().get(address, {"name": "echo"}).status_code == 403
    assert staff().get(PREVIEW).status_code == 403


def test_run_now_takes_edited_params_as_they_are(admin_client: Client) -> None:
    job = cron(handler_params={"days": 7, "dry": True}, queue="mail")
    address = page_of(job, "run")
    assert "&quot;dry&quot;: true" in admin_client.get(address).text
    page = admin_client.post(address, {"params": '{"days": 1}'}, follow=True)
    execution = JobExecution.objects.get()
    assert page.redirect_chain == [(page_of(execution), 302)]
    assert (execution.job, execution.params, execution.queue) == (job, {"days": 1}, "mail")
    assert execution.param_source == ParamSource.MANUAL
    job.refresh_from_db()
    assert job.handler_params == {"days": 7, "dry": True}
    assert history() == [("admin", str(job.pk), f"Ran now: execution #{execution.pk}.")]
    assert admin_client.post(address, {"params": "x"}).status_code == 200
    assert JobExecution.objects.count() == 1


def backfill_form(start: datetime, end: datetime) -> dict[str, str]:
    ends = (("start", start), ("end", end))
    return {
        f"{name}_{index}": moment.strftime(form)
        for name, moment in ends
        for index, form in enumerate(("%Y-%m-%d", "%H:%M:%S"))
    }


def test_a_backfill_is_counted_before_it_happens(admin_client: Client) -> None:
    job = cron(timezone="UTC")
    address = page_of(job, "backfill")
    form = backfill_form(datetime(2026, 1, 1), datetime(2026, 1, 5))  # noqa: DTZ001
    pending(job=job, scheduled_time=datetime(2026, 1, 2, 2, tzinfo=UTC))
    assert admin_client.get(address).status_code == 200
    page = admin_client.post(address, form)
    assert "3 ticks will be enqueued." in page.text
    assert JobExecution.objects.count() == 1
    page = admin_client.post(address, {**form, "confirmed": "1"}, follow=True)
    assert told(page) == ["3 ticks were enqueued."]
    assert JobExecution.objects.filter(job=job).count() == 4
    assert "Backfilled 3 ticks" in history()[0][2]
    page = admin_client.post(address, {**form, "confirmed": "1"})
    assert "there is nothing to do" in page.text


def test_a_backfill_that_cannot_be_is_refused(admin_client: Client) -> None:
    address = page_of(cron(cron_expression="* * * * *"), "backfill")
    year, day = datetime(2025, 1, 1), datetime(2025, 2, 1)  # noqa: DTZ001
    assert "before the start" in admin_client.post(address, backfill_form(day, year)).text
    page = admin_client.post(address, backfill_form(year, day))
    assert "More than 10,000 ticks" in page.text
    later = datetime(2999, 1, 1)  # noqa: DTZ001
    assert "in the future" in admin_client.post(address, backfill_form(year, later)).text
    assert not JobExecution.objects.exists()


def test_the_switch_enables_and_disables(admin_client: Client) -> None:
    job = cron()
    page = admin_client.post(page_of(job, "switch"), {"is_enabled": "0"}, follow=True)
    assert told(page) == ["1 cron job was disabled."]
    job.refresh_from_db()
    assert job.is_enabled is False
    page = admin_client.post(page_of(job, "switch") + "?q=n", {"is_enabled": "1"})
    assert page.headers["Location"] == list_of(CronJob, q="n")
    job.refresh_from_db()
    assert job.is_enabled is True
    assert [note for _who, _row, note in history()] == ["Disabled.", "Enabled."]
    assert admin_client.get(page_of(job, "switch")).status_code == 405


def test_several_are_switched_at_once(admin_client: Client) -> None:
    jobs = [cron(name=name, is_enabled=name != "c") for name in "abc"]
    form = {"action": "disable", "_selected_action": [job.pk for job in jobs]}
    page = admin_client.post(list_of(CronJob), form, follow=True)
    assert told(page) == ["2 cron jobs were disabled."]
    assert not CronJob.objects.filter(is_enabled=True).exists()


def test_a_copy_is_a_new_form_that_is_switched_off(admin_client: Client) -> None:
    job = cron(handler_params={"days": 7}, queue="mail", priority=4)
    page = admin_client.get(ADD, {"copy": job.pk})
    initial = page.context["adminform"].form.initial
    assert (initial["name"], initial["is_enabled"]) == ("nightly (copy)", False)
    assert (initial["handler_params"], initial["queue"], initial["priority"]) == (
        {"days": 7},
        "mail",
        4,
    )
    assert admin_client.get(ADD, {"copy": "x"}).status_code == 200


def test_who_may_only_add_copies_nothing() -> None:
    job = cron(handler_params={"card": "4111"})
    page = staff("add_cronjob").get(ADD, {"copy": job.pk})
    assert page.status_code == 403
    assert "4111" not in page.text
    assert "4111" in staff("add_cronjob", "view_cronjob").get(ADD, {"copy": job.pk}).text
    assert CronJob.objects.count() == 1


def test_running_a_cron_job_has_its_own_permission() -> None:
    job = cron()
    stranger = staff("view_cronjob", "change_cronjob", "add_cronjob")
    friend = staff("view_cronjob", "run_cronjob")
    for name in ("run", "backfill"):
        address = page_of(job, name)
        assert address not in stranger.get(page_of(job)).text
        assert stranger.get(address).status_code == 403
        assert stranger.post(address, {"params": "{}"}).status_code == 403
        assert address in friend.get(page_of(job)).text
        assert friend.get(address).status_code == 200
    assert page_of(job, "run") not in stranger.get(list_of(CronJob)).text
    assert friend.post(page_of(job, "run"), {"params": "{}"}).status_code == 302
    assert friend.post(page_of(job, "switch"), {"is_enabled": "0"}).status_code == 403
    assert 'value="0" disabled' in friend.get(list_of(CronJob)).text
    assert json.loads("{}") == JobExecution.objects.get().params
