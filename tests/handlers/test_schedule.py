"""Schedules in `@handler`: what is refused where it is declared."""

from __future__ import annotations

from typing import Any

import pytest

from jobu import Schedule, handler
from jobu.exceptions import DuplicateHandlerError, OptionError
from jobu.handlers.registry import handlers
from jobu.models.cron_job import Misfire

pytestmark = [pytest.mark.pure, pytest.mark.usefixtures("temporary_handlers")]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"expression": "nonsense"}, "'nonsense' needs five fields"),
        ({"expression": 5}, "the first argument is a cron expression"),
        ({"timezone": "Mars/Base"}, "'Mars/Base' is not a time zone"),
        ({"params": [1]}, "params must be a dict, a dataclass or a pydantic model, not list"),
        ({"params": {"a": object()}}, "params"),
        ({"name": "x" * 201}, "name is a text of at most 200 characters"),
        ({"name": "a\nb"}, "name is a text of at most 200 characters"),
        ({"allow_overlap": "no"}, "allow_overlap is True or False, not 'no'"),
        ({"misfire": "never"}, "misfire is one of 'skip', 'latest', 'all', not 'never'"),
    ],
)
def test_a_schedule_that_cannot_work_is_refused_with_words(
    options: dict[str, Any], problem: str
) -> None:
    given = {"expression": "0 9 * * *", **options}
    with pytest.raises(OptionError) as caught:
        Schedule(**given)
    assert str(caught.value).startswith(f"Schedule({given['expression']!r}): {problem}")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            {"cron": "@daily", "schedules": [Schedule("@hourly")]},
            "@handler('report') has both cron= and schedules=.",
        ),
        (
            {"cron": Schedule("@daily")},
            "cron of @handler('report') is a cron expression, not Sched",
        ),
        ({"schedules": ["@daily"]}, "schedules of @handler('report') is a list of jobu.Schedule"),
        ({"schedules": Schedule("@daily")}, "schedules of @handler('report') is a list of"),
        (
            {"schedules": [Schedule("@daily"), Schedule("@hourly")]},
            "2 schedules of @handler('report') would make a cron job named 'report'.",
        ),
    ],
)
def test_schedules_that_cannot_be_meant_are_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(OptionError) as caught:
        handler("report", **options)
    assert str(caught.value).startswith(problem)


def test_two_handlers_cannot_declare_a_cron_job_of_the_same_name() -> None:
    @handler("first", schedules=[Schedule("@daily", name="nightly")])
    def first() -> None: ...

    with pytest.raises(DuplicateHandlerError, match="schedule named 'nightly'"):

        @handler("second", schedules=[Schedule("@hourly", name="nightly")])
        def second() -> None: ...


def test_cron_is_short_for_one_schedule() -> None:
    @handler("short", cron="0 9 * * *", timezone="Asia/Seoul")
    def short() -> None: ...

    assert handlers["short"].schedules == (
        Schedule("0 9 * * *", timezone="Asia/Seoul", name="short"),
    )


def test_the_misfire_policies_are_those_of_cron_jobs() -> None:
    for each in Misfire:
        assert Schedule("@daily", misfire=each).misfire == each.value
