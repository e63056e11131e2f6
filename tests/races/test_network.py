"""A network that drops packets without a word, between a machine and the database."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.machines import Machine, another_machine
from tests.races.test_outage import manage, report
from tests.servers import private_server
from tests.waiting import wait_until
from tests.workers import WorkerProcess, WorkerProcesses

pytestmark = [pytest.mark.processes, pytest.mark.timeout(180)]

LEASE_SECONDS = 10


@pytest.fixture(scope="module")
def environment_of_all() -> Iterator[tuple[Machine, dict[str, str]]]:
    """Another machine, and what points a process at the database on this one."""
    with (
        another_machine() as machine,
        private_server(os.environ["JOBU_TEST_DATABASE"], machine.our_address) as server,
    ):
        environment = {
            **server.environment,
            "JOBU_TEST_RUN": "private",
            "JOBU_TEST_PROCESS": "1",
            "JOBU_LEASE_SECONDS": str(LEASE_SECONDS),
        }
        yield machine, environment


@pytest.fixture
def machine(environment_of_all: tuple[Machine, dict[str, str]]) -> Iterator[Machine]:
    machine, _ = environment_of_all
    yield machine
    machine.join_again()


@pytest.fixture
def environment(environment_of_all: tuple[Machine, dict[str, str]]) -> dict[str, str]:
    _, environment = environment_of_all
    manage(environment, "flush", "--no-input", "--verbosity", "0")
    return environment


@pytest.fixture
def there(tmp_path: Path, machine: Machine) -> Iterator[WorkerProcesses]:
    """The processes on the other machine."""
    workers = WorkerProcesses(str(tmp_path), machine.through)
    try:
        yield workers
    finally:
        workers.kill_all()


@pytest.fixture
def here(tmp_path: Path) -> Iterator[WorkerProcesses]:
    folder = tmp_path / "here"
    folder.mkdir()
    workers = WorkerProcesses(str(folder))
    try:
        yield workers
    finally:
        workers.kill_all()


def start_and_run_one(there: WorkerProcesses, environment: dict[str, str]) -> WorkerProcess:
    manage(environment, "enqueue_test_jobs", "echo", "1")
    worker = there.start("--max-poll-interval", "1", **environment)
    worker.wait_for_log("SUCCESS")
    return worker


def wait_for_second_run(worker: WorkerProcess, began: float) -> None:
    wait_until(lambda: worker.log.count("SUCCESS") == 2, "a second run", lambda: worker.log)
    assert time.monotonic() - began < LEASE_SECONDS + 10


def test_a_worker_whose_connections_lead_nowhere_works_again_soon(
    machine: Machine, environment: dict[str, str], there: WorkerProcesses
) -> None:
    worker = start_and_run_one(there, environment)
    dispatcher = there.start_command("rundispatcher", **environment)
    dispatcher.wait_for_log("started")
    began = time.monotonic()
    machine.forget_connections()
    manage(environment, "enqueue_test_jobs", "echo", "1")
    wait_for_second_run(worker, began)
    dispatcher.wait_for_log("can use the database again")
    assert "registers again" not in there.logs()
    for process in (worker, dispatcher):
        process.send(signal.SIGTERM)
        assert process.wait() == 0, process.log


def test_a_worker_that_was_cut_off_works_again_soon_after(
    machine: Machine, environment: dict[str, str], there: WorkerProcesses
) -> None:
    worker = start_and_run_one(there, environment)
    machine.cut_off()
    worker.wait_for_log("cannot use the database")
    # Not a wait for something: the length of the outage is what is tried here.
    threading.Event().wait(1.5 * LEASE_SECONDS)
    manage(environment, "enqueue_test_jobs", "echo", "1")
    began = time.monotonic()
    machine.join_again()
    wait_for_second_run(worker, began)


@pytest.mark.parametrize("command", ["runworker", "rundispatcher"])
def test_a_process_that_is_cut_off_ends_when_it_is_told_to(
    machine: Machine, environment: dict[str, str], there: WorkerProcesses, command: str
) -> None:
    options = {"runworker": ["--shutdown-timeout", "2"], "rundispatcher": []}[command]
    first, second = (there.start_command(command, *options, **environment) for _ in range(2))
    first.wait_for_log("started")
    second.wait_for_log("started")
    machine.cut_off()
    for process in (first, second):
        process.send(signal.SIGTERM)
    # Caught and not yet acted upon at the least; a process that ended already is as good.
    wait_until(lambda: "stops" in second.log or second.popen.poll() is not None, "the signal")
    second.send(signal.SIGTERM)
    assert second.wait(5) == 128 + signal.SIGTERM, second.log
    # The shutdown timeout, what it takes to give up, and a slow machine.
    assert first.wait(40) in {0, 1}, first.log


def test_what_a_vanished_machine_has_locked_is_free_within_two_leases(
    machine: Machine,
    environment: dict[str, str],
    there: WorkerProcesses,
    here: WorkerProcesses,
) -> None:
    manage(environment, "enqueue_test_jobs", "echo", "3")
    lost = there.start_command("hold_claim", **environment)
    lost.wait_for_log("claimed 3")
    machine.cut_off()
    began = time.monotonic()
    lost.kill()
    worker = here.start("--max-poll-interval", "1", **environment)
    wait_until(lambda: worker.log.count("SUCCESS") == 3, "three runs", here.logs)
    # Two leases, and a poll.
    assert time.monotonic() - began < 2 * LEASE_SECONDS + 5


@pytest.mark.skipif(
    os.environ.get("JOBU_TEST_DATABASE") in {"mariadb", "mysql"},
    reason="MySQL lets a session only bound how long it may be idle, and a handler may compute",
)
def test_what_an_atomic_handler_of_a_vanished_machine_has_locked_is_free_for_its_next_run(
    machine: Machine,
    environment: dict[str, str],
    there: WorkerProcesses,
    here: WorkerProcesses,
) -> None:
    manage(environment, "shell", "-c", MAKE_THE_ROW)
    manage(environment, "enqueue_test_jobs", "atomic_lock", "1")
    lost = there.start(**environment)
    lost.wait_for_log("has the lock")
    machine.cut_off()
    lost.kill()
    worker = here.start("--max-poll-interval", "1", **environment)
    worker.wait_for_log("SUCCESS")
    [execution] = report(environment)["executions"]
    assert (execution["status"], execution["attempt"]) == ("SUCCESS", 2)


MAKE_THE_ROW = (
    "from tests.project.shop.models import Effect;"
    "Effect.objects.create(execution_id=0, note='locked by all')"
)
