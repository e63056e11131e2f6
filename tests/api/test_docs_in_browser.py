"""The page of the API's documentation in a real browser, under a strict policy."""

from __future__ import annotations

from typing import Any

import pytest

from jobu import enqueue
from jobu.models import JobExecution
from tests.api.callers import user
from tests.browser import Browser
from tests.builders import cron

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOSTILE = "</script><script>window.hit = 1</script><img src=x onerror='window.hit = 1'>"


@pytest.fixture
def docs(browser: Browser) -> Browser:
    browser.sign_in(user("root", is_superuser=True))
    browser.open("jobu-api-docs")
    browser.find(".opblock")
    return browser


def execute(browser: Browser, operation: str, body: str | None = None) -> str:
    """Try an operation out and return what the page shows of the answer."""
    block = f"[id$='-{operation}']"
    browser.find(f"{block} .opblock-summary-control").click()
    browser.find(f"{block} .try-out__btn").click()
    if body is not None:
        editor: Any = browser.find(f"{block} textarea")
        editor.clear()
        editor.send_keys(body)
    browser.script("arguments[0].click()", browser.find(f"{block} button.execute"))
    return browser.text(f"{block} .live-responses-table .response-col_description pre")


def test_a_person_can_call_the_api_from_its_documentation(docs: Browser) -> None:
    shown = execute(docs, "enqueue_job", '{"handler_name": "echo", "params": {"a": 1}}')
    execution = JobExecution.objects.get()
    assert f'"id": {execution.pk}' in shown
    assert execution.params == {"a": 1}
    assert docs.console() == []


def test_what_handlers_and_people_wrote_is_shown_and_not_run(docs: Browser) -> None:
    enqueue("echo", {"text": HOSTILE}, queue=HOSTILE[:80])
    cron(HOSTILE, description=HOSTILE)
    for operation in ("list_jobs", "list_crons"):
        assert "<script>window.hit = 1" in execute(docs, operation)
    assert docs.script("return window.hit") is None
    assert docs.console() == []
