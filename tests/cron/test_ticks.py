"""Cron expressions and time zones: when they come, which are refused, how they read.

What happens while clocks change is in test_clock_changes.py.
"""

from __future__ import annotations

import string
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import islice, pairwise

import pytest
from cronsim import CronSim
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jobu.cron import (
    describe,
    latest_time,
    next_times,
    problem_with_expression,
    problem_with_timezone,
    ticks_between,
)

pytestmark = pytest.mark.pure

stable = settings(derandomize=True, deadline=None, database=None, max_examples=200)
START = datetime(2026, 5, 5, 12, 3, 20, tzinfo=UTC)


def ticks(expression: str, count: int = 3, seed: str = "", after: datetime = START) -> list[str]:
    found = next_times(expression, "UTC", after, count, seed=seed)
    assert all(tick.tzinfo is UTC for tick in found)
    return [f"{tick:%Y-%m-%d %H:%M}" for tick in found]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("* * * * *", ["2026-05-05 12:04", "2026-05-05 12:05", "2026-05-05 12:06"]),
        ("*/25 * * * *", ["2026-05-05 12:25", "2026-05-05 12:50", "2026-05-05 13:00"]),
        ("7/25 * * * *", ["2026-05-05 12:07", "2026-05-05 12:32", "2026-05-05 12:57"]),
        ("3 12 * * *", ["2026-05-06 12:03", "2026-05-07 12:03", "2026-05-08 12:03"]),
        ("0 22-2 * * *", ["2026-05-05 22:00", "2026-05-05 23:00", "2026-05-06 00:00"]),
        ("0 9 * * MON", ["2026-05-11 09:00", "2026-05-18 09:00", "2026-05-25 09:00"]),
        ("0 9 * * sat-sun", ["2026-05-09 09:00", "2026-05-10 09:00", "2026-05-16 09:00"]),
        ("0 9 * * 5-7", ["2026-05-08 09:00", "2026-05-09 09:00", "2026-05-10 09:00"]),
        ("0 9 * * 0-7", ["2026-05-06 09:00", "2026-05-07 09:00", "2026-05-08 09:00"]),
        ("0 9 1 jan,Jul *", ["2026-07-01 09:00", "2027-01-01 09:00", "2027-07-01 09:00"]),
        ("0 9 31 * *", ["2026-05-31 09:00", "2026-07-31 09:00", "2026-08-31 09:00"]),
        ("0 9 L * *", ["2026-05-31 09:00", "2026-06-30 09:00", "2026-07-31 09:00"]),
        ("0 9 L 2 *", ["2027-02-28 09:00", "2028-02-29 09:00", "2029-02-28 09:00"]),
        ("0 9 2-31,L 1,2 *", ["2027-01-02 09:00", "2027-01-03 09:00", "2027-01-04 09:00"]),
        ("0 9 30-L * *", ["2026-05-30 09:00", "2026-05-31 09:00", "2026-06-30 09:00"]),
        ("0 9 * * 1#2", ["2026-05-11 09:00", "2026-06-08 09:00", "2026-07-13 09:00"]),
        ("0 9 * * tue-wed#1", ["2026-05-06 09:00", "2026-06-02 09:00", "2026-06-03 09:00"]),
        ("0 9 * * sun#5", ["2026-05-31 09:00", "2026-08-30 09:00", "2026-11-29 09:00"]),
        ("0 9 * * L5", ["2026-05-29 09:00", "2026-06-26 09:00", "2026-07-31 09:00"]),
        ("0 0 29 2 *", ["2028-02-29 00:00", "2032-02-29 00:00", "2036-02-29 00:00"]),
        ("0 9 ? * mon", ["2026-05-11 09:00", "2026-05-18 09:00", "2026-05-25 09:00"]),
        ("@hourly", ["2026-05-05 13:00", "2026-05-05 14:00", "2026-05-05 15:00"]),
        ("@daily", ["2026-05-06 00:00", "2026-05-07 00:00", "2026-05-08 00:00"]),
        ("@midnight", ["2026-05-06 00:00", "2026-05-07 00:00", "2026-05-08 00:00"]),
        ("@weekly", ["2026-05-10 00:00", "2026-05-17 00:00", "2026-05-24 00:00"]),
        ("@monthly", ["2026-06-01 00:00", "2026-07-01 00:00", "2026-08-01 00:00"]),
        ("@yearly", ["2027-01-01 00:00", "2028-01-01 00:00", "2029-01-01 00:00"]),
        (" @Annually ", ["2027-01-01 00:00", "2028-01-01 00:00", "2029-01-01 00:00"]),
    ],
)
def test_the_next_times_of_an_expression(expression: str, expected: list[str]) -> None:
    assert problem_with_expression(expression) is None
    assert ticks(expression) == expected


def test_two_restricted_day_fields_are_alternatives() -> None:
    assert ticks("0 0 13 * fri", 4) == [
        "2026-05-08 00:00",
        "2026-05-13 00:00",
        "2026-05-15 00:00",
        "2026-05-22 00:00",
    ]
    assert ticks("0 0 L * mon#1", 3) == ["2026-05-31 00:00", "2026-06-01 00:00", "2026-06-30 00:00"]


