"""What is sensitive leaves the API masked, and comes back without loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from jobu import handler
from jobu.masking import MASK
from jobu.models import CronJob, JobExecution, Status
from tests.api.callers import Api, bearer, caller, session, user
from tests.builders import cron, finished

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("temporary_handlers", "charge")]

PARAMS = {"user": "ann", "card": "4111-1111", "smtp": {"password": "open sesame"}}
MASKED = {"user": "ann", "card": MASK, "smtp": {"password": MASK}}


@pytest.fixture
def charge() -> None:
    @handler("charge", sensitive=("card",))
    def charge(params: dict[str, Any]) -> None: ...


def charging(**fields: Any) -> CronJob:
    return cron(**{"handler_name": "charge", "handler_params": PARAMS, **fields})


def test_every_answer_with_params_masks_them(api: Api) -> None:
    job = charging()
    execution = finished(Status.FAILED, handler_name="charge", params=PARAMS, result=PARAMS)
    assert api.get(f"crons/{job.pk}").body["handler_params"] == MASKED
    assert api.post(f"crons/{job.pk}/toggle").body["handler_params"] == MASKED
    assert api.post(f"crons/{job.pk}/run").body["params"] == MASKED
    seen = api.get(f"jobs/{execution.pk}").body
    assert (seen["params"], seen["result"]) == (MASKED, MASKED)
    assert api.post(f"jobs/{execution.pk}/retry").body["params"] == MASKED
    assert api.post(f"jobs/{execution.pk}/cancel").body["params"] == MASKED
    new = {"handler_name": "charge", "params": PARAMS}
    assert api.post("jobs", new).body["params"] == MASKED
    assert JobExecution.objects.latest("id").params == PARAMS


def test_a_user_with_the_permission_sees_them() -> None:
    job = charging()
    viewer = Api(session(user("viewer", "view_cronjob")))
    assert viewer.get(f"crons/{job.pk}").body["handler_params"] == MASKED
    trusted = Api(session(user("trusted", "view_cronjob", "view_sensitive_params")))
    assert trusted.get(f"crons/{job.pk}").body["handler_params"] == PARAMS
    assert caller("superuser").get(f"crons/{job.pk}").body["handler_params"] == PARAMS


def test_a_change_keeps_what_is_masked(api: Api) -> None:
    job = charging()
    seen = api.get(f"crons/{job.pk}").body["handler_params"]
    answer = api.patch(f"crons/{job.pk}", {"handler_params": {**seen, "user": "bob"}})
    assert answer.body["handler_params"] == {**MASKED, "user": "bob"}
    assert CronJob.objects.get().handler_params == {**PARAMS, "user": "bob"}


def test_a_run_keeps_what_is_masked(api: Api) -> None:
    job = charging()
    assert api.post(f"crons/{job.pk}/run", {"params": {"card": MASK, "user": "bob"}}).status == 201
    assert JobExecution.objects.get().params == {**PARAMS, "user": "bob"}


def test_a_mask_that_stands_for_nothing_is_refused(api: Api) -> None:
    job = charging(handler_params={})
    words = {"params": ["card is masked, and there is no value to keep: write one."]}
    body = {"handler_name": "charge", "params": {"card": MASK}}
    assert api.post("jobs", body).fields == words
    assert api.post(f"crons/{job.pk}/run", {"params": {"card": MASK}}).fields == words
    changes = {"handler_params": {"card": MASK}}
    assert api.patch(f"crons/{job.pk}", changes).fields == words
    new = {"name": "n", "cron_expression": "0 2 * * *", "handler_name": "charge", **changes}
    assert api.post("crons", new).fields == words
    assert not JobExecution.objects.exists()


def test_another_handler_does_not_make_a_secret_of_the_first_public(api: Api) -> None:
    job = charging()
    answer = api.patch(f"crons/{job.pk}", {"handler_name": "echo"})
    assert answer.fields == {
        "params": ["card is masked, and there is no value to keep: write one."]
    }
    changes = {"handler_name": "echo", "handler_params": {"smtp": MASKED["smtp"]}}
    assert api.patch(f"crons/{job.pk}", changes).status == 200
    assert CronJob.objects.get().handler_params == {"smtp": PARAMS["smtp"]}


@pytest.mark.parametrize("place", ["jobu.api.auth.hash_of", "jobu.api.jobs.enqueue_from_api"])
def test_an_error_report_has_neither_the_token_nor_the_params(
    error_reports: Callable[[], str], monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    headers = bearer()
    secret = headers["Authorization"].removeprefix("Bearer ")

    def fail(*_args: Any, **_options: Any) -> None:
        raise ValueError("something went wrong")

    monkeypatch.setattr(place, fail)
    api = Api(Client(raise_request_exception=False), **headers)
    assert api.post("jobs", {"handler_name": "charge", "params": PARAMS}).code == "internal"
    told = error_reports()
    assert "something went wrong" in told
    assert secret not in told
    assert "4111-1111" not in told and "open sesame" not in told
