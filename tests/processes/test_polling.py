"""The loop's own connection."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connections

from jobu.processes import polling
from jobu.processes.polling import PollingProcess
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


class Idle(PollingProcess):
    """Polls, but asks its database for nothing: as a queue dispatcher without messages."""

    kind = "worker"

    def __init__(self) -> None:
        super().__init__()
        self.polls = 0
        self.connections: list[Any] = []

    def poll(self) -> float:
        self.polls += 1
        current = connections["default"].connection
        if not any(current is each for each in self.connections):
            self.connections.append(current)
        return 0.01


def test_a_connection_that_was_silent_is_opened_anew_before_the_server_ends_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(polling, "statement_bound", lambda: 0.05)
    with Idle() as process:
        wait_until(lambda: len(process.connections) >= 3, "two more connections")
    assert None not in process.connections


def test_a_connection_that_was_silent_for_a_moment_is_kept() -> None:
    with Idle() as process:
        wait_until(lambda: process.polls >= 10, "ten polls")
    assert len(process.connections) == 1
