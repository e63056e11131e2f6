"""Failures for one reason are one group, whatever their numbers, ids and names."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest

from jobu.models import JobExecution, Status
from jobu.reading import failures as module
from jobu.reading import ids_of_failure, read_failures
from jobu.reading.failures import failure_key, reason_of
from tests.builders import database_now, finished, pending

pytestmark = pytest.mark.django_db


@pytest.mark.pure
@pytest.mark.parametrize(
    ("error", "exception", "message"),
    [
        ("ValueError: no luck", "ValueError", "no luck"),
        ("ValueError: order 17 of customer 'ada'", "ValueError", "order … of customer …"),
        ("KeyError: 'address'", "KeyError", "…"),
        ("ZeroDivisionError", "ZeroDivisionError", ""),
        ("shop.errors.Declined: card 4111-2222 at 12.50", "shop.errors.Declined", "card … at …"),
        (
            "LookupError: 6ba7b810-9dad-11d1-80b4-00c04fd430c8 and ord_8fK2x\nare gone",
            "LookupError",
            "… and … are gone",
        ),
        ("OSError: at 2026-11-18 20:01:54.123 in <Order object at 0x7f3a>", "OSError", None),
        ("The handler ran longer than its timeout of 60 s.", "", None),
        ("It can't be: the user's card isn't there", "", None),
        ("", "", ""),
    ],
)
def test_a_reason_is_without_what_differs_from_case_to_case(
    error: str, exception: str, message: str | None
) -> None:
    reason = reason_of(error)
    assert reason.exception == exception
    assert not any(map(str.isdigit, reason.message))
    if message is not None:
        assert reason.message == message


@pytest.mark.pure
def test_an_apostrophe_is_no_quotation_mark() -> None:
    assert reason_of("OSError: can't read the user's file").message == "can't read the user's file"


@pytest.mark.pure
@pytest.mark.parametrize(
    "text", ["'" * 400, "a-" * 200, "x" * 10_000, ".".join("a" * 200), '"a' * 200]
)
def test_no_message_takes_long_to_read(text: str) -> None:
    begin = time.perf_counter()
    for _ in range(100):
        reason_of(text)
    assert time.perf_counter() - begin < 2


def test_failures_are_grouped_by_handler_and_reason() -> None:
    for number in range(3):
        finished(Status.FAILED, error_message=f"ValueError: order {number} is 'odd'")
    finished(Status.TIMEOUT, error_message="The handler ran longer than its timeout of 60 s.")
    finished(Status.FAILED, handler_name="fail", error_message="ValueError: order 9 is 'odd'")
    finished(Status.CANCELLED, error_message="Cancelled before it ran.")
    finished()
    pending(error_message="ValueError: order 1 is 'odd'", retry_count=1)
    found = read_failures()
    assert (found.count, found.is_cut) == (5, False)
    assert [(each.handler_name, each.reason.exception, each.count) for each in found.groups] == [
        ("echo", "ValueError", 3),
        ("fail", "ValueError", 1),
        ("echo", "", 1),
    ]
    assert [each.count for each in read_failures(handler_name="fail").groups] == [1]


def test_a_group_knows_when_it_was_first_and_last_seen() -> None:
    for days in (3, 1, 2):
        finished(Status.FAILED, days_ago=days, error_message="OSError: gone")
    [group] = read_failures().groups
    now = database_now()
    assert timedelta(days=2.9) < now - group.first_at < timedelta(days=3.1)
    assert timedelta(days=0.9) < now - group.last_at < timedelta(days=1.1)
    [group] = read_failures(since=now - timedelta(days=2.5)).groups
    assert group.count == 2
    assert read_failures(since=now).groups == []


def test_the_executions_of_a_group_are_found_by_its_key() -> None:
    mine = [finished(Status.FAILED, error_message=f"OSError: {n}").pk for n in range(2)]
    finished(Status.FAILED, error_message="OSError: other words")
    old = finished(Status.FAILED, error_message="OSError: 7", days_ago=3)
    key = failure_key("echo", "OSError: 1")
    assert ids_of_failure(key) == [old.pk, *mine[::-1]]
    assert ids_of_failure(key, since=database_now() - timedelta(days=1)) == mine[::-1]
    assert ids_of_failure("0" * 16) == []


def test_no_more_than_the_newest_are_looked_at_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "LOOKED_AT", 2)
    for days in (3, 2, 1):
        finished(Status.FAILED, error_message="OSError: gone", days_ago=days)
    found = read_failures()
    assert (found.count, found.is_cut) == (2, True)
    # All of the last day and a half are among them.
    since = database_now() - timedelta(days=1.5)
    assert not read_failures(since=since).is_cut
    assert len(ids_of_failure(found.groups[0].key)) == 2


def test_a_long_error_is_not_read_whole() -> None:
    finished(Status.FAILED, error_message="OSError: " + "word " * 400)
    [group] = read_failures().groups
    assert len(group.reason.message) <= 400
    [execution] = JobExecution.objects.all()
    assert group.key == failure_key(execution.handler_name, execution.error_message)
