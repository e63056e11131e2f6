"""The log lines on an execution's page: by level, page by page, and as they come."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from jobu.admin.executions import log_lines
from jobu.models import JobExecution, LogLine
from tests.admin.pages import page_of, staff
from tests.builders import database_now, finished, running

pytestmark = pytest.mark.django_db


def log(execution: JobExecution, *numbers: int, attempt: int = 1, level: int = 20) -> None:
    start = database_now() - timedelta(hours=1)
    LogLine.objects.bulk_create(
        LogLine(
            execution=execution,
            attempt=attempt,
            logged_at=start + timedelta(seconds=number),
            level=level,
            logger="shop",
            message=f"line {attempt}.{number}",
        )
        for number in numbers
    )


def seen(client: Client, address: str) -> list[str]:
    return [line.message for line, _cursor in client.get(address).context["lines"]]


def test_pages_of_lines_follow_each_other_and_begin_with_the_last(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_lines, "_PAGE", 3)
    execution = finished()
    log(execution, 1, 2, 3)
    log(execution, 1, 2, attempt=2)
    own = page_of(execution)
    assert seen(admin_client, own) == ["line 1.3", "line 2.1", "line 2.2"]
    last = admin_client.get(own).context
    assert (last["lines_later"], last["lines_last"]) == ("", "")
    earlier = admin_client.get(own + last["lines_earlier"]).context
    assert [line.message for line, _ in earlier["lines"]] == ["line 1.1", "line 1.2"]
    assert earlier["lines_earlier"] == ""
    assert seen(admin_client, own + earlier["lines_later"]) == ["line 1.3", "line 2.1", "line 2.2"]
    assert earlier["lines_last"] == "?#jobu-log"


def test_lines_are_filtered_by_level_on_each_page(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_lines, "_PAGE", 1)
    execution = finished()
    log(execution, 1, 4, level=logging.DEBUG)
    log(execution, 2, 5, level=logging.WARNING)
    log(execution, 3, level=logging.ERROR)
    own = page_of(execution)
    assert seen(admin_client, f"{own}?level={logging.ERROR}") == ["line 1.3"]
    page = admin_client.get(f"{own}?level={logging.WARNING}").context
    assert [line.message for line, _ in page["lines"]] == ["line 1.5"]
    page = admin_client.get(own + page["lines_earlier"]).context
    assert [line.message for line, _ in page["lines"]] == ["line 1.3"]
    assert seen(admin_client, f"{own}?level=50") == []
    assert "No line of this level." in admin_client.get(f"{own}?level=50").text


def test_a_script_asks_for_the_lines_after_the_last_one(admin_client: Client) -> None:
    execution = running()
    address = reverse("admin:jobu_jobexecution_lines", args=[execution.pk])
    page = admin_client.get(page_of(execution)).text
    assert f'data-jobu-lines="{address}"' in page
    assert "Nothing was logged yet." in page
    log(execution, 1, 2)
    answer = admin_client.get(address, {"after": "0.0"}).text
    assert answer.index("line 1.1") < answer.index("line 1.2")
    line = LogLine.objects.get(message="line 1.1")
    answer = admin_client.get(address, {"after": log_lines.cursor_of(line)}).text
    assert "line 1.1" not in answer
    assert "line 1.2" in answer
    assert "data-follow" not in admin_client.get(page_of(finished())).text


@pytest.mark.parametrize(
    "value", ["", "x", "1", "1.x", "1.-5", "1." + "9" * 18, "9" * 18 + ".1", "\0"]
)
@pytest.mark.parametrize("name", ["before", "after", "level"])
def test_a_place_that_makes_no_sense_is_none(admin_client: Client, name: str, value: Any) -> None:
    execution = running()
    log(execution, 1)
    address = reverse("admin:jobu_jobexecution_lines", args=[execution.pk])
    for page in (address, page_of(execution)):
        assert admin_client.get(page, {name: value}).status_code == 200


def test_lines_need_the_permission_to_view() -> None:
    execution = running()
    address = reverse("admin:jobu_jobexecution_lines", args=[execution.pk])
    assert staff("view_cronjob").get(address).status_code == 403
    assert staff("view_jobexecution").get(address).status_code == 200
    assert (
        staff("view_jobexecution").get(address.replace(str(execution.pk), "99999")).status_code
        == 404
    )
