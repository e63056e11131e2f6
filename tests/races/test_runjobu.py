"""`manage.py runjobu`: real processes, one tree."""

from __future__ import annotations

import os
import signal
import socket
import urllib.request
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from jobu import enqueue
from jobu.models import CronJob, JobExecution, Process, Status
from tests.project.shop import jobs
from tests.servers import free_port
from tests.waiting import wait_until
from tests.workers import WorkerProcesses

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]


def kinds() -> list[str]:
    return sorted(Process.objects.alive().values_list("kind", flat=True))


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/admin/login/", timeout=5) as page:
            return bool(page.status == 200)
    except OSError:
        return False


def test_a_cron_job_runs_under_one_command_and_one_signal_ends_all(
    workers: WorkerProcesses,
) -> None:
    port = free_port()
    everything = workers.start_command("runjobu", "--bind", f"127.0.0.1:{port}")
    wait_until(lambda: answers(port), "the admin's answer", workers.logs)
    job = CronJob.objects.create(name="now", cron_expression="@daily", handler_name="echo")
    wait_until(lambda: kinds() == ["dispatcher", "worker"], "both processes", workers.logs)
    job.run_now()
    wait_until(lambda: JobExecution.objects.finished().exists(), "the run", workers.logs)
    assert JobExecution.objects.get().status == Status.SUCCESS
    everything.send_to_group(signal.SIGINT)
    assert everything.wait() == 0, everything.log
    assert not Process.objects.exists()
    assert not answers(port)
    names = {line.partition(" | ")[0].rstrip() for line in everything.log.splitlines()}
    assert names == {"runjobu", "dispatcher", "worker", "web"}


def test_any_part_that_dies_is_started_again(workers: WorkerProcesses) -> None:
    some = workers.start_command("runjobu", "worker", "dispatcher")
    wait_until(lambda: kinds() == ["dispatcher", "worker"], "both processes", workers.logs)
    victims = {process.id: process.pid for process in Process.objects.all()}
    for pid in victims.values():
        os.kill(pid, signal.SIGKILL)
    wait_until(
        lambda: Process.objects.alive().exclude(id__in=victims).count() == 2,
        "two fresh processes",
        workers.logs,
    )
    assert some.log.count("ended with signal 9; restart in") == 2
    assert "web" not in some.log
    some.send(signal.SIGTERM)
    assert some.wait() == 0, some.log


def test_no_part_outlives_a_command_that_is_killed(workers: WorkerProcesses) -> None:
    port = free_port()
    everything = workers.start_command("runjobu", "web", "worker", "--bind", f"127.0.0.1:{port}")
    wait_until(lambda: answers(port) and kinds() == ["worker"], "its start", workers.logs)
    execution = enqueue("sleep", {"seconds": 1})
    wait_until(lambda: JobExecution.objects.running().exists(), "the claim", workers.logs)
    everything.kill()
    wait_until(lambda: not answers(port), "the web server's end", workers.logs)
    wait_until(lambda: not Process.objects.exists(), "the worker's end", workers.logs)
    execution.refresh_from_db()
    assert execution.status == Status.SUCCESS


def test_changed_code_starts_every_part_afresh(workers: WorkerProcesses) -> None:
    some = workers.start_command("runjobu", "worker", "--processes", "2", "--reload")
    wait_until(lambda: kinds() == ["worker", "worker"], "two workers", workers.logs)
    first = set(Process.objects.values_list("id", flat=True))
    Path(jobs.__file__).touch()
    wait_until(
        lambda: Process.objects.alive().exclude(id__in=first).count() == 2,
        "two fresh workers",
        workers.logs,
    )
    assert "the code has changed; all processes are started again" in some.log
    assert "restart in" not in some.log
    some.send(signal.SIGTERM)
    assert some.wait() == 0, some.log


@pytest.mark.parametrize("command", [["runjobu", "worker"], ["jobu_worker", "--processes=2"]])
def test_jobu_s_own_worker_starts_where_another_app_has_the_name(
    command: list[str], workers: WorkerProcesses
) -> None:
    some = workers.start_command(*command, JOBU_TEST_FIRST_APPS="tests.project.channels")
    expected = 2 if "--processes=2" in command else 1
    wait_until(lambda: kinds() == ["worker"] * expected, "its start", workers.logs)
    some.send(signal.SIGTERM)
    assert some.wait() == 0, some.log


def test_parts_have_second_names_and_run_once_by_whichever(workers: WorkerProcesses) -> None:
    port = free_port()
    some = workers.start_command("runjobu", "admin", "web", f"--bind=127.0.0.1:{port}")
    wait_until(lambda: answers(port), "the admin's answer", workers.logs)
    some.send(signal.SIGTERM)
    assert some.wait() == 0, some.log
    assert some.log.count("started, pid") == 1
    assert {line.partition(" | ")[0].rstrip() for line in some.log.splitlines()} == {
        "runjobu",
        "web",
    }


def test_the_queue_dispatcher_goes_by_both_of_its_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[list[str]] = []

    class Recorder:
        def __init__(self, commands: dict[str, list[str]], **_options: object) -> None:
            started.append([*commands])

        def run(self) -> int:
            return 0

    monkeypatch.setattr("jobu.management.process_command.Supervisor", Recorder)
    for names in (["queue_dispatcher"], ["queue-dispatcher"], ["queue_dispatcher", "worker"]):
        with pytest.raises(SystemExit):
            call_command("runjobu", *names, queue_dispatcher=True)
    assert started == [["queue-dispatcher"], ["queue-dispatcher"], ["queue-dispatcher", "worker"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["wroker"], "There is no part 'wroker'; there are dispatcher, worker, web, "),
        (["web", "--processes=2"], "--processes is about workers, but no worker is to run."),
        (["--bind=somewhere"], "--bind takes ADDRESS:PORT, as in 127.0.0.1:8000, not 'somewhere'."),
        (
            ["--bind=127.0.0.1:99999"],
            "--bind takes ADDRESS:PORT, as in 127.0.0.1:8000, not '127.0.0.1",
        ),
    ],
)
def test_what_cannot_work_is_refused_with_words(arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError) as caught:
        call_command("runjobu", *arguments)
    assert str(caught.value).startswith(message)


@override_settings(ALLOWED_HOSTS=[])
def test_a_web_server_without_allowed_hosts_is_an_error_at_once() -> None:
    with pytest.raises(CommandError, match="ALLOWED_HOSTS"):
        call_command("runjobu", "web")


def test_an_address_that_is_taken_is_an_error_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(CommandError) as caught:
            call_command("runjobu", f"--bind={address}")
    assert str(caught.value).startswith(f"The web server cannot listen at {address}: ")
    assert "--bind 127.0.0.1:8001" in str(caught.value)
