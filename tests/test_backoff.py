"""How long a failed execution waits before its next attempt."""

from __future__ import annotations

import pytest

from jobu.backoff import bound, delay


@pytest.mark.parametrize(
    ("failures", "expected"), [(1, 2), (2, 4), (3, 8), (4, 16), (9, 512), (10, 600), (100_000, 600)]
)
def test_the_bound_doubles_with_each_failure_up_to_the_maximum(
    failures: int, expected: float
) -> None:
    assert bound(failures, base=2, maximum=600) == expected


def test_a_base_beyond_the_maximum_is_capped() -> None:
    assert bound(1, base=100, maximum=10) == 10


def test_a_base_of_zero_never_waits() -> None:
    assert {delay(failures, base=0, maximum=600) for failures in (1, 5, 1000)} == {0}


def test_delays_are_drawn_from_the_whole_range_below_the_bound() -> None:
    drawn = [delay(3, base=2, maximum=600) for _ in range(1000)]
    assert all(0 <= each <= 8 for each in drawn)
    # Executions that failed together must not come back together; the chance that one of these
    # quarters stays empty is below 1e-120.
    assert {min(int(each // 2), 3) for each in drawn} == {0, 1, 2, 3}


def test_without_jitter_each_delay_is_its_bound() -> None:
    delays = [delay(failures, base=1, maximum=10, jitter=False) for failures in range(1, 7)]
    assert delays == [1, 2, 4, 8, 10, 10]
