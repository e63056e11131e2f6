"""Retry, cancel, discard and raise: one, some, or all that match the filter."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from jobu.admin import JobExecutionAdmin
from jobu.admin.executions import bulk
from jobu.models import JobExecution, Status
from tests.admin.pages import act, history, list_of, page_of, staff, told
from tests.builders import column, finished, pending, running

pytestmark = pytest.mark.django_db


def statuses() -> list[str]:
    return list(JobExecution.objects.order_by("id").values_list("status", flat=True))


def ask(
    client: Client, verb: str, *executions: JobExecution, across: bool = False, **query: Any
) -> Any:
    """Choose an action in the list."""
    form = {
        "action": verb,
        "_selected_action": [execution.pk for execution in executions],
        "select_across": "1" if across else "0",
    }
    return client.post(list_of(JobExecution, **query), form)


def confirm(client: Client, page: Any, **further: Any) -> Any:
    """Press the button on the page that asks."""
    form = {
        "confirmed": "1",
        "until": page.context["work"].until,
        "ids": page.context["ids"],
        "back": page.context["back"],
        **({"everything": "1"} if page.context["everything"] else {}),
        **further,
    }
    return client.post(page.context["address"], form, follow=True)


def test_a_selection_is_counted_before_it_is_retried(admin_client: Client) -> None:
    first, second, other = (finished(Status.FAILED) for _ in range(3))
    page = ask(admin_client, "retry", first, second, pending())
    assert "Put 2 executions back into the queue" in page.text
    assert "PENDING" not in statuses()[:3]
    page = confirm(admin_client, page)
    assert told(page) == ["2 executions will run again."]
    assert statuses() == ["PENDING", "PENDING", "FAILED", "PENDING"]
    assert history() == [("admin", str(pk), "Retried.") for pk in (first.pk, second.pk)]
    assert other.pk


def test_all_that_match_the_filter_are_retried_and_nothing_else(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "BATCH_SIZE", 3)
    chosen = [finished(Status.FAILED, handler_name="fail") for _ in range(7)]
    finished(Status.FAILED, handler_name="echo")
    query = {"status": "FAILED", "handler_name": "fail"}
    page = ask(admin_client, "retry", chosen[0], across=True, **query)
    assert "Put 7 executions back" in page.text
    late = finished(Status.FAILED, handler_name="fail")
    page = confirm(admin_client, page)
    assert told(page) == ["7 executions will run again."]
    assert statuses() == ["PENDING"] * 7 + ["FAILED", "FAILED"]
    assert column(late, "status") == Status.FAILED
    assert len(history()) == 7


def test_long_work_goes_on_in_the_next_request(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "BATCH_SIZE", 2)
    monkeypatch.setattr(bulk, "SECONDS_PER_REQUEST", -1)
    first, *_others = [finished(Status.FAILED) for _ in range(5)]
    page = confirm(admin_client, ask(admin_client, "retry", first, across=True, status="FAILED"))
    rounds = 0
    while page.context.get("is_going_on"):
        rounds += 1
        assert "data-jobu-go-on" in page.text
        work = page.context["work"]
        page = confirm(admin_client, page, after=work.after, done=work.done)
    assert rounds == 2
    assert told(page) == ["5 executions will run again."]
    assert statuses() == ["PENDING"] * 5


def test_a_running_and_a_pending_one_are_cancelled(admin_client: Client) -> None:
    waits, runs = pending(), running()
    page = ask(admin_client, "cancel", waits, runs, finished())
    assert "Cancel 2 executions?" in page.text
    confirm(admin_client, page)
    assert column(waits, "status") == Status.CANCELLED
    assert column(runs, "cancel_requested")


def test_what_runs_or_waits_is_not_discarded(admin_client: Client) -> None:
    page = ask(admin_client, "discard", running(), pending(), finished(Status.FAILED))
    assert "Delete 1 finished execution" in page.text
    confirm(admin_client, page)
    assert statuses() == ["RUNNING", "PENDING"]
    page = ask(admin_client, "discard", *JobExecution.objects.all())
    assert "None of them can be" in page.text


def test_the_priority_is_raised_by_as_much_as_is_asked_for(admin_client: Client) -> None:
    execution = pending(priority=1)
    page = confirm(admin_client, ask(admin_client, "raise_priority", execution), number="41")
    assert told(page) == ["The priority of 1 execution was raised."]
    assert column(execution, "priority") == 42


def test_the_page_of_one_acts_with_one_click(admin_client: Client) -> None:
    execution = finished(Status.FAILED)
    page = admin_client.get(page_of(execution)).text
    assert act("retry") in page
    assert act("cancel") not in page
    form = {"ids": execution.pk, "confirmed": "1", "back": page_of(execution)}
    page = admin_client.post(act("retry"), form, follow=True)
    assert page.redirect_chain == [(page_of(execution), 302)]
    assert column(execution, "status") == Status.PENDING
    page = admin_client.post(act("retry"), form, follow=True)
    assert "None of them can be" in told(page)[0]


@pytest.mark.parametrize("form", [{}, {"ids": "x"}, {"ids": ["", "10" * 20]}])
def test_a_selection_of_nothing_is_not_everything(admin_client: Client, form: Any) -> None:
    finished(Status.FAILED)
    admin_client.post(act("retry"), {**form, "confirmed": "1"})
    assert statuses() == ["FAILED"]


def test_a_filter_that_makes_no_sense_does_nothing(admin_client: Client) -> None:
    finished(Status.FAILED)
    form = {"everything": "1", "confirmed": "1"}
    page = admin_client.post(act("retry", **{"from": "yesterday"}), form, follow=True)
    assert told(page) == ["'yesterday' is not a date and time"]
    assert statuses() == ["FAILED"]


def test_nobody_is_sent_elsewhere_afterwards(admin_client: Client) -> None:
    form = {"ids": finished(Status.FAILED).pk, "confirmed": "1", "back": "https://evil.example/"}
    assert admin_client.post(act("retry"), form).headers["Location"] == list_of(JobExecution)


def test_what_cannot_be_written_down_is_not_done(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object) -> None:
        raise OSError("no history")

    execution = finished(Status.FAILED)
    monkeypatch.setattr(JobExecutionAdmin, "record", broken)
    with pytest.raises(OSError, match="no history"):
        admin_client.post(act("retry"), {"ids": execution.pk, "confirmed": "1"})
    assert column(execution, "status") == Status.FAILED


def test_acting_takes_a_post_and_a_token(admin_client: Client) -> None:
    execution = finished(Status.FAILED)
    assert admin_client.get(act("retry")).status_code == 405
    assert admin_client.post(act("explode")).status_code == 404
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = admin_client.cookies
    form = {"ids": execution.pk, "confirmed": "1"}
    assert strict.post(act("retry"), form).status_code == 403
    assert column(execution, "status") == Status.FAILED


@pytest.mark.parametrize(
    ("verb", "permission"),
    [
        ("retry", "retry_jobexecution"),
        ("cancel", "cancel_jobexecution"),
        ("discard", "delete_jobexecution"),
        ("raise_priority", "change_jobexecution"),
    ],
)
def test_each_verb_has_its_permission(verb: str, permission: str) -> None:
    rows = {"retry": finished(Status.FAILED), "cancel": running(), "raise_priority": pending()}
    execution = rows.get(verb, rows["retry"])
    form = {"ids": execution.pk, "confirmed": "1"}
    others = {"retry_jobexecution", "cancel_jobexecution", "delete_jobexecution"} - {permission}
    stranger = staff("view_jobexecution", *others)
    assert act(verb) not in stranger.get(page_of(execution)).text
    assert f'value="{verb}"' not in stranger.get(list_of(JobExecution)).text
    assert stranger.post(act(verb), form).status_code == 403
    friend = staff("view_jobexecution", permission)
    assert act(verb) in friend.get(page_of(execution)).text
    assert f'value="{verb}"' in friend.get(list_of(JobExecution)).text
    assert friend.post(act(verb), form).status_code == 302
    # Permission to act is not permission to look.
    assert staff(permission).post(act(verb), form).status_code in (403, 302)


def test_an_execution_is_retried_with_other_params(admin_client: Client) -> None:
    execution = finished(Status.FAILED, handler_name="fail", params={"message": "old"})
    address = page_of(execution, "retry")
    assert "&quot;message&quot;: &quot;old&quot;" in admin_client.get(address).text
    page = admin_client.post(address, {"params": '{"message": 7}'})
    assert "message must be a str" in page.text
    page = admin_client.post(address, {"params": "{nonsense"})
    assert "This is not JSON" in page.text
    assert statuses() == ["FAILED"]
    page = admin_client.post(address, {"params": '{"message": "new"}'}, follow=True)
    assert told(page) == ["The execution will run again."]
    assert (column(execution, "params"), statuses()) == ({"message": "new"}, ["PENDING"])
    [(_who, _row, note)] = history()
    assert note == "Retried with other params: message."
    page = admin_client.post(address, {"params": "{}"}, follow=True)
    assert "neither dead nor cancelled" in told(page)[0]
    assert column(execution, "params") == {"message": "new"}
    assert staff("view_jobexecution").get(address).status_code == 403
