"""The next times that a person is shown, clock changes marked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from jobu.cron import preview

pytestmark = pytest.mark.pure

BERLIN = "Europe/Berlin"


def walls(expression: str, after: datetime, count: int) -> list[str]:
    return [f"{tick.at:%d %H:%M}" for tick in preview(expression, BERLIN, after, count)]


def test_times_are_in_the_zone_of_the_schedule() -> None:
    assert walls("0 9 * * *", datetime(2026, 1, 5, tzinfo=UTC), 3) == [
        "05 09:00",
        "06 09:00",
        "07 09:00",
    ]


def test_clocks_that_go_forward_are_marked_and_so_is_the_time_they_skip() -> None:
    ticks = preview("30 2 * * *", BERLIN, datetime(2026, 3, 28, tzinfo=UTC), 3)
    assert [f"{tick.at:%d %H:%M}" for tick in ticks] == ["28 02:30", "29 03:00", "30 02:30"]
    assert [tick.is_moved for tick in ticks] == [False, True, False]
    assert [tick.change is None for tick in ticks] == [True, False, True]
    change = ticks[1].change
    assert change is not None
    assert (change.at, change.by) == (datetime(2026, 3, 29, 1, tzinfo=UTC), timedelta(hours=1))


def test_clocks_that_go_back_are_marked() -> None:
    ticks = preview("*/30 * * * *", BERLIN, datetime(2026, 10, 25, 0, 15, tzinfo=UTC), 4)
    assert [f"{tick.at:%H:%M%z}" for tick in ticks] == [
        "02:30+0200",
        "02:00+0100",
        "02:30+0100",
        "03:00+0100",
    ]
    marked = [tick.change.by for tick in ticks if tick.change]
    assert marked == [timedelta(hours=-1)]
    assert not any(tick.is_moved for tick in ticks)


def test_a_zone_without_changes_has_no_marks() -> None:
    ticks = preview("0 0 1 * *", "Asia/Seoul", datetime(2026, 1, 5, tzinfo=UTC), 12)
    assert len(ticks) == 12
    assert not any(tick.change or tick.is_moved for tick in ticks)
