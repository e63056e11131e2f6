"""Cron jobs in a real browser, with a real worker where one is needed."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from selenium.webdriver.support.ui import Select

from jobu import handler
from jobu.masking import MASK
from jobu.models import CronJob, JobExecution, Status
from tests.admin.pages import user_with
from tests.browser import Browser
from tests.builders import cron, finished
from tests.waiting import wait_until
from tests.workers import WorkerProcesses

pytestmark = pytest.mark.browser


@pytest.fixture
def admin(browser: Browser, admin_user: User) -> Browser:
    browser.sign_in(admin_user)
    return browser


def write(browser: Browser, field: str, text: str) -> None:
    element = browser.find(f"#id_{field}")
    element.clear()
    element.send_keys(text)


def save(browser: Browser) -> None:
    browser.find("input[name=_save]").click()


def test_a_cron_job_is_made_while_the_preview_follows(admin: Browser) -> None:
    admin.open("admin:jobu_cronjob_add")
    write(admin, "name", "nightly")
    write(admin, "cron_expression", "30 6 * *")
    admin.wait(lambda: "needs five fields" in admin.text("#jobu-preview"), "the problem")
    admin.find("#id_cron_expression").send_keys(" mon-fri")
    admin.wait(lambda: "At 06:30 on Monday to Friday" in admin.text("#jobu-preview"), "the words")
    assert len(admin.find_all("#jobu-preview time")) == 10
    write(admin, "timezone", "Nowhere")
    admin.wait(lambda: "is not a time zone" in admin.text("#jobu-preview"), "the zone's problem")
    write(admin, "timezone", "Asia/Seoul")
    admin.wait(lambda: "06:30 KST" in admin.text("#jobu-preview"), "times in the zone")
    Select(admin.find("#id_handler_name")).select_by_value("echo")
    save(admin)
    admin.find(".messagelist .success")
    job = CronJob.objects.get()
    assert (job.cron_expression, job.timezone) == ("30 6 * * mon-fri", "Asia/Seoul")
    assert admin.console() == []


def test_the_params_of_a_typed_handler_are_fields(admin: Browser) -> None:
    admin.open("admin:jobu_cronjob_add")
    write(admin, "name", "steps")
    write(admin, "cron_expression", "0 2 * * *")
    Select(admin.find("#id_handler_name")).select_by_value("steps")
    admin.find("#id_handler_params_count").send_keys("7")
    assert "Count up" in admin.text("[data-jobu-doc]")
    # The handler's own options came with it, since nobody had chosen others.
    assert admin.find("#id_max_retry").get_attribute("value") == "1"
    textarea = admin.find("#id_handler_params")
    assert json.loads(textarea.get_attribute("value") or "") == {"count": 7}
    assert not textarea.is_displayed()
    save(admin)
    admin.find(".messagelist .success")
    assert CronJob.objects.get().handler_params == {"count": 7}
    assert admin.console() == []


@pytest.mark.usefixtures("temporary_handlers")
def test_a_masked_param_is_a_field_that_keeps_its_value(browser: Browser) -> None:
    @handler("charge", sensitive=("card", "pin"))
    def charge(user: str, card: str, pin: int) -> None: ...

    job = cron(handler_name="charge", handler_params={"user": "ann", "card": "4111", "pin": 1234})
    browser.sign_in(user_with("view_cronjob", "change_cronjob"))
    browser.open("admin:jobu_cronjob_change", job.pk)
    # A whole number has a field of its own, which could not show a mask.
    for name in ("card", "pin"):
        field = browser.find(f"#id_handler_params_{name}")
        assert field.get_attribute("value") == MASK
    write(browser, "handler_params_user", "bob")
    write(browser, "handler_params_card", "5500")
    save(browser)
    browser.find(".messagelist .success")
    job.refresh_from_db()
    assert job.handler_params == {"user": "bob", "card": "5500", "pin": 1234}
    assert browser.console() == []


def test_json_that_is_none_is_marked_while_it_is_typed(admin: Browser) -> None:
    admin.open("admin:jobu_cronjob_add")
    Select(admin.find("#id_handler_name")).select_by_value("echo")
    write(admin, "handler_params", '{"a": [1,')
    admin.wait(lambda: admin.text("[data-jobu-json-state]") != "", "the problem")
    write(admin, "handler_params", '{"a": [1, 2]}')
    admin.wait(lambda: admin.text("[data-jobu-json-state]") == "", "no problem")
    admin.find(".jobu-format").click()
    formatted = admin.find("#id_handler_params").get_attribute("value")
    assert formatted == json.dumps({"a": [1, 2]}, indent=2)
    # A number that JavaScript cannot hold is left as it stands.
    write(admin, "handler_params", '{"id": 9007199254740993}')
    admin.find(".jobu-format").click()
    assert admin.find("#id_handler_params").get_attribute("value") == '{"id": 9007199254740993}'
    assert admin.console() == []


def test_it_runs_now_and_the_page_shows_how_it_went(
    admin: Browser, workers: WorkerProcesses
) -> None:
    job = cron(handler_name="effect", handler_params={"note": "from the cron"})
    workers.start()
    admin.open("admin:jobu_cronjob_changelist")
    admin.find(".jobu-tool").click()
    field = admin.find("#id_params_note")
    assert field.get_attribute("value") == "from the cron"
    field.clear()
    field.send_keys("by hand")
    admin.find(".submit-row input").click()
    admin.wait(lambda: admin.text(".jobu-facts .jobu-badge") == "success", "success")
    execution = JobExecution.objects.get()
    assert (execution.job, execution.result) == (job, {"note": "by hand"})
    assert '"note": "by hand"' in admin.text("pre.jobu-code")
    assert admin.console() == []


def test_the_switch_switches(admin: Browser) -> None:
    job = cron()
    finished(Status.FAILED, job=job)
    admin.open("admin:jobu_cronjob_changelist")
    assert admin.find(".jobu-switch").get_attribute("aria-checked") == "true"
    admin.find(".jobu-switch").click()
    admin.find(".messagelist .success")
    assert admin.find(".jobu-switch").get_attribute("aria-checked") == "false"
    wait_until(lambda: not CronJob.objects.get().is_enabled, "the cron job to be off")
    assert admin.console() == []
