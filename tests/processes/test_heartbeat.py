"""Who may conclude from the silence of others that they are dead."""

from __future__ import annotations

from typing import Any

import pytest

from jobu.dialects import DatabaseNow
from jobu.models import Process
from jobu.processes.heartbeat import Heartbeat
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db

LEASE_SECONDS = 0.3


@pytest.fixture
def heartbeat(settings: Any) -> Heartbeat:
    """A process that has beaten for a lease without a gap."""
    settings.JOBU_LEASE_SECONDS = LEASE_SECONDS
    heartbeat = Heartbeat("worker")
    heartbeat.register()
    wait_until(heartbeat.may_judge_others, "a lease")
    # So that no pause of this machine is taken for a gap.
    settings.JOBU_LEASE_SECONDS = 1000
    heartbeat.beat()
    settings.JOBU_LEASE_SECONDS = LEASE_SECONDS
    return heartbeat


def let_pass(seconds: float) -> None:
    """Let the database's clock go on by so much, as if it had stood still meanwhile."""
    Process.objects.update(heartbeat_at=DatabaseNow(-seconds))


def test_a_process_judges_nobody_before_it_has_beaten_for_a_lease(settings: Any) -> None:
    settings.JOBU_LEASE_SECONDS = LEASE_SECONDS
    heartbeat = Heartbeat("worker")
    assert not heartbeat.may_judge_others()
    heartbeat.register()
    assert not heartbeat.may_judge_others()
    wait_until(heartbeat.may_judge_others, "a lease")


def test_a_steady_process_may_judge_others(heartbeat: Heartbeat) -> None:
    assert heartbeat.may_judge_others()


@pytest.mark.parametrize("seconds", [LEASE_SECONDS, 3600])
def test_a_gap_by_the_databases_clock_gives_the_others_a_lease_to_beat(
    heartbeat: Heartbeat, seconds: float
) -> None:
    let_pass(seconds)
    heartbeat.beat()
    assert not heartbeat.may_judge_others()
    assert Process.objects.alive().filter(id=heartbeat.process_id).exists()
    wait_until(heartbeat.may_judge_others, "a lease")


def test_a_process_that_was_taken_for_dead_judges_nobody_for_a_lease(heartbeat: Heartbeat) -> None:
    Process.objects.all().delete()
    heartbeat.beat()
    assert not heartbeat.may_judge_others()
    assert Process.objects.filter(id=heartbeat.process_id).exists()
