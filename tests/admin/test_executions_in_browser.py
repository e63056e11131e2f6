"""Executions, dead letters and processes in a real browser, with a real worker where needed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from selenium.webdriver.support.ui import Select

from jobu import cancel, enqueue
from jobu.models import CronJob, JobExecution, LogLine, Status
from tests.admin.pages import user_with
from tests.browser import Browser
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
from tests.workers import WorkerProcesses

pytestmark = pytest.mark.browser

SCRIPT = (
    "<script>document.title = 'owned'</script>\"'>"
    "<img src=x onerror=\"document.title='owned'\"></textarea></pre>"
)


@pytest.fixture
def admin(browser: Browser, admin_user: User) -> Browser:
    browser.sign_in(admin_user)
    return browser


def bar(browser: Browser) -> float:
    found = browser.script("return document.querySelector('.jobu-progress progress')?.value")
    return float(found or 0)


def open_page(browser: Browser, row: Any, page: str = "change") -> None:
    browser.open(f"admin:jobu_{row._meta.model_name}_{page}", str(row.pk))


def test_a_progress_bar_moves_by_itself_and_the_end_is_seen(
    admin: Browser, workers: WorkerProcesses
) -> None:
    execution = enqueue("steps", {"count": 10_000, "seconds": 0.05})
    workers.start()
    admin.open("admin:jobu_jobexecution_changelist")
    first = admin.wait(lambda: bar(admin), "a first step")
    admin.wait(lambda: bar(admin) > first, "a further step")
    cancel(execution)
    admin.wait(lambda: admin.text("#result_list .jobu-badge") == "cancelled", "the end")
    assert admin.find_all("[data-jobu-live]") == []
    assert admin.console() == []


def test_the_traceback_of_a_failure_is_read_and_the_execution_retried(
    admin: Browser, workers: WorkerProcesses
) -> None:
    execution = enqueue("fail", {"message": "no luck today"}, max_retry=1)
    workers.start()
    open_page(admin, execution)
    admin.wait(lambda: admin.text(".jobu-facts .jobu-badge") == "failed", "the failure")
    assert "ValueError: no luck today" in admin.text(".jobu-timeline pre")
    assert "raise ValueError(message)" in admin.text(".jobu-timeline pre")
    admin.find("button.jobu-act-retry").click()
    admin.wait(lambda: len(admin.find_all(".jobu-timeline pre")) == 2, "a second traceback")
    assert "Attempt 2" in admin.text(".jobu-timeline")
    assert admin.console() == []


def test_log_lines_appear_while_it_runs_and_rest_where_one_reads(admin: Browser) -> None:
    def log(*numbers: int, level: int = 20) -> None:
        now = database_now()
        LogLine.objects.bulk_create(
            LogLine(
                execution=execution,
                attempt=1,
                logged_at=now + timedelta(milliseconds=number),
                level=level,
                logger="shop",
                message=f"line {number}",
            )
            for number in numbers
        )

    execution = running()
    open_page(admin, execution)
    assert "Nothing was logged yet." in admin.text("#jobu-log")
    log(*range(100))
    admin.wait(lambda: len(admin.find_all(".jobu-lines tbody tr")) == 100, "the first lines")
    box = "const box = document.querySelector('.jobu-log'); return "
    at_end = box + "box.scrollHeight - box.scrollTop - box.clientHeight < 3"
    assert admin.script(at_end)
    admin.script("document.querySelector('.jobu-log').scrollTop = 0")
    log(100, level=40)
    admin.wait(lambda: len(admin.find_all(".jobu-lines tbody tr")) == 101, "a further line")
    assert admin.script(box + "box.scrollTop") == 0
    next(each for each in admin.find_all("#jobu-log nav a") if "ERROR" in each.text).click()
    admin.wait(lambda: admin.text(".jobu-lines tbody").endswith("line 100"), "the errors")
    assert len(admin.find_all(".jobu-lines tbody tr")) == 1
    log(101)
    log(102, level=40)
    admin.wait(lambda: len(admin.find_all(".jobu-lines tbody tr")) == 2, "a further error")
    assert admin.console() == []


def test_the_last_frames_of_a_traceback_are_seen_first(admin: Browser) -> None:
    lines = "".join(f"  File 'shop.py', line {n}, in step\n" for n in range(200))
    error = {"attempt": 1, "message": "x", "traceback": f"Traceback:\n{lines}ValueError: the end"}
    open_page(admin, finished(Status.FAILED, errors=[error]))
    admin.find(".jobu-timeline pre")
    hidden = """
    const box = document.querySelector('.jobu-tail').getBoundingClientRect();
    const text = document.querySelector('.jobu-tail pre').getBoundingClientRect();
    return [text.height > box.height, Math.abs(text.bottom - box.bottom) < 20];
    """
    assert admin.script(hidden) == [True, True]


def test_a_handler_is_enqueued_with_the_fields_of_its_params(admin: Browser) -> None:
    admin.open("admin:jobu_jobexecution_changelist")
    admin.find(".object-tools .addlink").click()
    Select(admin.find("#id_handler_name")).select_by_value("steps")
    admin.find("#id_params_count").send_keys("7")
    # The handler's own queue came with it.
    assert admin.find("#id_queue").get_attribute("value") == "default"
    admin.find("#id_delay").send_keys("5m")
    admin.find(".submit-row input").click()
    assert "Enqueued: " in admin.text(".messagelist .success")
    assert JobExecution.objects.get().params == {"count": 7}
    assert "in 5 min" in admin.text(".jobu-facts .jobu-badge") or "in 4 min" in admin.text(
        ".jobu-facts .jobu-badge"
    )
    assert admin.console() == []


def test_a_group_of_failures_is_retried_from_the_dashboard_on(admin: Browser) -> None:
    for number in range(3):
        finished(Status.FAILED, error_message=f"ValueError: order {number} is lost")
    finished(Status.FAILED, error_message="OSError: no route")
    admin.open("admin:jobu_dashboard_changelist", range="day")
    admin.find("#board-dead a").click()
    assert "range=day" in admin.driver.current_url
    assert admin.text(".field-failure .jobu-why") == "ValueError order … is lost"
    admin.find("button.jobu-act-retry").click()
    assert "Put 3 executions back into the queue" in admin.text(".jobu-question")
    admin.find(".submit-row input").click()
    assert admin.text(".messagelist .success") == "3 executions will run again."
    assert len(admin.find_all(".jobu-failures tbody tr")) == 1
    assert JobExecution.objects.filter(status=Status.PENDING).count() == 3
    assert admin.console() == []


def test_a_running_execution_is_cancelled(admin: Browser, workers: WorkerProcesses) -> None:
    execution = enqueue("steps", {"count": 10_000, "seconds": 0.1})
    workers.start()
    open_page(admin, execution)
    admin.wait(lambda: admin.text(".jobu-facts .jobu-badge") == "running", "the run")
    admin.wait(lambda: admin.find_all("button.jobu-act-cancel"), "the button")
    admin.find("button.jobu-act-cancel").click()
    admin.wait(lambda: admin.text(".jobu-facts .jobu-badge") == "cancelled", "the end")
    assert admin.console() == []


def test_all_that_match_a_filter_are_retried(admin: Browser) -> None:
    chosen = finished(Status.FAILED, handler_name="fail")
    fields = {f.attname: getattr(chosen, f.attname) for f in JobExecution._meta.concrete_fields}
    fields.pop("id")
    JobExecution.objects.bulk_create(JobExecution(**fields) for _ in range(2999))
    other = finished(Status.FAILED)
    admin.open("admin:jobu_jobexecution_changelist", status="FAILED", handler_name="fail")
    assert "3000 executions" in admin.text(".jobu-paging")
    admin.find("#action-toggle").click()
    admin.find(".actions .question a").click()
    Select(admin.find("select[name=action]")).select_by_value("retry")
    admin.find(".actions button").click()
    assert "Put 3,000 executions back into the queue" in admin.text(".jobu-question")
    admin.find(".submit-row input").click()
    assert admin.text(".messagelist .success") == "3,000 executions will run again."
    assert JobExecution.objects.filter(status=Status.PENDING).count() == 3000
    other.refresh_from_db()
    assert other.status == Status.FAILED
    assert admin.console() == []


def test_a_dead_letter_is_requeued_edited(admin: Browser) -> None:
    letter = dead_letter()
    admin.open("admin:jobu_deadletter_changelist")
    admin.find("#result_list th a").click()
    assert "No handler is named 'ecco'." in admin.text(".jobu-why")
    area = admin.find("#id_body")
    area.clear()
    area.send_keys('{"handler_name": "echo", "params": {"order": 1}}')
    admin.find(".submit-row input").click()
    admin.wait(lambda: admin.text(".jobu-facts .jobu-badge") == "pending", "the execution")
    letter.refresh_from_db()
    assert letter.execution == JobExecution.objects.get(params={"order": 1})
    assert admin.console() == []


def test_a_filter_is_chosen_from_a_list(admin: Browser) -> None:
    pending(handler_name="fail")
    mine = pending(handler_name="echo")
    admin.open("admin:jobu_jobexecution_changelist")
    select = admin.find("details[data-filter-title=handler] select")
    Select(select).select_by_visible_text("echo")
    admin.wait(lambda: len(admin.find_all("#result_list tbody tr")) == 1, "one row")
    assert f"#{mine.pk}" in admin.text("#result_list tbody")
    assert admin.console() == []


def test_a_user_without_permission_is_refused(browser: Browser, transactional_db: None) -> None:
    user = User.objects.create_user("reader", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_jobexecution"))
    browser.sign_in(user)
    execution = finished(Status.FAILED)
    open_page(browser, execution)
    browser.find(".jobu-timeline")
    assert browser.find_all(".object-tools form") == []
    browser.open("admin:jobu_jobexecution_retry", execution.pk)
    assert "403" in browser.driver.page_source
    browser.open("admin:jobu_cronjob_changelist")
    assert "403" in browser.driver.page_source


def test_who_may_only_publish_gets_the_fields_of_a_handler(
    browser: Browser, transactional_db: None
) -> None:
    browser.sign_in(user_with("publish_message"))
    browser.open("admin:jobu_publish")
    Select(browser.find("#id_handler_name")).select_by_value("sleep")
    browser.find("#id_params_seconds").send_keys("7")
    assert browser.console() == []


def test_markup_in_every_string_is_inert(admin: Browser) -> None:
    job = cron(name=SCRIPT, description=SCRIPT, handler_params={SCRIPT: SCRIPT}, queue=SCRIPT[:99])
    error = dict.fromkeys(("attempt", "at", "process", "status", "message", "traceback"), SCRIPT)
    fields: dict[str, Any] = {
        "job": job,
        "handler_name": SCRIPT,
        "params": {SCRIPT: SCRIPT},
        "error_message": SCRIPT,
        "progress": {"done": 1, "total": 2, "note": SCRIPT},
    }
    worker = process(host=SCRIPT, queues=[SCRIPT], slots=1)
    runs = running(worker.pk, **fields)
    failed = finished(Status.FAILED, **fields, result=SCRIPT, errors=[error])
    log_line(failed, logger=SCRIPT, message=SCRIPT)
    letter = dead_letter(SCRIPT.encode(), source_id=SCRIPT, reason=SCRIPT)
    for model in ("cronjob", "jobexecution", "process", "deadletter"):
        browser_is_fine(admin, lambda m=model: admin.open(f"admin:jobu_{m}_changelist"))
    for row, page in [
        (job, "change"),
        (job, "run"),
        (runs, "change"),
        (failed, "change"),
        (failed, "retry"),
        (worker, "change"),
        (letter, "change"),
    ]:
        browser_is_fine(admin, lambda r=row, p=page: open_page(admin, r, p))


def browser_is_fine(browser: Browser, visit: Any) -> None:
    visit()
    # What a script puts on the page comes a little later: the preview, the fields, the live cells.
    browser.wait(
        lambda: browser.script("return document.readyState") == "complete", "the whole page"
    )
    assert browser.driver.title != "owned"
    assert browser.find_all("img[src=x]") == []
    assert browser.console() == []


def test_the_pages_speak_korean(admin: Browser) -> None:
    job = cron()
    failed = finished(Status.FAILED, job=job)
    admin.speak("ko")
    admin.open("admin:jobu_cronjob_changelist")
    assert "매일 02:00" in admin.text("#result_list")
    open_page(admin, job)
    admin.wait(lambda: "매일 02:00" in admin.text("#jobu-preview"), "the preview in Korean")
    open_page(admin, failed)
    assert "타임라인" in admin.text("#content")
    admin.open("admin:jobu_jobexecution_changelist")
    assert "실패" in admin.text("#result_list")
    assert admin.console() == []


def test_the_pages_fit_a_phone(admin: Browser) -> None:
    job = cron(handler_name="steps", handler_params={"count": 3})
    failed = finished(Status.FAILED, job=job, error_message="no luck " * 40)
    running(process(slots=3).pk, progress={"done": 1, "total": 3, "note": "x"})
    admin.resize(390, 844)
    for model in ("cronjob", "jobexecution", "process", "deadletter"):
        admin.open(f"admin:jobu_{model}_changelist")
        assert too_wide(admin) <= 0, model
    for row in (job, failed):
        open_page(admin, row)
        assert too_wide(admin) <= 0, row
    assert CronJob.objects.count() == 1


def test_huge_values_and_long_names_fit_a_phone(admin: Browser) -> None:
    huge, name = {"text": "x" * 200_000}, "name" * 50
    job = cron(name=name, handler_params=huge)
    worker = process(host=name)
    error = {"attempt": 1, "message": name * 20, "traceback": name * 1_000}
    failed = finished(
        Status.FAILED, handler_name=name, params=huge, result=huge, errors=[error], job=job
    )
    letter = dead_letter(b"x" * 200_000, source_id=name, reason=name * 10)
    admin.resize(390, 844)
    for row, page in [
        (job, "change"),
        (job, "run"),
        (failed, "change"),
        (failed, "retry"),
        (worker, "change"),
        (letter, "change"),
    ]:
        open_page(admin, row, page)
        assert too_wide(admin) <= 0, (row, page)
        assert admin.console() == []
    open_page(admin, job, "run")
    assert not admin.find("textarea").is_enabled()
    assert admin.find_all(".jobu-format") == []


LONG_NAME = "Send the report about all that was sold and returned to each of the regional managers"
# Lines of a title that lie over or under a button.
HIDDEN_LINES = """
const buttons = document.querySelectorAll('.object-tools a, .object-tools button');
const lines = [...document.querySelectorAll('#content > h1, #content > h2')].flatMap((title) => {
    const text = document.createRange();
    text.selectNodeContents(title);
    return [...text.getClientRects()];
});
return lines.filter((line) => [...buttons].some((button) => {
    const box = button.getBoundingClientRect();
    return line.left < box.right && box.left < line.right
        && line.top < box.bottom && box.top < line.bottom;
})).length;
"""


@pytest.mark.parametrize("width", [1400, 1280, 800, 390])
def test_the_buttons_of_a_page_leave_its_title_alone(admin: Browser, width: int) -> None:
    admin.resize(width, 900)
    for name in ("nightly", LONG_NAME):
        job = cron(name=name)
        failed = finished(Status.FAILED, job=job, handler_name=name)
        letter = dead_letter(source_id=name)
        for row in (job, failed, letter):
            open_page(admin, row)
            admin.find(".object-tools")
            assert admin.script(HIDDEN_LINES) == 0, row


def too_wide(browser: Browser) -> int:
    """Return by how many pixels the page is wider than the window."""
    return int(browser.script("return document.documentElement.scrollWidth - window.innerWidth"))
