"""Times and durations as people say them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from jobu.admin.shared.words import absolute, duration, relative

pytestmark = pytest.mark.pure

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-1, "0 ms"),
        (0.0004, "0 ms"),
        (0.12, "120 ms"),
        (8.04, "8.0 s"),
        (9.96, "10 s"),
        (59.6, "1 min"),
        (65, "1 min 5 s"),
        (700, "11 min"),
        (3600, "1 h"),
        (2 * 3600 + 59 * 60, "2 h 59 min"),
        (86_400 * 1.5, "1 d 12 h"),
        (86_400 * 100.5, "100 d"),
    ],
)
def test_a_duration_has_two_digits_or_two_units(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_a_moment_is_said_from_now() -> None:
    assert relative(NOW + timedelta(seconds=8), NOW) == "in 8 s"
    assert relative(NOW + timedelta(seconds=0.2), NOW) == "in 1 s"
    assert relative(NOW - timedelta(minutes=3, seconds=5), NOW) == "3 min 5 s ago"
    assert relative(NOW, NOW) == "0 s ago"


def test_a_moment_is_written_with_its_zone() -> None:
    assert absolute(NOW) == "2026-03-01 12:00 UTC"
    assert absolute(NOW + timedelta(seconds=1)) == "2026-03-01 12:00:01 UTC"
