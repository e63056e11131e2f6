"""Which expressions and time zones are refused, and what is said of them."""

from __future__ import annotations

import string
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jobu.cron import (
    describe,
    next_times,
    problem_with_expression,
    problem_with_timezone,
)
from tests.cron.expressions import EXPRESSIONS, START, stable

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    "expression",
    [
        "* * * * *",
        "30 6 * * mon-fri",
        "*/15 0-6,20 1 jan,jul *",
        "0 0 29 2 *",
        "0 0 L * *",
        "0 0 * * 7",
        "  0   0  * * *  ",
        "@daily",
        "H H * * *",
        "H/5 H(0-7) * * *",
        "H(30-59)/10 * * * *",
        "0 0 31 2 mon",
        "0 0 * 2 mon#5",
        "0 9 1-5,L * *",
    ],
)
def test_a_cron_expression_has_no_problem(expression: str) -> None:
    assert problem_with_expression(expression) is None


@pytest.mark.parametrize("expression", ["", "   ", "often", "* * * *", "* * * * * * * *"])
def test_any_other_number_of_fields_than_five_is_refused(expression: str) -> None:
    assert problem_with_expression(expression) == (
        f"{expression!r} needs five fields, but has {len(expression.split())}: "
        "minute hour day-of-month month day-of-week, such as '30 6 * * mon-fri'"
    )


@pytest.mark.parametrize("expression", ["* * * * * *", "0 0 0 * * * *"])
def test_seconds_and_years_are_refused(expression: str) -> None:
    assert "seconds and years are not supported" in (problem_with_expression(expression) or "")


@pytest.mark.parametrize("expression", ["@reboot", "@REBOOT", "@dayly", "@", "@daily *"])
def test_unknown_aliases_are_refused_and_the_known_ones_shown(expression: str) -> None:
    problem = problem_with_expression(expression)
    assert problem is not None
    assert problem.endswith(
        "use @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually or five fields"
    )


USAGE = {
    "minute": "use 0-59, such as '30', '0,45' or '*/15'",
    "hour": "use 0-23, such as '6', '9-17' or '*/2'",
    "day-of-month": "use 1-31 or L for the last day, such as '1', '1,15' or 'L'",
    "month": "use 1-12 or jan-dec, such as '*', '1,7' or 'jan-mar'",
    "day-of-week": (
        "use 0-7 or sun-sat, such as 'mon-fri', '1#2' (second Monday) or 'L5' (last Friday)"
    ),
}


INVALID = "is not valid"


