"""What may be claimed before a slot is free for it."""

from __future__ import annotations

import uuid

import pytest

from jobu import enqueue
from jobu.models import JobExecution
from jobu.queue.claim import claim
from jobu.queue.lanes import find_lanes

pytestmark = pytest.mark.django_db


def test_an_execution_on_its_last_run_is_claimed_only_if_it_starts_at_once() -> None:
    last_runs = [enqueue("echo", max_retry=max_retry).pk for max_retry in (0, 1)]
    retried = enqueue("echo", max_retry=3)
    JobExecution.objects.filter(pk=retried.pk).update(retry_count=2)
    repeatable = enqueue("echo", max_retry=3)

    attempts = claim(find_lanes().lanes, 10, uuid.uuid4(), free=1)
    assert [a.execution_id for a in attempts] == [last_runs[0], repeatable.pk]

    attempts = claim(find_lanes().lanes, 10, uuid.uuid4(), free=0)
    assert attempts == []

    attempts = claim(find_lanes().lanes, 10, uuid.uuid4(), free=5)
    assert [a.execution_id for a in attempts] == [last_runs[1], retried.pk]


def test_an_execution_that_was_lost_or_failed_before_is_claimed_only_if_it_starts_at_once() -> None:
    retried, fresh = enqueue("echo", max_retry=100), enqueue("echo", max_retry=100)
    JobExecution.objects.filter(pk=retried.pk).update(retry_count=1)
    attempts = claim(find_lanes().lanes, 10, uuid.uuid4(), free=0)
    assert [a.execution_id for a in attempts] == [fresh.pk]
    attempts = claim(find_lanes().lanes, 10, uuid.uuid4(), free=1)
    assert [a.execution_id for a in attempts] == [retried.pk]


def test_free_slots_are_counted_over_all_lanes() -> None:
    executions = [enqueue("echo", max_retry=1, priority=p).pk for p in (2, 1, 0)]
    attempts = claim(find_lanes().lanes, 10, uuid.uuid4(), free=2)
    assert [a.execution_id for a in attempts] == executions[:2]
