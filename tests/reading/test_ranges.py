"""Ranges begin and end with whole steps, however odd the moment is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from jobu.reading.ranges import Range, complete_until, steps_between

pytestmark = pytest.mark.pure

NOW = datetime(2026, 11, 16, 4, 38, 24, 123456, tzinfo=UTC)


@pytest.mark.parametrize(
    ("chosen", "begin", "count"),
    [
        (Range.HOUR, datetime(2026, 11, 16, 3, 39, tzinfo=UTC), 60),
        (Range.DAY, datetime(2026, 11, 15, 4, 45, tzinfo=UTC), 96),
        (Range.WEEK, datetime(2026, 11, 9, 6, 0, tzinfo=UTC), 84),
    ],
)
def test_a_range_is_so_many_steps_that_end_with_the_current_one(
    chosen: Range, begin: datetime, count: int
) -> None:
    assert chosen.begin(NOW) == begin
    steps = steps_between(begin, chosen.floor(NOW) + chosen.step, chosen.step)
    assert len(steps) == count
    assert (steps[-1], steps[0]) == (begin, chosen.floor(NOW))


@pytest.mark.parametrize(("second", "minute"), [(24, 38), (20, 38), (19, 37), (0, 37)])
def test_a_step_is_complete_a_little_after_its_end(second: int, minute: int) -> None:
    now = NOW.replace(second=second, microsecond=0)
    assert complete_until(timedelta(minutes=1), now) == NOW.replace(
        minute=minute, second=0, microsecond=0
    )


def test_nothing_lies_between_an_end_and_a_later_beginning() -> None:
    assert steps_between(NOW, NOW - timedelta(hours=1), timedelta(minutes=1)) == []
