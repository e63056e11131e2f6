"""When expressions come.

What happens while clocks change is in test_clock_changes.py.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from itertools import islice, pairwise

import pytest
from cronsim import CronSim
from hypothesis import given
from hypothesis import strategies as st

from jobu.cron import (
    latest_time,
    next_times,
    problem_with_expression,
    ticks_between,
)
from tests.cron.expressions import EXPRESSIONS, START, stable

pytestmark = pytest.mark.pure


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
