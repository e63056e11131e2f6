"""Percentiles out of a few numbers, right to about a tenth."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from jobu.reading.histogram import bin_of, percentile

pytestmark = pytest.mark.pure


def histogram_of(durations: list[float]) -> dict[str, int]:
    return Counter(map(bin_of, durations))


@pytest.mark.parametrize("share", [0.5, 0.95, 0.99])
@pytest.mark.parametrize("scale", [0.01, 1, 3600])
def test_a_percentile_is_right_to_about_a_tenth(share: float, scale: float) -> None:
    random.seed(7)
    durations = sorted(scale * random.lognormvariate(0, 1) for _ in range(5000))
    exact = durations[int(share * len(durations)) - 1]
    assert percentile(histogram_of(durations), share) == pytest.approx(exact, rel=0.1)


def test_nothing_has_no_percentile() -> None:
    assert percentile(Counter(), 0.5) is None


def test_one_duration_is_every_percentile() -> None:
    one = histogram_of([2.0])
    assert percentile(one, 0.5) == percentile(one, 0.99) == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize("seconds", [-1.0, 0.0, 0.0005, 0.001])
def test_what_is_shorter_than_a_millisecond_counts_as_one(seconds: float) -> None:
    assert percentile(histogram_of([seconds]), 0.5) == 0.001
