"""Each list fits its window at the widths that people have, whatever its rows are called."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from jobu.dialects import DatabaseNow
from jobu.models import DeadLetter, Status
from tests.browser import Browser
from tests.builders import cron, finished, pending, process, running

pytestmark = pytest.mark.browser

LONG = "Send the report about all that was sold and returned to each of the regional managers"
UNBROKEN = "x" * 180
# What reaches beyond its cell or the window, and what was to be on one line and is not.
MISFITS = """
const found = [];
if (document.documentElement.scrollWidth > innerWidth) found.push('the page');
for (const each of document.querySelectorAll('.results')) {
    if (each.scrollWidth > each.clientWidth) found.push('the list');
}
const parts = 'a, button, code, time, meter, progress, .jobu-badge, .jobu-strip, .jobu-cut';
for (const part of document.querySelectorAll(`#result_list tbody :is(${parts})`)) {
    const box = part.getBoundingClientRect();
    const cell = part.closest('td, th').getBoundingClientRect();
    if (box.right > Math.min(cell.right, innerWidth) + 1 || box.left < cell.left - 1) {
        const hides = part.closest('.jobu-line, .jobu-word, .jobu-cut');
        if (!hides || hides === part) found.push(part.outerHTML);
    }
}
for (const code of document.querySelectorAll('#result_list code')) {
    if (code.getBoundingClientRect().height > 24) found.push(`${code.textContent} is broken`);
}
return found;
"""
IS_CUT = """
const cut = document.querySelector(arguments[0]);
return [cut.scrollHeight > cut.clientHeight || cut.scrollWidth > cut.clientWidth, cut.title];
"""


@pytest.fixture
def admin(browser: Browser, admin_user: User) -> Browser:
    browser.sign_in(admin_user)
    return browser


@pytest.fixture
def _everything() -> None:
    """Fill the lists with what is hard to fit: long names, a paused cron job, a long problem."""
    worker = process(slots=5, host=UNBROKEN, queues=[UNBROKEN[:100], "mail"])
    times = {"started_at": DatabaseNow(-100), "available_at": DatabaseNow(-40_000)}
    jobs = [
        cron(name="rates", cron_expression="*/10 * * * *", timezone="America/New_York"),
        cron(name=LONG, cron_expression="0,5,10,15,20,25,30 0-6,18-23 1-15 1,3,5,7 mon-fri"),
        cron(name=UNBROKEN, handler_name="y" * 150, timezone="America/Argentina/Buenos_Aires"),
        cron(name="paused", is_enabled=False, problem="Paused: its last 5 executions ended dead."),
        cron(name="broken", problem=f"No handler is named {UNBROKEN}. " * 5),
    ]
    for job in jobs:
        for number in range(14):
            finished(Status.FAILED if number % 3 else Status.SUCCESS, job=job, **times)
    for message in (f"ValueError: {LONG} " * 9, f"ValueError: {UNBROKEN * 5}"):
        finished(
            Status.FAILED,
            handler_name="z" * 120,
            queue=UNBROKEN[:100],
            error_message=message,
            attempt=10,
            job=jobs[1],
            **times,
        )
    running(worker.pk, handler_name=UNBROKEN, progress={"done": 1, "total": 3, "note": UNBROKEN})
    pending(available_at=DatabaseNow(90_000), retry_count=1, max_retry=10)
    DeadLetter.objects.create(adapter="kafka", source_id=UNBROKEN, body=b"x", reason=UNBROKEN * 3)


@pytest.mark.parametrize("width", [1280, 1400, 390])
@pytest.mark.usefixtures("_everything")
def test_nothing_overflows_a_list(admin: Browser, width: int) -> None:
    admin.resize(width, 900)
    for scheme in ("light", "dark"):
        admin.prefer(scheme)
        for language in ("en", "ko"):
            admin.speak(language)
            for model in ("cronjob", "process", "deadletter"):
                admin.open(f"admin:jobu_{model}_changelist")
                assert admin.script(MISFITS) == [], (model, scheme, language)
            for query in ({}, {"status": "dead"}):
                admin.open("admin:jobu_jobexecution_changelist", **query)
                assert admin.script(MISFITS) == [], (query, scheme, language)
            admin.open("admin:jobu_failures")
            assert admin.script(MISFITS) == [], ("failures", scheme, language)
    assert admin.console() == []


@pytest.mark.usefixtures("_everything")
def test_what_is_cut_is_told_by_a_tooltip(admin: Browser) -> None:
    for model, selector, text in [
        ("cronjob", f'.jobu-cut[title="{LONG}"]', LONG),
        ("cronjob", 'code[title^="0,5,10"]', "0,5,10,15,20,25,30 0-6,18-23 1-15 1,3,5,7 mon-fri"),
        ("jobexecution", f'code[title="{"z" * 120}"]', "z" * 120),
    ]:
        admin.resize(1280, 900)
        admin.open(f"admin:jobu_{model}_changelist")
        assert admin.script(IS_CUT, selector) == [True, text]


@pytest.mark.usefixtures("_everything")
def test_the_error_has_the_widest_column(admin: Browser) -> None:
    admin.resize(1280, 900)
    admin.open("admin:jobu_jobexecution_changelist", status="dead")
    widths = """
    const cell = document.querySelector('.jobu-why').closest('td');
    return [...cell.parentElement.children].map((each) => each === cell ? 0 : each.offsetWidth)
        .every((width) => width < cell.offsetWidth);
    """
    assert admin.script(widths)


@pytest.mark.usefixtures("_everything")
def test_a_phone_shows_cards(admin: Browser) -> None:
    admin.resize(390, 844)
    for model in ("cronjob", "jobexecution"):
        admin.open(f"admin:jobu_{model}_changelist")
        assert admin.find_all("#result_list thead th.sortable") == [] or not any(
            each.is_displayed() for each in admin.find_all("#result_list thead th.sortable")
        )
        assert admin.find("#action-toggle").is_displayed()
    admin.open("admin:jobu_cronjob_changelist")
    assert all(each.is_displayed() for each in admin.find_all(".jobu-switch, .jobu-tool"))
    assert admin.find(".field-next_run .jobu-label").is_displayed()
