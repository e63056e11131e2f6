"""The queues that occur."""

from __future__ import annotations

import pytest

from jobu.dialects import DatabaseNow
from jobu.reading import known_queues
from jobu.reading import queues as module
from tests.builders import cron, finished, pending

pytestmark = pytest.mark.django_db


def test_a_queue_is_known_from_wherever_it_occurs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LOOKED_AT", 1)
    cron(queue="of a cron job")
    pending(queue="waits", available_at=DatabaseNow(90))
    finished(queue="ran before the newest")
    finished(queue="ran")
    found = known_queues()
    assert {"default", "of a cron job", "waits", "ran"} <= set(found)
    assert "ran before the newest" not in found
    assert found == sorted(found)


def test_there_are_no_more_than_can_be_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_QUEUES", 20)
    for number in range(40):
        pending(queue=f"q{number}")
    found = known_queues()
    assert len(found) == 20
    assert "default" in found
