"""Fixtures of the queue's tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from jobu import signals
from jobu.handlers.registry import handlers
from jobu.models import JobExecution


@pytest.fixture
def own_handlers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test register handlers that are forgotten after it."""
    monkeypatch.setattr(handlers, "_specs", dict(handlers._specs))


@pytest.fixture
def enqueued() -> Iterator[list[JobExecution]]:
    """Collect what `execution_enqueued` is sent for."""
    executions: list[JobExecution] = []

    def collect(execution: JobExecution, **_: Any) -> None:
        executions.append(execution)

    signals.execution_enqueued.connect(collect)
    yield executions
    signals.execution_enqueued.disconnect(collect)
