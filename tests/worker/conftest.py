"""A worker in the test's own process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connections

from jobu import Worker


@pytest.fixture
def start_worker(transactional_db: None) -> Iterator[Callable[..., Worker]]:
    started: list[Worker] = []

    def start(**options: Any) -> Worker:
        worker = Worker(**{"poll_interval": 0.1, "shutdown_timeout": 1, **options})
        started.append(worker)
        worker.start()
        return worker

    yield start
    for worker in started:
        worker.stop()
    connections.close_all()
