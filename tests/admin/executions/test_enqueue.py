"""Enqueue from the admin: any handler, or an execution like another."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from jobu import handler
from jobu.masking import MASK
from jobu.models import JobExecution, Status
from jobu.models.job_execution import ParamSource
from tests.admin.pages import history, list_of, page_of, staff, told
from tests.builders import database_now, finished, pending

pytestmark = pytest.mark.django_db

ENQUEUE = reverse("admin:jobu_jobexecution_add")
HANDLER = reverse("admin:jobu_cronjob_handler")


def again(execution: JobExecution) -> str:
    return reverse("admin:jobu_jobexecution_add", query={"copy": execution.pk})


def test_an_execution_is_enqueued_by_hand(admin_client: Client) -> None:
    assert ENQUEUE in admin_client.get(list_of(JobExecution)).text
    assert HANDLER in admin_client.get(ENQUEUE).text
    form = {"handler_name": "sleep", "params": '{"seconds": 1}', "queue": "mail", "priority": "7"}
    page = admin_client.post(ENQUEUE, form, follow=True)
    execution = JobExecution.objects.get()
    assert told(page) == [f"Enqueued: {execution}"]
    assert page.redirect_chain == [(page_of(execution), 302)]
    assert (execution.handler_name, execution.params) == ("sleep", {"seconds": 1})
    assert (execution.queue, execution.priority) == ("mail", 7)
    assert execution.param_source == ParamSource.MANUAL
    assert history() == [("admin", str(execution.pk), "Enqueued by hand.")]


def test_what_is_left_empty_is_the_handlers_own(admin_client: Client) -> None:
    admin_client.post(ENQUEUE, {"handler_name": "steps", "params": '{"count": 1}'})
    execution = JobExecution.objects.get()
    assert (execution.queue, execution.priority, execution.max_retry) == ("default", 0, 1)
    assert execution.available_at <= database_now()


@pytest.mark.parametrize(
    ("delay", "seconds"), [("90", 90), ("5m", 300), ("2 h", 7200), ("1D", 86_400), ("1h 30m", 5400)]
)
def test_it_is_due_after_its_delay(admin_client: Client, delay: str, seconds: int) -> None:
    admin_client.post(ENQUEUE, {"handler_name": "echo", "delay": delay})
    due = JobExecution.objects.get().available_at - database_now()
    assert timedelta(seconds=seconds - 30) < due <= timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        ({"handler_name": "sleep", "params": '{"seconds": "x"}'}, "seconds must be a number"),
        ({"handler_name": "echo", "params": "{"}, "This is not JSON"),
        ({"handler_name": "nope"}, "Select a valid choice"),
        ({"handler_name": ""}, "This field is required"),
        ({"handler_name": "echo", "delay": "soon"}, "Write a time such as"),
        ({"handler_name": "echo", "delay": "-5"}, "Write a time such as"),
        ({"handler_name": "echo", "delay": "9999999d"}, "more than ten years"),
        ({"handler_name": "echo", "priority": "40000"}, "less than or equal to 32767"),
        ({"handler_name": "echo", "queue": "a\u200bb"}, "queue must be a name"),
    ],
)
def test_what_cannot_be_enqueued_is_told(
    admin_client: Client, form: dict[str, str], problem: str
) -> None:
    assert problem in admin_client.post(ENQUEUE, form).text
    assert not JobExecution.objects.exists()
    assert history() == []


def test_a_success_is_run_again_with_its_params(admin_client: Client) -> None:
    done = finished(handler_name="sleep", params={"seconds": 1}, queue="mail", priority=3)
    assert again(done) in admin_client.get(page_of(done)).text
    page = admin_client.get(again(done))
    form = page.context["form"].initial
    assert "&quot;seconds&quot;: 1" in page.text
    admin_client.post(again(done), {**form, "params": '{"seconds": 2}'})
    copy = JobExecution.objects.exclude(pk=done.pk).get()
    assert (copy.params, copy.queue, copy.priority) == ({"seconds": 2}, "mail", 3)
    done.refresh_from_db()
    assert (done.status, done.params) == (Status.SUCCESS, {"seconds": 1})
    [(_who, _row, note)] = history()
    assert note == f"Enqueued by hand, like execution #{done.pk}."


def test_what_failed_is_retried_and_not_run_again(admin_client: Client) -> None:
    for execution in (finished(Status.FAILED), pending()):
        assert again(execution) not in admin_client.get(page_of(execution)).text


@pytest.mark.usefixtures("temporary_handlers")
def test_masked_params_keep_their_values_in_the_copy() -> None:
    @handler("charge", sensitive=("card",))
    def charge(card: str, user: str) -> None: ...

    done = finished(handler_name="charge", params={"card": "4111", "user": "ann"})
    friend = staff("add_jobexecution", "view_jobexecution")
    page = friend.get(again(done))
    assert "4111" not in page.text
    form = {**page.context["form"].initial, "params": f'{{"card": "{MASK}", "user": "bob"}}'}
    friend.post(again(done), form)
    copy = JobExecution.objects.exclude(pk=done.pk).get()
    assert copy.params == {"card": "4111", "user": "bob"}
    # Another handler would show the value: it does not get it.
    page = friend.post(again(done), {**form, "handler_name": "echo"})
    assert "masked" in page.text
    assert JobExecution.objects.count() == 2


def test_large_params_are_copied_whole(admin_client: Client) -> None:
    params: dict[str, Any] = {"text": "x" * 300_000}
    done = finished(params=params)
    page = admin_client.get(again(done))
    assert "too large to be edited here" in page.text
    assert len(page.content) < 500_000
    form = {**page.context["form"].initial, "params": "{}"}
    admin_client.post(again(done), form)
    assert JobExecution.objects.exclude(pk=done.pk).get().params == params


def test_enqueueing_has_its_own_permission() -> None:
    done = finished()
    stranger = staff("view_jobexecution", "change_jobexecution", "publish_message")
    assert ENQUEUE not in stranger.get(list_of(JobExecution)).text
    assert again(done) not in stranger.get(page_of(done)).text
    for address in (ENQUEUE, again(done)):
        assert stranger.get(address).status_code == 403
        assert stranger.post(address, {"handler_name": "echo"}).status_code == 403
    friend = staff("add_jobexecution")
    assert friend.get(HANDLER, {"name": "effect"}).status_code == 200
    assert friend.get(again(done)).status_code == 403
    assert friend.post(ENQUEUE, {"handler_name": "echo"}).headers["Location"] == ENQUEUE
    assert JobExecution.objects.count() == 2


@pytest.mark.parametrize("copy", ["", "x", "0", "9" * 30, "\0"])
def test_a_copy_of_nothing_is_not_found(admin_client: Client, copy: str) -> None:
    assert admin_client.get(ENQUEUE, {"copy": copy}).status_code == 404
