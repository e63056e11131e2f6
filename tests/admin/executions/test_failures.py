"""The page of failures: groups, their executions, and what is done to all of one."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from jobu.admin.executions import bulk
from jobu.models import JobExecution, Status
from tests.admin.executions.test_bulk import confirm, statuses
from tests.admin.pages import history, list_of, page_of, staff, told
from tests.builders import finished

pytestmark = pytest.mark.django_db

FAILURES = reverse("admin:jobu_failures")


def fail(number: int = 3, error: str = "ValueError: order {}", **fields: Any) -> list[int]:
    made = [finished(Status.FAILED, error_message=error.format(n), **fields) for n in range(number)]
    return [each.pk for each in made]


def row(client: Client, number: int = 0, **query: str) -> Any:
    return client.get(FAILURES, query).context["rows"][number]


def ids(client: Client, address: str) -> list[int]:
    return [each.pk for each in client.get(address).context["cl"].result_list]


def press(client: Client, name: str, **query: str) -> Any:
    """Press the button of the first group, and answer the question."""
    addresses = {action.name: address for action, address in row(client, **query)["actions"]}
    return client.post(addresses[name], {"everything": "1", "back": FAILURES})


def test_failures_are_shown_by_reason_and_lead_to_their_executions(admin_client: Client) -> None:
    mine = fail(3)
    fail(1, error="OSError: no route")
    page = admin_client.get(FAILURES).text
    assert "4 executions failed for good." in page
    assert "order …" in page
    assert ids(admin_client, row(admin_client)["address"]) == mine[::-1]
    assert "echo: ValueError order …" in admin_client.get(row(admin_client)["address"]).text


def test_a_range_of_time_and_a_handler_narrow_them(admin_client: Client) -> None:
    old = fail(2, days_ago=3)
    fail(1, handler_name="fail")
    new = fail(1)
    assert ids(admin_client, row(admin_client)["address"]) == [*new, *old[::-1]]
    assert ids(admin_client, row(admin_client, range="day")["address"]) == new
    assert ids(admin_client, row(admin_client, range="week")["address"]) == [*new, *old[::-1]]
    page = admin_client.get(FAILURES, {"handler_name": "fail"})
    assert [each["group"].handler_name for each in page.context["rows"]] == ["fail"]


def test_nothing_failed_is_said(admin_client: Client) -> None:
    finished()
    assert "Nothing failed for good." in admin_client.get(FAILURES).text


def test_a_group_is_retried_and_nothing_else(admin_client: Client) -> None:
    fail(3)
    fail(1, error="OSError: no route")
    question = press(admin_client, "retry")
    assert "Put 3 executions back into the queue" in question.text
    assert "failure = echo: ValueError order …" in question.text
    page = confirm(admin_client, question)
    assert told(page) == ["3 executions will run again."]
    assert page.redirect_chain == [(FAILURES, 302)]
    assert statuses() == ["PENDING"] * 3 + ["FAILED"]
    assert len(history()) == 3


def test_a_group_is_discarded_in_the_range_that_was_looked_at(admin_client: Client) -> None:
    old = fail(1, days_ago=3)
    fail(2)
    question = press(admin_client, "discard", range="hour")
    assert "Delete 2 finished executions" in question.text
    confirm(admin_client, question)
    assert list(JobExecution.objects.values_list("id", flat=True)) == old


def test_a_large_group_goes_on_in_the_next_request(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "BATCH_SIZE", 2)
    monkeypatch.setattr(bulk, "SECONDS_PER_REQUEST", -1)
    fail(5)
    page = confirm(admin_client, press(admin_client, "retry"))
    while page.context.get("is_going_on"):
        work = page.context["work"]
        page = confirm(admin_client, page, after=work.after, done=work.done)
    assert told(page) == ["5 executions will run again."]
    assert statuses() == ["PENDING"] * 5


def test_who_may_look_may_not_act() -> None:
    fail(1)
    reader = staff("view_jobexecution")
    assert row(reader)["actions"] == []
    helper = staff("view_jobexecution", "retry_jobexecution")
    assert [action.name for action, _ in row(helper)["actions"]] == ["retry"]
    assert staff("retry_jobexecution", "view_cronjob").get(FAILURES).status_code == 403
    assert Client().get(FAILURES).status_code == 302


@pytest.mark.parametrize(
    "query", [{"failure": "x"}, {"failure": "0" * 16, "range": "century"}, {"failure": "\0"}]
)
def test_a_group_that_makes_no_sense_is_an_error_and_not_everything(
    admin_client: Client, query: dict[str, str]
) -> None:
    fail(1)
    page = admin_client.get(list_of(JobExecution, **query), follow=True)
    assert page.redirect_chain
    assert len(told(page)) == 1


def test_a_group_of_which_nothing_is_left_is_empty(admin_client: Client) -> None:
    fail(1)
    assert ids(admin_client, list_of(JobExecution, failure="0" * 16)) == []


def test_the_page_of_one_leads_to_all_that_failed_like_it(admin_client: Client) -> None:
    mine = fail(2)
    page = admin_client.get(page_of(JobExecution.objects.get(pk=mine[0])))
    key = page.context["failure"]
    address = f"{list_of(JobExecution)}?status=dead&amp;failure={key}"
    assert address in page.text
    assert ids(admin_client, address.replace("&amp;", "&")) == mine[::-1]
    assert page_of(finished()) not in page.text