def test_a_day_field_that_starts_with_a_star_narrows_the_other_as_in_debian() -> None:
    assert ticks("0 0 */2 * fri", 2) == ["2026-05-15 00:00", "2026-05-29 00:00"]
    assert ticks("0 0 13 * */5", 2) == ["2026-09-13 00:00", "2026-11-13 00:00"]


def test_29_february_on_a_given_weekday_comes_after_40_years_around_2100() -> None:
    after = datetime(2077, 1, 1, tzinfo=UTC)
    longest = max(
        (late - early).days // 365
        for weekday in ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
        for early, late in pairwise(next_times(f"0 0 * 2 {weekday}#5", "UTC", after, 3))
    )
    assert longest == 40


def test_ticks_are_strictly_after_an_instant_of_any_zone() -> None:
    tick = datetime(2026, 5, 5, 12, tzinfo=UTC)
    korean = tick.astimezone(timezone(timedelta(hours=9)))
    for after in (tick, korean):
        assert next_times("0 12 * * *", "UTC", after - timedelta.resolution, 1) == [tick]
        assert next_times("0 12 * * *", "UTC", after, 1) == [tick + timedelta(days=1)]


def test_a_zone_decides_when_a_wall_time_comes() -> None:
    assert next_times("0 9 * * 1", "Asia/Seoul", START, 1) == [datetime(2026, 5, 11, tzinfo=UTC)]


@pytest.mark.parametrize("count", [0, -1])
def test_no_ticks_are_asked_for(count: int) -> None:
    assert next_times("* * * * *", "UTC", START, count) == []
    assert ticks_between("* * * * *", "UTC", START, START + timedelta(days=1), limit=count) == []


def test_an_expression_that_never_fires_has_no_next_times() -> None:
    assert next_times("0 0 31 2 *", "UTC", START, 3) == []


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago"])
@pytest.mark.parametrize("expression", ["* * * * *", "59 23 31 12 *"])
def test_the_calendar_ends(expression: str, zone: str) -> None:
    after = datetime(9999, 12, 30, tzinfo=UTC)
    assert len(next_times(expression, zone, after, 5000)) < 5000


def test_what_cannot_be_understood_is_a_value_error_with_the_same_words() -> None:
    with pytest.raises(ValueError, match=r"its minute field '61' is not valid; use 0-59"):
        next_times("61 * * * *", "UTC", START, 1)
    with pytest.raises(ValueError, match="'Mars' is not a time zone; use a name such as"):
        next_times("* * * * *", "Mars", START, 1)
    with pytest.raises(ValueError, match="needs a time zone"):
        next_times("* * * * *", "UTC", START.replace(tzinfo=None), 1)


def test_ticks_between_include_the_end_and_stop_at_the_limit() -> None:
    end = datetime(2026, 5, 5, 12, 6, tzinfo=UTC)
    found = ticks_between("* * * * *", "UTC", START, end, limit=10)
    assert [tick.minute for tick in found] == [4, 5, 6]
    assert ticks_between("* * * * *", "UTC", START, end, limit=2) == found[:2]
    assert ticks_between("* * * * *", "UTC", end, START, limit=2) == []


def test_the_latest_time_is_the_last_of_the_ticks_between() -> None:
    end = datetime(2026, 5, 5, 12, 6, tzinfo=UTC)
    assert latest_time("* * * * *", "UTC", START, end) == end
    assert latest_time("* * * * *", "UTC", START, end - timedelta.resolution) == end - timedelta(
        minutes=1
    )
    assert latest_time("0 9 * * *", "UTC", START, end) is None
    assert latest_time("* * * * *", "UTC", end, START) is None
    assert latest_time("0 0 29 2 *", "UTC", START, START + timedelta(days=4000)) == datetime(
        2036, 2, 29, tzinfo=UTC
    )


def test_a_seed_spreads_h_and_gives_every_process_the_same_time() -> None:
    times = {ticks("H H * * *", 1, seed=f"cron {n}")[0] for n in range(50)}
    assert len(times) > 40
    assert ticks("H H * * *", seed="report") == ticks("h h * * *", seed="report")
    assert ticks("H(10-19) 3 * * *", 1, seed="report")[0][11:15] == "03:1"
    spread = next_times("H/15 * * * *", "UTC", START, 9, seed="report")
    assert {late - early for early, late in pairwise(spread)} == {timedelta(minutes=15)}


def test_h_as_a_day_of_the_month_is_one_that_every_month_has() -> None:
    for n in range(50):
        months = [tick[:7] for tick in ticks("0 0 H * *", 13, seed=f"cron {n}")]
        assert len(set(months)) == 13
        assert months[12] <= "2027-06"


def test_aliases_are_not_spread() -> None:
    assert ticks("@daily", seed="report") == ticks("0 0 * * *", seed="report")


def one_of_several(*values: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(values), min_size=1, max_size=3, unique=True).map(",".join)


