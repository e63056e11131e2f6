"""The search in the list: by number, key, param and error, each bounded."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from jobu import handler
from jobu.models import JobExecution, Status
from jobu.reading import pages
from tests.admin.pages import list_of, staff, told
from tests.builders import finished, pending

pytestmark = pytest.mark.django_db


def found(client: Client, text: str, **query: Any) -> list[int]:
    page = client.get(list_of(JobExecution, q=text, **query))
    assert page.status_code == 200
    return [execution.pk for execution in page.context["cl"].result_list]


def test_the_text_of_an_error_finds_what_failed(admin_client: Client) -> None:
    failed = finished(Status.FAILED, error_message="ValueError: the Supplier did not answer")
    late = finished(Status.TIMEOUT, error_message="too slow, 100% sure", queue="mail")
    retrying = pending(error_message="ValueError: the supplier did not answer", retry_count=1)
    finished()
    assert found(admin_client, "supplier did not") == [failed.pk]
    assert found(admin_client, "supplier did not", status="PENDING") == [retrying.pk]
    assert found(admin_client, "supplier did not", status="SUCCESS") == []
    assert found(admin_client, "100% sure") == [late.pk]
    assert found(admin_client, "100_ sure") == []
    assert found(admin_client, "too slow", queue="mail") == [late.pk]
    assert found(admin_client, "too slow", queue="default") == []


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"order": 42}, "order=42"),
        ({"order": "42"}, "order = 42"),
        ({"to": "ada@example.com"}, "to=ada@example.com"),
        ({"to": 'a "b" \\ c'}, 'to=a "b" \\ c'),
        ({"name": "민지"}, "name=민지"),
        ({"is_new": True}, "is_new=true"),
        ({"rate": 1.5}, "rate=1.5"),
        ({"key": "a=b"}, "key=a=b"),
        ({"x__regex": "."}, "x__regex=."),
    ],
)
def test_the_value_of_a_param_finds_its_executions(
    admin_client: Client, params: dict[str, Any], text: str
) -> None:
    mine = pending(params={**params, "other": [1]})
    finished(params={"order": 421, "to": "bob", "is_new": False})
    assert found(admin_client, text) == [mine.pk]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "order=",
            "=42",
            "order=NaN",
            "order=1e999",
            'order="\\ud800"',
            "order=[1]",
            "order=null",
        ),
        *("a=" + "9" * 200, "a-b=1", "_=%", "x" * 300, "a=" + "x" * 300, "a=" + "(" * 200),
    ],
)
def test_what_finds_nothing_is_no_error(admin_client: Client, text: str) -> None:
    finished(Status.FAILED, params={"order": 7}, error_message="no luck")
    assert found(admin_client, text) == []


def test_a_dedupe_key_wins_over_words(admin_client: Client) -> None:
    keyed = pending(dedupe_key="welcome=42")
    pending(params={"welcome": 42})
    finished(Status.FAILED, error_message="welcome=42 went wrong")
    assert found(admin_client, "welcome=42") == [keyed.pk]


def test_a_search_looks_at_no_more_than_its_bound_and_says_so(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "LOOKED_AT", 3)
    old = pending(params={"order": 42})
    for _ in range(4):
        pending(params={"order": 7})
    page = admin_client.get(list_of(JobExecution, q="order=42"))
    assert "Those that were looked through end here" in page.text
    link = page.context["cl"].older_link
    assert [
        each.pk for each in admin_client.get(list_of(JobExecution) + link).context["cl"].result_list
    ] == [old.pk]


@pytest.mark.usefixtures("temporary_handlers")
def test_what_one_may_not_see_one_cannot_search_for(admin_client: Client) -> None:
    @handler("charge", sensitive=("card",))
    def charge(card: str) -> None: ...

    mine = pending(handler_name="charge", params={"card": "4111", "password": "x", "user": "ann"})
    reader = staff("view_jobexecution")
    for text in ("card=4111", "password=x", "userPassword=x"):
        page = reader.get(list_of(JobExecution, q=text), follow=True)
        assert "permission to see sensitive params" in told(page)[0]
    assert found(reader, "user=ann") == [mine.pk]
    assert found(admin_client, "card=4111") == [mine.pk]
