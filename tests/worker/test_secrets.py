"""A handler gets its secrets; what is logged and kept about its run does not."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from jobu import HandlerParams, HandlerResult, enqueue, handler, signals
from jobu.adapters.base import QueueMessage
from jobu.handlers.registry import handlers
from jobu.masking import MASK
from jobu.messages.format import read_event
from jobu.models import JobExecution, Status
from jobu.testing import run_pending

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("temporary_handlers")]

PARAMS = {"user": "ann", "card": "4111-1111", "smtp": {"password": "open sesame"}}


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Callable[[], str]:
    caplog.set_level(logging.DEBUG)
    return lambda: caplog.text


@pytest.fixture
def failing_receiver() -> Iterator[None]:
    def fail(**_named: Any) -> None:
        raise ValueError("a receiver that fails")

    sent = (signals.execution_started, signals.execution_settled)
    for signal in sent:
        signal.connect(fail, weak=False)
    yield
    for signal in sent:
        signal.disconnect(fail)


def run(function: Any) -> JobExecution:
    handler("charge", sensitive=("card",), max_retry=1)(function)
    enqueue("charge", PARAMS)
    [execution] = run_pending()
    return execution


def test_a_handler_gets_what_the_database_keeps() -> None:
    def charge(params: dict[str, Any]) -> dict[str, Any]:
        return params

    execution = run(charge)
    assert execution.result == execution.params == PARAMS


def test_an_error_that_quotes_secrets_is_kept_and_logged_with_masks(
    log: Callable[[], str],
) -> None:
    def charge(params: dict[str, Any]) -> None:
        raise ValueError(f"{params['user']} cannot pay: {params['card']}, {params['smtp']}")

    execution = run(charge)
    masked = f"{MASK}, {{'password': '{MASK}'}}"
    assert execution.status == Status.FAILED
    assert execution.error_message == f"ValueError: ann cannot pay: {masked}"
    [error] = execution.errors
    assert error["message"] == execution.error_message
    assert error["traceback"].endswith(f"{execution.error_message}\n")
    assert execution.error_message in log()
    for secret in ("4111", "sesame"):
        assert secret not in log()


def test_a_secret_is_masked_even_where_the_message_is_cut() -> None:
    def charge(params: dict[str, Any]) -> None:
        raise ValueError(f"{'x' * 660}{params['card']}{'x' * 2_000}")

    assert "4111" not in str(run(charge).errors)


def test_params_that_do_not_fit_are_refused_without_their_values(
    log: Callable[[], str], settings: Any
) -> None:
    settings.JOBU_VALIDATE_ON_ENQUEUE = False

    def charge(user: str, card: int, smtp: dict[str, Any]) -> None: ...

    execution = run(charge)
    assert execution.error_message == (
        f"jobu.exceptions.ParamsError: card must be a whole number, not {MASK}"
    )
    assert "4111" not in log()


@pytest.mark.usefixtures("failing_receiver")
def test_a_receiver_that_fails_logs_no_params_and_no_result(log: Callable[[], str]) -> None:
    def charge(params: dict[str, Any]) -> dict[str, Any]:
        return params

    execution = run(charge)
    assert f"'attempt': <Attempt 1 of execution {execution.pk} (charge)>" in log()
    assert f"'outcome': <Outcome SUCCESS of <Attempt 1 of execution {execution.pk}" in log()
    for secret in ("4111", "sesame"):
        assert secret not in log()


def test_typed_params_and_results_have_a_repr_with_masks() -> None:
    class Charge(HandlerParams):
        user: str
        card: str
        options: dict[str, Any]

    class Charged(HandlerResult):
        receipt: int
        token: str | None = None

    @handler("charge", sensitive=("card",))
    def charge(params: Charge) -> Charged:
        return Charged(receipt=7)

    params = Charge(user="ann", card="4111", options={"api_key": "sesame", "n": 1})
    options = {"api_key": MASK, "n": 1}
    assert repr(params).endswith(f".Charge(user='ann', card='{MASK}', options={options})")
    assert repr(charge(params)).endswith(".Charged(receipt=7, token=None)")


def test_messages_have_a_repr_without_what_they_say() -> None:
    body = b'{"handler": "echo", "params": {"password": "sesame"}, "token": "sesame"}'
    message = QueueMessage("1", body, headers=(("authorization", b"sesame"),))
    assert "sesame" not in f"{message} {read_event(body)}"


def test_a_default_that_is_sensitive_is_not_told() -> None:
    @handler("charge", sensitive="card")
    def charge(card: str = "4111", token: str | None = None, days: int = 3) -> None: ...

    described = handlers["charge"].fields or []
    assert [(each.default, each.is_sensitive) for each in described] == [
        (MASK, True),
        (None, True),
        (3, False),
    ]
