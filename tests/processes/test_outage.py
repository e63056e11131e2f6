"""How long a process waits before it asks a database that is gone again."""

from __future__ import annotations

import pytest
from django.db import OperationalError
from django.test import override_settings

from jobu.processes.outage import Outage

pytestmark = pytest.mark.django_db


def delays(count: int) -> list[float]:
    outage = Outage("worker")
    return [outage.failed(OperationalError("gone")) for _ in range(count)]


def test_it_waits_longer_and_longer_up_to_three_seconds() -> None:
    with override_settings(JOBU_LEASE_SECONDS=30):
        waited = delays(20)
    assert waited[0] <= 0.2
    assert all(1.5 <= delay <= 3 for delay in waited[6:])


def test_an_outage_of_hours_is_waited_for_like_one_of_minutes() -> None:
    assert 0 < delays(2000)[-1] <= 3


def test_it_comes_back_within_a_lease_so_that_nobody_takes_it_for_dead() -> None:
    with override_settings(JOBU_LEASE_SECONDS=2):
        assert max(delays(20)) <= 0.5
