"""What an execution waits for, as it changes while one looks."""

from __future__ import annotations

from typing import Any

import pytest

from jobu.models import JobExecution, Status
from tests.browser import Browser
from tests.builders import pending, process

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser]


def test_the_reason_goes_when_it_holds_no_longer(browser: Browser, admin_user: Any) -> None:
    process(kind="dispatcher")
    execution = pending(queue="maill")
    browser.sign_in(admin_user)
    browser.open("admin:jobu_jobexecution_changelist")
    assert "“maill”" in browser.text(".jobu-troubles")
    assert "No worker is alive" in browser.text(".jobu-waits")
    process(queues=["maill"], slots=1)
    browser.wait(lambda: not browser.find_all(".jobu-waits"), "the reason to go")
    JobExecution.objects.filter(pk=execution.pk).update(
        status=Status.CANCELLED, finished_at=execution.created_at
    )
    browser.wait(lambda: browser.find_all(".jobu-cancelled"), "the end")
