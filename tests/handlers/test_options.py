"""The retry rule that a handler's options make."""

from __future__ import annotations

import logging
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.test import override_settings

from jobu.attempts import Attempt
from jobu.exceptions import JobTimeout, JobuError, OptionError, ResultError
from jobu.handlers.options import HandlerOptions, check_execution_options
from jobu.handlers.registry import handlers

ATTEMPT = Attempt(
    execution_id=42,
    number=2,
    claimed_by=uuid.UUID(int=1),
    handler_name="mail",
    params={},
    queue="default",
    retry_count=1,
    max_retry=3,
    timeout_seconds=60,
)


@pytest.fixture
def only_a_base_of_8_seconds() -> Any:
    with override_settings(JOBU_BACKOFF_BASE_SECONDS=8.0, JOBU_BACKOFF_MAX_SECONDS=100.0):
        yield


def test_without_a_rule_every_error_is_retried() -> None:
    options = HandlerOptions()
    assert options.retries(ValueError())
    assert options.retries(SystemExit())
    assert options.retries(JobTimeout())


def test_retry_on_retries_only_what_it_names_and_its_subclasses() -> None:
    options = HandlerOptions(retry_on=(OSError, KeyError))
    assert options.retries(OSError())
    assert options.retries(ConnectionRefusedError())
    assert options.retries(KeyError())
    assert not options.retries(ValueError())


def test_no_retry_on_wins_over_retry_on() -> None:
    options = HandlerOptions(retry_on=(OSError,), no_retry_on=(FileNotFoundError,))
    assert options.retries(ConnectionRefusedError())
    assert not options.retries(FileNotFoundError())


def test_no_retry_on_alone_retries_all_the_rest() -> None:
    options = HandlerOptions(no_retry_on=(ValueError,))
    assert not options.retries(UnicodeError())
    assert options.retries(KeyError())


def test_a_timeout_is_retried_whatever_retry_on_names() -> None:
    assert HandlerOptions(retry_on=(OSError,)).retries(JobTimeout())
    assert HandlerOptions(retry_on=()).retries(JobTimeout())


def test_no_retry_on_can_rule_out_a_timeout() -> None:
    assert not HandlerOptions(no_retry_on=(JobTimeout,)).retries(JobTimeout())
    assert not HandlerOptions(retry_on=(JobTimeout,), no_retry_on=(JobTimeout,)).retries(
        JobTimeout()
    )


def test_an_empty_retry_on_retries_no_error() -> None:
    assert not HandlerOptions(retry_on=()).retries(OSError())


@pytest.mark.parametrize("given", [OSError, (OSError,), [OSError]])
def test_one_exception_or_several_may_be_given(given: Any) -> None:
    assert HandlerOptions(retry_on=given).retry_on == (OSError,)
    assert HandlerOptions(no_retry_on=given).no_retry_on == (OSError,)


def test_no_retry_on_may_be_none() -> None:
    assert HandlerOptions(no_retry_on=None).no_retry_on == ()  # type: ignore[arg-type]


@pytest.mark.parametrize("backoff", ["5", True, timedelta(seconds=5), (1, 2)])
def test_a_backoff_that_is_neither_number_nor_function_is_refused(backoff: Any) -> None:
    with pytest.raises(OptionError) as caught:
        HandlerOptions(backoff=backoff)
    assert str(caught.value) == f"backoff must be zero or more seconds, not {backoff!r}"


def test_option_errors_are_value_errors_of_jobu() -> None:
    assert issubclass(OptionError, ValueError)
    assert issubclass(OptionError, JobuError)


def test_what_is_not_given_is_not_checked() -> None:
    check_execution_options()
    check_execution_options(queue="a queue with spaces – and more")


def delays(options: HandlerOptions, failures: int) -> list[float]:
    return [options.retry_delay(ATTEMPT, failures) for _ in range(300)]


