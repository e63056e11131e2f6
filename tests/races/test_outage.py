"""The database server goes away in the middle of a run and comes back."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from tests.kafka import Kafka, Topic
from tests.servers import PrivateServer, private_server
from tests.waiting import wait_until
from tests.workers import MANAGE, WorkerProcesses

OUTAGE_SECONDS = 10


@pytest.fixture
def server(vendor: str) -> Iterator[PrivateServer]:
    with private_server(vendor) as server:
        yield server


@pytest.fixture
def environment(server: PrivateServer) -> dict[str, str]:
    return {**server.environment, "JOBU_TEST_RUN": "private", "JOBU_TEST_PROCESS": "1"}


def manage(environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, str(MANAGE), *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def report(environment: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(manage(environment, "report_executions"))
    return found


@pytest.mark.processes
@pytest.mark.timeout(180)
def test_processes_survive_ten_seconds_without_their_database(
    server: PrivateServer, environment: dict[str, str], tmp_path: Path
) -> None:
    manage(environment, "enqueue_test_jobs", "sleep", "300", "--seconds", "0.2")
    manage(environment, "enqueue_test_jobs", "atomic_effect", "300", "--seconds", "0.01")
    workers = WorkerProcesses(str(tmp_path))
    try:
        running = [workers.start("--max-poll-interval", "1", **environment) for _ in range(2)]
        running[0].wait_for_log("SUCCESS")
        running[1].wait_for_log("SUCCESS")
        running.append(workers.start_command("rundispatcher", **environment))
        running[2].wait_for_log("started")
        server.stop()
        # Not a wait for something: the outage's length is what is tried here.
        threading.Event().wait(OUTAGE_SECONDS)
        server.start()
        for worker in running:
            worker.wait_for_log("can use the database again")
        wait_until(
            lambda: all(e["status"] == "SUCCESS" for e in report(environment)["executions"]),
            "all to succeed",
            workers.logs,
            timeout=100,
            pause=1,
        )
        after = report(environment)
        for worker in running:
            worker.send(signal.SIGTERM)
        assert [worker.wait() for worker in running] == [0, 0, 0], workers.logs()
        lines = report(environment)["lines"]
    finally:
        workers.kill_all()
    assert len(after["executions"]) == 600
    atomic = {e["id"] for e in after["executions"] if e["handler_name"] == "atomic_effect"}
    assert Counter(after["effects"]) == dict.fromkeys(atomic, 1)
    # What did not need the database meanwhile ran once: no result was lost.
    sleeps = [e for e in after["executions"] if e["handler_name"] == "sleep"]
    assert {e["attempt"] for e in sleeps} == {1}
    # What they logged meanwhile is there, once.
    assert sorted(lines) == [[e["id"], "slept"] for e in sorted(sleeps, key=itemgetter("id"))]
    assert "late result" not in workers.logs()


@pytest.mark.processes
def test_processes_wait_for_a_database_that_is_not_up_yet(
    server: PrivateServer, environment: dict[str, str], tmp_path: Path
) -> None:
    manage(environment, "enqueue_test_jobs", "echo", "1")
    server.stop()
    workers = WorkerProcesses(str(tmp_path))
    try:
        worker = workers.start(**environment)
        dispatcher = workers.start_command("rundispatcher", **environment)
        worker.wait_for_log("cannot use the database")
        dispatcher.wait_for_log("cannot use the database")
        server.start()
        worker.wait_for_log("SUCCESS")
        dispatcher.wait_for_log("can use the database again")
        for process in (worker, dispatcher):
            process.send(signal.SIGTERM)
            assert process.wait() == 0, process.log
    finally:
        workers.kill_all()


@pytest.mark.processes
@pytest.mark.timeout(180)
def test_queue_dispatchers_lose_and_repeat_nothing_without_their_database(
    server: PrivateServer, environment: dict[str, str], kafka: Kafka, tmp_path: Path
) -> None:
    topic = Topic(kafka)
    topic.send(b'{"handler_name": "echo", "params": {"n": %d}}' % number for number in range(4000))
    everything = {**environment, **topic.environment}
    workers = WorkerProcesses(str(tmp_path))
    try:
        dispatchers = [
            workers.start_command("runqueuedispatcher", "--batch-size", "10", **everything)
            for _ in range(2)
        ]
        wait_until(lambda: topic.lag() < 4000, "the first to be stored", workers.logs)
        server.stop()
        for dispatcher in dispatchers:
            dispatcher.wait_for_log("cannot use the database")
        # Not a wait for something: the outage's length is what is tried here.
        threading.Event().wait(OUTAGE_SECONDS)
        held = topic.lag()
        server.start()
        wait_until(lambda: topic.lag() == 0, "all to be stored", workers.logs)
        for dispatcher in dispatchers:
            dispatcher.send(signal.SIGTERM)
        assert [dispatcher.wait() for dispatcher in dispatchers] == [0, 0], workers.logs()
    finally:
        workers.kill_all()
        topic.drop()
    assert held > 0
    numbers = [execution["params"]["n"] for execution in report(environment)["executions"]]
    assert sorted(numbers) == list(range(4000))
