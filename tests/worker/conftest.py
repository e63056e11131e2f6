"""A worker in the test's own process, and what it settled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connections

from jobu import Worker
from jobu.models import JobExecution
from jobu.outcomes import FINISHED
from tests.workers import wait_until


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


def finished(execution: JobExecution) -> JobExecution:
    """Wait until the execution is finished; return it as it is in the database then."""

    def is_finished() -> bool:
        execution.refresh_from_db()
        return execution.status in FINISHED

    wait_until(is_finished, f"the end of {execution}", lambda: f"it is {execution.status}")
    return execution
