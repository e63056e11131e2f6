"""What a cron expression means while clocks change, in every zone: Debian cron's rule.

Two judges know nothing of jobu's code. `DebianCron` replays, minute by minute, the virtual clock of
Debian's cron.c; it reads expressions with cronsim's parser. cronsim itself gives the ticks of an
independent implementation of the same rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice, pairwise, takewhile
from zoneinfo import ZoneInfo, available_timezones

import pytest
from cronsim import CronSim
from hypothesis import given, settings
from hypothesis import strategies as st

from jobu.cron import latest_time, next_times, ticks_between

pytestmark = pytest.mark.pure

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)

ELAPSED = [
    "* * * * *",
    "*/15 * * * *",
    "7/20 * * * *",
    "0 * * * *",
    "30 * * * *",
    "5,50 * * * *",
    "* 0 * * *",
    "*/30 2 * * *",
    "*/10 0-3,23 * * *",
    "0 */2 * * *",
    "15 */3 * * *",
    "59 */1 * * *",
    "*/20 0 * * sun",
    "*/7 */3 */2 * *",
    "* 1 1-7 * *",
    "*/5 2 L * *",
]
FIXED = [
    "0 0 * * *",
    "30 0 * * *",
    "59 0 * * *",
    "0 1 * * *",
    "30 1 * * *",
    "0 2 * * *",
    "15 2 * * *",
    "30 2 * * *",
    "15,45 2 * * *",
    "0,30 1-3 * * *",
    "0 3 * * *",
    "0 4 * * *",
    "59 23 * * *",
    "0-59 1-2 * * *",
    "0/10 0-23 * * *",
    "5,*/30 0-23 * * *",
    "30 2 * * sun",
    "30 0-3 * * 1-5",
    "30 0-3 1,29 * fri",
    "45 0-3 L * *",
    "15 0-3 * mar-apr,oct *",
    "10 0-4 * * sun#1,sun#2",
    "10 0-4 * * L0",
]


@dataclass(frozen=True)
class Change:
    """The clocks of a zone jump at an instant."""

    instant: datetime
    before: timedelta
    after: timedelta

    @property
    def gap(self) -> timedelta:
        return self.after - self.before

    def __str__(self) -> str:
        return f"{self.instant:%Y-%m-%d %H:%M} {self.before} to {self.after}"


def changes_of(name: str, start: datetime, end: datetime) -> Iterator[Change]:
    zone = ZoneInfo(name)

    def offset(instant: datetime) -> timedelta:
        return instant.astimezone(zone).utcoffset() or timedelta()

    while start < end:
        early, late = start, start + DAY
        if offset(early) != offset(late):
            while late - early > timedelta(seconds=1):
                middle = early + timedelta(seconds=(late - early) // timedelta(seconds=2))
                early, late = (middle, late) if offset(middle) == offset(early) else (early, middle)
            yield Change(late, offset(early), offset(late))
        start += DAY


@cache
def changes_by_zone() -> dict[str, list[Change]]:
    start, end = datetime(2026, 1, 1, tzinfo=UTC), datetime(2028, 1, 1, tzinfo=UTC)
    found = {name: list(changes_of(name, start, end)) for name in sorted(available_timezones())}
    return {name: changes for name, changes in found.items() if changes}


def cronsim_spelling(expression: str) -> str:
    return expression.replace("L0", "0L")


class DebianCron:
    """Replay Debian's cron: a virtual clock that never goes back, and catches up after a gap."""

    def __init__(self, expression: str) -> None:
        self.fields = CronSim(cronsim_spelling(expression), datetime.now(UTC))
        self.is_wildcard = any(field.startswith("*") for field in expression.split()[:2])

    def matches(self, wall: datetime) -> bool:
        return (
            wall.minute in self.fields.minutes
            and wall.hour in self.fields.hours
            and wall.month in self.fields.months
            and self.fields.match_day(wall.date())
        )

    def ticks(self, zone: ZoneInfo, after: datetime, until: datetime) -> Iterator[datetime]:
        virtual = after.astimezone(zone).replace(tzinfo=None)
        while (after := after + MINUTE) <= until:
            wall = after.astimezone(zone).replace(tzinfo=None)
            if self.is_wildcard:
                if self.matches(wall):
                    yield after
                continue
            passed = [virtual + n * MINUTE for n in range(1, (wall - virtual) // MINUTE + 1)]
            if any(map(self.matches, passed)):
                yield after
            virtual = max(virtual, wall)


def cronsim_ticks(
    expression: str, zone: ZoneInfo, after: datetime, until: datetime
) -> list[datetime]:
    ticks = CronSim(cronsim_spelling(expression), after.astimezone(zone))
    in_utc = (tick.astimezone(UTC) for tick in ticks)
    # Of one tick again and again (see below) a thousand are enough.
    return list(islice(takewhile(lambda tick: tick <= until, in_utc), 1000))


def window_of(change: Change) -> tuple[datetime, datetime]:
    return change.instant - 1.5 * HOUR, change.instant + 2.5 * HOUR


@cache
def debian_ticks(expression: str, name: str, change: Change) -> list[datetime]:
    return list(DebianCron(expression).ticks(ZoneInfo(name), *window_of(change)))


@cache
def zone_to_judge(change: Change) -> str:
    """Zones that make the same change are judged once; jobu's ticks are taken in each of them."""
    return next(name for name, changes in changes_by_zone().items() if change in changes)


def test_zones_of_every_kind_are_among_those_that_change_their_clocks() -> None:
    zones = changes_by_zone()
    assert len(zones) > 150
    assert {"America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Beirut"} < set(
        zones
    )
    assert {"UTC", "Asia/Seoul"}.isdisjoint(zones)


@pytest.mark.parametrize("expression", [*ELAPSED, *FIXED])
def test_every_zone_follows_debians_rule_across_each_change_of_two_years(expression: str) -> None:
    for name, changes in changes_by_zone().items():
        for change in changes:
            found = ticks_between(expression, name, *window_of(change), limit=1000)
            expected = debian_ticks(expression, zone_to_judge(change), change)
            assert found == expected, f"{name} {change}"


def known_fault_of_cronsim(expression: str, change: Change) -> str | None:
    """Say why cronsim 2.8 may differ from the rule that it implements too."""
    if expression in FIXED:
        return None
    midnight = (change.instant + change.before).time() == datetime.min.time()
    if change.gap > timedelta() and midnight:
        return "it goes to the next day's midnight, and fires there even if clocks skip it"
    whole_hours = change.gap % HOUR == timedelta() and change.after % HOUR == timedelta()
    if not whole_hours:
        return "it hops from hour to hour in elapsed time, as if each began at a whole hour of UTC"
    return None


@pytest.mark.parametrize("expression", [*ELAPSED, *FIXED])
def test_cronsim_finds_the_same_ticks_save_for_its_known_faults(expression: str) -> None:
    for change in {change for changes in changes_by_zone().values() for change in changes}:
        name = zone_to_judge(change)
        found = ticks_between(expression, name, *window_of(change), limit=1000)
        if found != cronsim_ticks(expression, ZoneInfo(name), *window_of(change)):
            assert known_fault_of_cronsim(expression, change), f"{name} {change}"


def walls(expression: str, name: str, after: str, until: str) -> list[str]:
    """List ticks as a zone's clocks show them, between two instants in that zone."""
    zone = ZoneInfo(name)
    start, end = (datetime.fromisoformat(text).replace(tzinfo=zone) for text in (after, until))
    ticks = ticks_between(expression, name, start, end, limit=1000)
    return [f"{tick.astimezone(zone):%d. %H:%M%z}" for tick in ticks]


NEW_YORK_SPRING = ("America/New_York", "2026-03-08T00:59", "2026-03-08T04:00")
NEW_YORK_AUTUMN = ("America/New_York", "2026-11-01T00:00", "2026-11-01T02:30")


@pytest.mark.parametrize("expression", ["30 2 * * *", "0 2 * * *", "0,30 2 * * *", "0-59 2 * * *"])
def test_a_fixed_time_in_the_skipped_hour_fires_once_right_after_it(expression: str) -> None:
    assert walls(expression, *NEW_YORK_SPRING) == ["08. 03:00-0400"]


def test_a_fixed_time_at_the_end_of_the_gap_does_not_fire_twice_there() -> None:
    assert walls("0,30 2,3 * * *", *NEW_YORK_SPRING) == ["08. 03:00-0400", "08. 03:30-0400"]


def test_elapsed_time_goes_on_over_the_skipped_hour() -> None:
    assert walls("0 * * * *", *NEW_YORK_SPRING) == [
        "08. 01:00-0500",
        "08. 03:00-0400",
        "08. 04:00-0400",
    ]
    assert walls("*/30 * * * *", *NEW_YORK_SPRING) == [
        "08. 01:00-0500",
        "08. 01:30-0500",
        "08. 03:00-0400",
        "08. 03:30-0400",
        "08. 04:00-0400",
    ]
    assert walls("*/15 2 * * *", *NEW_YORK_SPRING) == []


@pytest.mark.parametrize("name", ["America/New_York", "Europe/Berlin", "Australia/Sydney"])
def test_every_quarter_of_an_hour_is_a_quarter_of_an_hour_all_year(name: str) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    assert next_times("*/15 * * * *", name, start, 35_040) == [
        start + n * timedelta(minutes=15) for n in range(1, 35_041)
    ]


def test_a_fixed_time_in_the_repeated_hour_fires_once_the_first_time() -> None:
    assert walls("30 1 * * *", *NEW_YORK_AUTUMN) == ["01. 01:30-0400"]
    assert walls("0,30 1 * * *", *NEW_YORK_AUTUMN) == ["01. 01:00-0400", "01. 01:30-0400"]


def test_elapsed_time_goes_on_in_the_repeated_hour() -> None:
    assert walls("30 * * * *", *NEW_YORK_AUTUMN) == [
        "01. 00:30-0400",
        "01. 01:30-0400",
        "01. 01:30-0500",
        "01. 02:30-0500",
    ]
    assert walls("*/30 1 * * *", *NEW_YORK_AUTUMN) == [
        "01. 01:00-0400",
        "01. 01:30-0400",
        "01. 01:00-0500",
        "01. 01:30-0500",
    ]


@pytest.mark.parametrize("minute", [30, 45, 59])
@pytest.mark.parametrize("fold", [0, 1])
def test_a_fixed_time_has_fired_whichever_time_the_repeated_hour_is_asked_from(
    minute: int, fold: int
) -> None:
    zone = ZoneInfo("America/New_York")
    after = datetime(2026, 11, 1, 1, minute, 7, 250_000, tzinfo=zone, fold=fold)
    assert next_times("30 1 * * *", zone.key, after, 1) == [
        datetime(2026, 11, 2, 6, 30, tzinfo=UTC)
    ]


def test_elapsed_time_can_be_asked_from_within_a_second_of_the_repeated_hour() -> None:
    after = datetime(2026, 11, 1, 5, 59, 59, 999_999, tzinfo=UTC)
    assert next_times("0 * * * *", "America/New_York", after, 1) == [
        datetime(2026, 11, 1, 6, tzinfo=UTC)
    ]


def test_in_the_repeated_hour_the_next_wall_time_may_be_one_that_will_be_skipped() -> None:
    after = datetime(2025, 11, 2, 5, 15, tzinfo=UTC)
    assert next_times("*/30 2 8 3 *", "America/New_York", after, 1) == [
        datetime(2027, 3, 8, 7, tzinfo=UTC)
    ]


def test_lord_howe_changes_its_clocks_by_half_an_hour() -> None:
    spring = ("Australia/Lord_Howe", "2026-10-04T01:00", "2026-10-04T03:30")
    autumn = ("Australia/Lord_Howe", "2026-04-05T01:00", "2026-04-05T02:30")
    assert walls("15 2 * * *", *spring) == ["04. 02:30+1100"]
    assert walls("45 2 * * *", *spring) == ["04. 02:45+1100"]
    assert walls("*/15 2 * * *", *spring) == ["04. 02:30+1100", "04. 02:45+1100"]
    assert walls("45 1 * * *", *autumn) == ["05. 01:45+1100"]
    assert walls("45 * * * *", *autumn) == ["05. 01:45+1100", "05. 01:45+1030"]


def test_casablanca_goes_back_for_ramadan_and_forward_after_it() -> None:
    back = ("Africa/Casablanca", "2026-02-15T01:59", "2026-02-15T03:00")
    forward = ("Africa/Casablanca", "2026-03-22T01:00", "2026-03-22T03:30")
    assert walls("30 2 * * *", *back) == ["15. 02:30+0100"]
    assert walls("30 * * * *", *back) == ["15. 02:30+0100", "15. 02:30+0000"]
    assert walls("30 2 * * *", *forward) == ["22. 03:00+0100"]


def test_beirut_skips_midnight_and_repeats_the_hour_before_it() -> None:
    spring = ("Asia/Beirut", "2026-03-28T23:30", "2026-03-29T01:30")
    autumn = ("Asia/Beirut", "2026-10-24T22:30", "2026-10-25T00:00")
    assert walls("0 0 * * *", *spring) == ["29. 01:00+0300"]
    assert walls("30 0 * * sun", *spring) == ["29. 01:00+0300"]
    assert walls("*/20 0 * * sun", *spring) == []
    assert walls("30 23 * * *", *autumn) == ["24. 23:30+0300"]
    assert walls("30 * * * *", *autumn) == ["24. 23:30+0300", "24. 23:30+0200"]
    assert walls("0 0 * * *", *autumn) == ["25. 00:00+0200"]


def test_samoa_has_no_30_december_2011_but_what_it_named_fires_once_after_it() -> None:
    skipped = ("Pacific/Apia", "2011-12-29T22:00", "2011-12-31T09:00")
    assert walls("0 9 * * *", *skipped) == ["31. 00:00+1400", "31. 09:00+1400"]
    assert walls("0 9 30 12 *", *skipped) == ["31. 00:00+1400"]
    assert walls("0 9 29 12 *", *skipped) == []
    assert walls("0 */3 30 12 *", *skipped) == []
    assert walls("0 */6 * * *", *skipped) == ["31. 00:00+1400", "31. 06:00+1400"]


@pytest.mark.parametrize("name", ["UTC", "Asia/Seoul"])
def test_where_clocks_never_change_a_day_has_24_hours(name: str) -> None:
    ticks = next_times("30 2 * * *", name, datetime(2026, 1, 1, tzinfo=UTC), 800)
    assert {late - early for early, late in pairwise(ticks)} == {DAY}


def test_every_zone_fires_a_daily_job_once_for_each_day_of_two_years() -> None:
    for name in changes_by_zone():
        zone = ZoneInfo(name)
        start, end = datetime(2026, 1, 1, tzinfo=zone), datetime(2028, 1, 1, tzinfo=zone)
        ticks = ticks_between("30 2 * * *", name, start, end, limit=1000)
        assert len({tick.astimezone(zone).date() for tick in ticks}) == len(ticks) == 730, name


@cache
def historic_changes(name: str) -> list[Change]:
    start, end = datetime(1975, 1, 1, tzinfo=UTC), datetime(2038, 1, 1, tzinfo=UTC)
    return list(changes_of(name, start, end))


def one_of_several(*values: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(values), min_size=1, max_size=3, unique=True).map(",".join)


MINUTES = st.sampled_from(["*", "*/5", "*/7", "*/20", "*/45"]) | one_of_several(
    "0", "1", "7", "29", "30", "31", "59", "10-20", "40-59/6", "3/25"
)
HOURS = st.sampled_from(["*", "*/2", "*/5"]) | one_of_several(
    "0", "1", "2", "3", "4", "12", "22", "23", "0-4", "1-3/2", "9-23"
)
MONTH_DAYS = st.sampled_from(["*", "*", "*", "*/2"]) | one_of_several("1", "15-31", "7", "28", "L")
MONTHS = st.sampled_from(["*", "*", "*/2"]) | one_of_several("1", "mar", "apr-jun", "9-12")
WEEKDAYS = st.sampled_from(["*", "*", "*", "*/2"]) | one_of_several("sun", "1-5", "6", "7", "mon")
EXPRESSIONS = st.tuples(MINUTES, HOURS, MONTH_DAYS, MONTHS, WEEKDAYS).map(" ".join)

ZONES = st.sampled_from(
    [
        "Africa/Cairo",
        "Africa/Casablanca",
        "America/Caracas",
        "America/Havana",
        "America/New_York",
        "America/Santiago",
        "America/Sao_Paulo",
        "America/St_Johns",
        "Antarctica/Troll",
        "Asia/Amman",
        "Asia/Beirut",
        "Asia/Gaza",
        "Asia/Kathmandu",
        "Asia/Pyongyang",
        "Asia/Tehran",
        "Atlantic/Azores",
        "Australia/Lord_Howe",
        "Europe/Dublin",
        "Europe/Moscow",
        "Pacific/Apia",
        "Pacific/Chatham",
        "Pacific/Kwajalein",
    ]
)
stable = settings(derandomize=True, deadline=None, database=None, max_examples=150)


@stable
@given(data=st.data(), name=ZONES, expression=EXPRESSIONS, seconds=st.integers(-10_800, 10_800))
def test_any_expression_asked_at_any_second_near_any_change_follows_debians_rule(
    data: st.DataObject, name: str, expression: str, seconds: int
) -> None:
    change = data.draw(st.sampled_from(historic_changes(name)))
    after, until = change.instant + timedelta(seconds=seconds), change.instant + 6 * HOUR
    replayed = DebianCron(expression).ticks(ZoneInfo(name), change.instant - 4 * HOUR, until)
    expected = [tick for tick in replayed if tick > after]
    assert ticks_between(expression, name, after, until, limit=1000) == expected
    assert latest_time(expression, name, after, until) == (expected[-1] if expected else None)


@stable
@given(
    name=ZONES,
    expression=EXPRESSIONS,
    after=st.integers(0, 4_000_000_000).map(lambda second: datetime.fromtimestamp(second, UTC)),
)
def test_each_tick_is_followed_by_the_same_ticks_as_all_of_them(
    name: str, expression: str, after: datetime
) -> None:
    ticks = next_times(expression, name, after, 12)
    assert len(ticks) == 12
    assert all(early < late for early, late in pairwise([after, *ticks]))
    for n, tick in enumerate(ticks[:-1]):
        assert next_times(expression, name, tick, 1) == [ticks[n + 1]]
        assert next_times(expression, name, ticks[n + 1] - timedelta.resolution, 1) == [
            ticks[n + 1]
        ]
