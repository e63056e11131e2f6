"""Code that cannot be loaded, under each command that supervises processes."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from jobu.models import CronJob, JobExecution, Process
from tests.waiting import wait_until
from tests.workers import WorkerProcess, WorkerProcesses

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]

BROKEN = "from jobu import handler\n\nraise RuntimeError('half an edit {}')\n"
GOOD = """
from jobu import handler

@handler("edition")
def edition():
    return {}
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    """The jobs.py of an app that the processes have, and that a test may break."""
    app = tmp_path / "apps" / "breakable"
    app.mkdir(parents=True)
    (app / "__init__.py").touch()
    (app / "jobs.py").write_text(GOOD.format(1))
    return app / "jobs.py"


def start(workers: WorkerProcesses, module: Path, *arguments: str) -> WorkerProcess:
    path = f"{module.parents[1]}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    return workers.start_command(
        *arguments, JOBU_TEST_FIRST_APPS="breakable", PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1"
    )


def write(module: Path, text: str) -> None:
    """Replace the file, with a time that no file system takes for the one before."""
    before = module.stat().st_mtime
    module.write_text(text)
    os.utime(module, (before + 10, before + 10))


def workers_alive() -> int:
    return Process.objects.alive().filter(kind="worker").count()


@pytest.mark.parametrize(
    "arguments",
    [("runworker", "--reload"), ("runjobu", "worker", "--processes=2", "--reload")],
)
def test_a_broken_module_is_logged_once_for_each_change_and_mended_by_the_next(
    arguments: tuple[str, ...], workers: WorkerProcesses, module: Path
) -> None:
    count = 2 if "--processes=2" in arguments else 1
    some = start(workers, module, *arguments)
    wait_until(lambda: workers_alive() == count, "its workers", workers.logs)
    write(module, BROKEN.format(1))
    some.wait_for_log("half an edit 1')")
    wait_until(lambda: workers_alive() == 0, "its end", workers.logs)
    write(module, BROKEN.format(2))
    some.wait_for_log("half an edit 2')")
    write(module, GOOD.format(3))
    wait_until(lambda: workers_alive() == count, "fresh workers", workers.logs)
    # This process has no handler of that name, so `enqueue` would refuse it.
    JobExecution.objects.create(handler_name="edition")
    wait_until(lambda: JobExecution.objects.finished().exists(), "its run", workers.logs)
    assert JobExecution.objects.get().result == 3
    some.send(signal.SIGINT)
    assert some.wait() == 0, some.log
    assert some.log.count("the code cannot be loaded") == 2
    assert some.log.count("Traceback (most recent call last)") == 2


def test_supervised_workers_that_died_log_once_why_they_cannot_start(
    workers: WorkerProcesses, module: Path
) -> None:
    some = start(workers, module, "runworker", "--processes", "2")
    wait_until(lambda: workers_alive() == 2, "two workers", workers.logs)
    write(module, BROKEN.format(1))
    for pid in Process.objects.values_list("pid", flat=True):
        os.kill(pid, signal.SIGKILL)
    some.wait_for_log("half an edit 1')")
    write(module, GOOD.format(2))
    wait_until(lambda: some.log.count(" started: ") == 4, "two fresh workers", workers.logs)
    some.send(signal.SIGTERM)
    assert some.wait() == 0, some.log
    assert some.log.count("Traceback (most recent call last)") == 1


def test_a_module_that_was_missing_is_a_change(workers: WorkerProcesses, module: Path) -> None:
    some = start(workers, module, "runworker", "--reload")
    wait_until(lambda: workers_alive() == 1, "the worker", workers.logs)
    write(module, "from breakable.missing import edition\n")
    some.wait_for_log("No module named 'breakable.missing'")
    module.with_name("missing.py").write_text(GOOD.format(2))
    wait_until(lambda: workers_alive() == 1, "the fresh worker", workers.logs)


def test_a_schedule_that_is_declared_meanwhile_becomes_a_cron_job(
    workers: WorkerProcesses, module: Path
) -> None:
    some = start(workers, module, "runjobu", "dispatcher", "--reload")
    wait_until(lambda: Process.objects.alive().exists(), "the dispatcher", workers.logs)
    assert not CronJob.objects.filter(name="edition").exists()
    write(module, GOOD.format(2).replace('"edition"', '"edition", cron="@daily"'))
    wait_until(
        lambda: CronJob.objects.filter(name="edition").exists(), "the cron job", workers.logs
    )
    some.wait_for_log("declared cron job edition: created (@daily, UTC)")