@pytest.mark.usefixtures("only_a_base_of_8_seconds")
@pytest.mark.parametrize(("failures", "bound"), [(1, 8), (2, 16), (3, 32), (5, 100), (5000, 100)])
def test_without_a_backoff_the_delay_follows_the_settings(failures: int, bound: float) -> None:
    drawn = delays(HandlerOptions(), failures)
    assert all(0 <= delay <= bound for delay in drawn)
    # 300 draws from the whole range: that none is in its upper half has a chance of 2**-300.
    assert max(drawn) > bound / 2


@pytest.mark.usefixtures("only_a_base_of_8_seconds")
@pytest.mark.parametrize(("failures", "bound"), [(1, 20), (2, 40), (9, 100)])
def test_a_number_is_the_first_delay_s_bound(failures: int, bound: float) -> None:
    drawn = delays(HandlerOptions(backoff=20), failures)
    assert all(0 <= delay <= bound for delay in drawn)
    assert max(drawn) > bound / 2


def test_a_backoff_of_zero_retries_at_once() -> None:
    assert set(delays(HandlerOptions(backoff=0), 7)) == {0}


def test_a_function_gets_the_number_of_failures_and_decides_alone() -> None:
    options = HandlerOptions(backoff=lambda failures: failures * 1000)
    assert options.retry_delay(ATTEMPT, 3) == 3000.0
    assert isinstance(options.retry_delay(ATTEMPT, 3), float)


def explode(failures: int) -> float:
    raise KeyError("no table for this")


@pytest.mark.usefixtures("only_a_base_of_8_seconds")
@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (explode, "'no table for this'"),
        (lambda _failures: -1, "it returned -1"),
        (lambda _failures: None, "it returned None"),
        (lambda _failures: "5", "it returned '5'"),
        (lambda _failures: float("nan"), "it returned nan"),
        (lambda _failures: float("inf"), "it returned inf"),
        (lambda failures: 10 ** (400 * failures), "it returned 1000"),
        (lambda _failures, _missing: 5, "missing 1 required positional argument"),
    ],
)
def test_a_broken_function_is_logged_and_the_default_takes_over(
    function: Any, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "jobu"):
        delay = HandlerOptions(backoff=function).retry_delay(ATTEMPT, 1)
    assert 0 <= delay <= 8
    assert len(caplog.records) == 1
    record = caplog.records[0]
    assert record.levelno == logging.ERROR
    message = record.getMessage()
    start = "execution 42 (mail, attempt 2): its backoff function failed, the default is used: "
    assert message.startswith(start)
    assert reason in message
    assert record.execution_id == 42


def test_sensitive_takes_one_name_or_several() -> None:
    assert HandlerOptions(sensitive="pin").sensitive == ("pin",)  # type: ignore[arg-type]
    assert HandlerOptions(sensitive=["pin", "card_*"]).sensitive == ("pin", "card_*")  # type: ignore[arg-type]


@pytest.mark.parametrize("names", [None, 5, "", ("pin", ""), (None,)])
def test_what_is_no_name_cannot_be_sensitive(names: Any) -> None:
    with pytest.raises(OptionError, match=r"^sensitive takes names of params, not "):
        HandlerOptions(sensitive=names)


def test_what_a_handler_does_not_say_is_the_projects() -> None:
    silent, outspoken = HandlerOptions(), HandlerOptions(max_retry=0, timeout_seconds=7)
    assert (silent.max_retry, silent.timeout_seconds) == (3, 3600)
    with override_settings(JOBU_MAX_RETRY=9, JOBU_TIMEOUT_SECONDS=60):
        assert (silent.max_retry, silent.timeout_seconds) == (9, 60)
        assert (outspoken.max_retry, outspoken.timeout_seconds) == (0, 7)
        assert handlers.options_of("nobody").max_retry == 9


def test_the_result_of_a_mistake_is_not_retried_whatever_the_rule_says() -> None:
    assert not HandlerOptions(retry_on=(TypeError,)).retries(ResultError())