EXPRESSIONS = st.tuples(
    st.sampled_from(["*", "*/7", "*/90"]) | one_of_several("0", "59", "3-9", "10-50/4", "5/13"),
    st.sampled_from(["*", "*/5"]) | one_of_several("0", "23", "3-9", "10-20/4", "5/7"),
    st.sampled_from(["*", "*/3"]) | one_of_several("1", "31", "30", "8-14", "L", "10/7"),
    st.sampled_from(["*", "*/3"]) | one_of_several("2", "12", "feb", "jun-sep", "4/5"),
    st.sampled_from(["*", "*/3", "1-7/2"])
    | one_of_several("0", "7", "fri", "mon-wed")
    | one_of_several("1#1", "sun#5", "7#3", "wed#2", "L6"),
).map(" ".join)


@stable
@given(expression=EXPRESSIONS, day=st.dates(date(1999, 1, 1), date(2101, 1, 1)))
def test_cronsim_finds_the_same_times_in_utc(expression: str, day: date) -> None:
    after = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    if problem_with_expression(expression):
        assert next_times(expression, "UTC", after, 1) == []
        return
    expected = list(islice(CronSim(expression.replace("L6", "6L"), after), 5))
    assert next_times(expression, "UTC", after, 5) == expected


def test_the_latest_of_a_year_of_minutes_is_the_newest_of_them() -> None:
    year_ago = START - timedelta(days=365)
    assert latest_time("* * * * *", "Asia/Seoul", year_ago, START) == START.replace(second=0)


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


@pytest.mark.parametrize(
    ("expression", "english", "korean"),
    [
        ("* * * * *", "Every minute", "매분"),
        ("*/15 * * * *", "Every 15 minutes", "15분마다"),
        ("0 * * * *", "Every hour", "매시간"),
        ("@hourly", "Every hour", "매시간"),
        ("5,35 * * * *", "Every hour at minute 5 and 35", "매시간 5, 35분"),
        ("1-59/2 * * * *", "Every hour at minute 1, 3 … 59", "매시간 1, 3 … 59분"),
        (
            "*/30 */2 * * *",
            "Every 2 hours at minute 0 and 30",
            "2시간마다 0, 30분",
        ),
        (
            "0 0 2-31,L * *",
            "At 00:00 on day 2 to day 31 and the last day of the month",
            "매월 2일~31일, 마지막 날 00:00",
        ),
        ("17 */6 * * *", "Every 6 hours at minute 17", "6시간마다 17분"),
        ("@daily", "At 00:00 every day", "매일 00:00"),
        ("0 9 * * 1", "At 09:00 on Monday", "월요일 09:00"),
        ("30 6 * * mon-fri", "At 06:30 on Monday to Friday", "월요일~금요일 06:30"),
        ("0 0 * * sat,sun", "At 00:00 on Saturday and Sunday", "토요일, 일요일 00:00"),
        ("0 9,12 * * *", "At 09:00 and 12:00 every day", "매일 09:00, 12:00"),
        ("0 9-17 * * *", "Every hour from 09:00 to 17:00 every day", "매일 09:00~17:00 매시간"),
        (
            "*/15 0-6,20 1 jan,jul *",
            "Every 15 minutes from 00:00 to 06:59 and 20:00 to 20:59 on day 1 in January and July",
            "1월, 7월 1일 00:00~06:59, 20:00~20:59 15분마다",
        ),
        (
            "5,50 9-17 * * *",
            "At minute 5 and 50 of hour 9 to 17 every day",
            "매일 9~17시 5, 50분",
        ),
        ("0 0 29 2 *", "At 00:00 on day 29 in February", "2월 29일 00:00"),
        (
            "0 0 15,L * *",
            "At 00:00 on day 15 and the last day of the month",
            "매월 15일, 마지막 날 00:00",
        ),
        (
            "0 9 * * 1#2",
            "At 09:00 on the second Monday of the month",
            "매월 둘째 월요일 09:00",
        ),
        ("0 9 * 2 L5", "At 09:00 on the last Friday in February", "2월 마지막 금요일 09:00"),
        (
            "0 0 1,15 * 1",
            "At 00:00 on day 1 and day 15 of the month or on Monday",
            "매월 1일, 15일 또는 월요일 00:00",
        ),
        (
            "0 0 */2 * mon",
            "At 00:00 on day 1, day 3 … day 31 of the month if it is Monday",
            "매월 1일, 3일 … 31일 중 월요일 00:00",
        ),
        ("0 0 1-31 * mon", "At 00:00 every day", "매일 00:00"),
        ("H(7-8)/1 3 * * *", "At 03:07 and 03:08 every day", "매일 03:07, 03:08"),
        ("every day", "every day", "every day"),
    ],
)
def test_an_expression_in_words(expression: str, english: str, korean: str) -> None:
    assert describe(expression) == english
    for language in ("en", "en-us", "de"):
        assert describe(expression, language=language) == english
    for language in ("ko", "ko-kr", "ko_KR"):
        assert describe(expression, language=language) == korean


def test_h_reads_as_the_time_that_it_stands_for() -> None:
    (time,) = {tick[11:] for tick in ticks("H H * * *", seed="report")}
    assert describe("H H * * *", seed="report") == f"At {time} every day"