def short(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")


@pytest.mark.parametrize(
    ("field", "text", "reason"),
    [
        ("minute", "60", INVALID),
        ("minute", "*/0", INVALID),
        ("minute", "5-1-2", INVALID),
        ("minute", "-5", INVALID),
        ("minute", "1,,2", INVALID),
        ("minute", "5/", INVALID),
        ("minute", "L", INVALID),
        ("minute", "H,30", INVALID),
        ("minute", "H(50-70)", INVALID),
        ("minute", "H(5-5)", INVALID),
        ("minute", "H(0-5)/6", "has a step beyond 0-5"),
        ("minute", "H/60", "has a step beyond 0-59"),
        ("minute", "5-5", "is a range from a value to itself"),
        ("minute", "58-4/3", "is a range backwards with a step"),
        ("minute", ",".join(["1"] * 200), "is too long"),
        ("minute", "R", "is random (R), but every process must find the same"),
        ("minute", "r(0-30)/5", "is random (R), but every process must find the same"),
        ("minute", "\N{ARABIC-INDIC DIGIT THREE}", "has a character that no cron expression has"),
        ("hour", "24", INVALID),
        ("hour", "1.5", "has a character that no cron expression has"),
        ("day-of-month", "0", INVALID),
        ("day-of-month", "32", INVALID),
        ("day-of-month", "L-3", INVALID),
        ("day-of-month", "31-L", "is a range from a value to itself"),
        ("day-of-month", "15W", "uses W, which is not supported"),
        ("day-of-month", "W15", "uses W, which is not supported"),
        ("month", "13", INVALID),
        ("month", "janvier", INVALID),
        ("month", "jan-jan", "is a range from a value to itself"),
        ("month", "1-jan", "is a range from a value to itself"),
        ("day-of-week", "8", INVALID),
        ("day-of-week", "someday", INVALID),
        ("day-of-week", "5L", INVALID),
        ("day-of-week", "1#6", INVALID),
        ("day-of-week", "mon,fri#2", INVALID),
        ("day-of-week", "0-5,6#1", "mixes days with and without a place in the month"),
        ("day-of-week", "*,1#2", "mixes days with and without a place in the month"),
        ("day-of-week", "7-0", "is a range from a value to itself"),
        ("day-of-week", "*\0", "has a character that no cron expression has"),
    ],
)
def test_a_refusal_names_the_field_and_shows_what_is_right(
    field: str, text: str, reason: str
) -> None:
    fields = ["0", "0", "*", "*", "*"]
    fields[list(USAGE).index(field)] = text
    expression = " ".join(fields)
    for seed in ("", "one", "another", "a third"):
        problem = problem_with_expression(expression, seed=seed)
        assert problem is not None
        assert f"its {field} field {short(text)} {reason}; {USAGE[field]}" in problem
        assert problem.startswith(f"{short(expression)} is not a cron expression: ")


@pytest.mark.parametrize("digits", [5, 400, 5000])
def test_an_absurd_number_is_refused_in_few_words(digits: int) -> None:
    for text in ("9" * digits, "*/" + "9" * digits, "H/" + "1" * digits):
        problem = problem_with_expression(f"{text} * * * *")
        assert problem is not None
        assert "has a number that is too long; use 0-59" in problem
        assert len(problem) < 400


@pytest.mark.parametrize(
    "expression",
    ["0 0 31 2 *", "0 0 30,31 feb *", "0 0 31 4,6,9,11 *", "0 0 30 2 */2", "0 0 */20 * mon#2"],
)
def test_a_day_that_never_comes_is_refused(expression: str) -> None:
    _, _, day, month, weekday = expression.split()
    assert problem_with_expression(expression) == (
        f"{expression!r} can never fire: its day-of-month field {day!r}, month field {month!r} and "
        f"day-of-week field {weekday!r} have no day in common; use a day that comes, such as "
        "'0 0 28 2 *' or '0 0 L * *'"
    )


def test_whether_a_day_ever_comes_may_depend_on_the_seed() -> None:
    problems = {problem_with_expression("0 0 H(29-30) 2 *", seed=f"cron {n}") for n in range(20)}
    assert len(problems) == 2
    assert None in problems


@pytest.mark.parametrize(
    ("expression", "seconds", "apart", "field", "example_"),
    [
        ("* * * * *", 61, 60, "minute", "*/2 * * * *"),
        ("*/2 * * * *", 300, 120, "minute", "*/5 * * * *"),
        ("0,1 * * * *", 300, 60, "minute", "*/5 * * * *"),
        ("0,58 * * * *", 300, 120, "minute", "*/5 * * * *"),
        ("*/7 * * * *", 300, 240, "minute", "*/5 * * * *"),
        ("0,58 0,23 * * *", 300, 120, "minute", "*/5 * * * *"),
        ("0,58 0,23 L,1 * *", 300, 120, "minute", "*/5 * * * *"),
        ("0,59 0,23 31 dec-jan *", 1800, None, "", ""),
        ("0 0,1 * * *", 3600, None, "", ""),
        ("0 0,1 * * *", 7200, 3600, "hour", "0 */2 * * *"),
        ("0 */23 * * *", 7200, 3600, "hour", "0 */2 * * *"),
        ("0,58 0,23 1 * *", 300, None, "", ""),
        ("0 0 * * *", 86_400, None, "", ""),
        ("0 0 * * *", 90_000, 86_400, "day-of-month or -week", "0 0 * * 0"),
        ("0 0 * * 1", 604_800, None, "", ""),
        ("0 0 1 * *", 2_419_200, None, "", ""),
        ("0 0 1 * *", 2_500_000, 2_419_200, "day-of-month or -week", "0 0 1 1 *"),
        ("0 0 1 1 *", 31_536_000, None, "", ""),
        ("0 0 29 2 *", 100_000_000, None, "", ""),
    ],
)
def test_an_expression_must_not_fire_more_often_than_allowed_anywhere_in_the_calendar(
    expression: str, seconds: int, apart: int | None, field: str, example_: str
) -> None:
    assert problem_with_expression(expression, min_interval_seconds=seconds) == (
        apart
        and f"{expression!r} fires too often: its {field} field has ticks {apart} seconds apart, "
        f"but {seconds} is the least; use an expression such as {example_!r}"
    )
    if example_:
        assert problem_with_expression(example_, min_interval_seconds=seconds) is None


@stable
@given(expression=EXPRESSIONS, minutes=st.integers(1, 3000))
def test_the_interval_is_that_of_the_ticks_themselves(expression: str, minutes: int) -> None:
    problem = problem_with_expression(expression, min_interval_seconds=60 * minutes)
    found = next_times(expression, "UTC", datetime(2026, 12, 1, tzinfo=UTC), 200)
    shortest = min((late - early for early, late in pairwise(found)), default=timedelta.max)
    if problem is None:
        assert shortest >= timedelta(minutes=minutes)
    elif "fires too often" in problem and len(found) == 200 and (found[-1] - found[0]).days > 1500:
        assert shortest < timedelta(minutes=minutes)


@stable
@given(
    expression=st.text(
        string.digits + "*/,-#?()HLRW lhrwmonfeb\0@\N{FULLWIDTH DIGIT ONE}", max_size=20
    )
    | st.lists(
        st.text("0123456789*/,-#?()hlrw", min_size=1, max_size=6), min_size=5, max_size=5
    ).map(" ".join)
    | st.text(max_size=20),
    seed=st.text(max_size=5),
)
@example(expression="* * * * *\ud800", seed="\ud800")
@example(expression="H H * * *", seed="\ud800")
def test_any_text_is_refused_or_fires(expression: str, seed: str) -> None:
    problem = problem_with_expression(expression, seed=seed)
    for language in ("en", "ko"):
        words = describe(expression, language=language, seed=seed)
        assert (words == expression) == (problem is not None and "can never" not in problem)
    if problem is None:
        assert len(next_times(expression, "UTC", START, 2, seed=seed)) == 2


@pytest.mark.parametrize("name", ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires"])
def test_a_time_zone_has_no_problem(name: str) -> None:
    assert problem_with_timezone(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Europe",
        "Europe/Atlantis",
        "europe berlin",
        "../../etc/passwd",
        "/etc/localtime",
        "zone.tab",
        "nul\0",
        "\ud800",
        "x" * 5000,
    ],
)
def test_what_is_no_time_zone_is_refused(name: str) -> None:
    assert problem_with_timezone(name) == (
        f"{name!r} is not a time zone; use a name such as 'Europe/Berlin' or 'UTC'"
    )
