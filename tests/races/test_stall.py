"""The database answers nobody for a while: it is neither there nor gone."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.races.test_outage import manage, report
from tests.servers import PrivateServer, private_server
from tests.waiting import wait_until
from tests.workers import WorkerProcess, WorkerProcesses

pytestmark = [pytest.mark.processes, pytest.mark.timeout(180)]

LEASE_SECONDS = 2
STALL_SECONDS = 3 * LEASE_SECONDS


@pytest.fixture
def server(vendor: str) -> Iterator[PrivateServer]:
    with private_server(vendor) as server:
        yield server


@pytest.fixture
def environment(server: PrivateServer) -> dict[str, str]:
    return {**server.environment, "JOBU_TEST_RUN": "private", "JOBU_TEST_PROCESS": "1"}


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[WorkerProcesses]:
    workers = WorkerProcesses(str(tmp_path))
    try:
        yield workers
    finally:
        workers.kill_all()


def frozen(server: PrivateServer) -> AbstractContextManager[None]:
    return server.frozen()


def locked(server: PrivateServer) -> AbstractContextManager[None]:
    return server.locked("jobu_process")


@pytest.mark.parametrize("stalled", [frozen, locked])
def test_a_stall_longer_than_the_lease_is_no_death(
    server: PrivateServer, environment: dict[str, str], workers: WorkerProcesses, stalled: Any
) -> None:
    # Long enough to outlast the stall, the lease after it and a slow start of the workers.
    seconds = str(STALL_SECONDS + 8 * LEASE_SECONDS)
    manage(environment, "enqueue_test_jobs", "sleep", "3", "--seconds", seconds, "--max-retry", "1")
    one_at_a_time = ("--pool-size", "1", "--verbosity", "2")
    running = [workers.start(*one_at_a_time, **environment) for _ in range(3)]
    for worker in running:
        worker.wait_for_log("(sleep, attempt 1): started")
    newcomers: list[WorkerProcess] = []
    with stalled(server):
        # As a deploy would: it cannot know for how long the others were kept from beating.
        newcomers.append(workers.start(**environment))
        # Not a wait for something: the stall's length is what is tried here.
        threading.Event().wait(STALL_SECONDS)
    newcomers.append(workers.start(**environment))
    for worker in running:
        worker.wait_for_log("(sleep, attempt 1): SUCCESS")
    executions = report(environment)["executions"]
    assert [(e["status"], e["attempt"]) for e in executions] == [("SUCCESS", 1)] * 3, workers.logs()
    for worker in (*running, *newcomers):
        worker.send(signal.SIGTERM)
        assert worker.wait() == 0, worker.log
    assert "late result" not in workers.logs()
    assert "rescued" not in workers.logs()


def test_a_worker_whose_server_stands_still_drops_its_connections_and_goes_on(
    server: PrivateServer, environment: dict[str, str], workers: WorkerProcesses, vendor: str
) -> None:
    manage(environment, "enqueue_test_jobs", "echo", "1")
    worker = workers.start("--max-poll-interval", "1", **environment)
    stopped = workers.start("--shutdown-timeout", "1", **environment)
    for each in (worker, stopped):
        each.wait_for_log("started")
    wait_until(lambda: "SUCCESS" in workers.logs(), "a run", workers.logs)
    with server.frozen():
        stopped.send(signal.SIGTERM)
        newcomer = workers.start(**environment)
        # The shutdown timeout, ten seconds to settle, three to leave, and a slow machine.
        assert stopped.wait(40) in {0, 1}, stopped.log
        # mysqlclient itself bounds how long it waits.
        is_dropped = vendor == "postgres"
        worker.wait_for_log(
            "its connection is dropped" if is_dropped else "cannot use the database"
        )
        newcomer.wait_for_log("cannot use the database")
    worker.wait_for_log("can use the database again")
    manage(environment, "enqueue_test_jobs", "echo", "1")
    wait_until(lambda: workers.logs().count("SUCCESS") == 2, "a second run", workers.logs)
    worker.send(signal.SIGTERM)
    assert worker.wait() == 0, worker.log
