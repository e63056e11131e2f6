"""Workers of two versions run side by side, while and after the tables become the newer ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, connections
from django.test import override_settings

from jobu import enqueue
from jobu.models import CronJob, JobExecution, Status
from tests.migrations.databases import empty_database, process_environment
from tests.migrations.installation import Installation
from tests.waiting import wait_until
from tests.workers import WorkerProcess, WorkerProcesses

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.processes,
    pytest.mark.timeout(240),
]

PURPOSE = "rolling"
OLD = process_environment(PURPOSE)
NEW = {**OLD, "DJANGO_SETTINGS_MODULE": "tests.project.later_settings"}
LATER_MIGRATIONS = {"jobu": "tests.project.later.jobu_migrations"}


@pytest.fixture(autouse=True)
def _tables_of_today() -> Iterator[None]:
    with empty_database(PURPOSE):
        call_command("migrate", database=PURPOSE, verbosity=0)
        yield


def produce(workers: WorkerProcesses, journal: Path, **environment: str) -> WorkerProcess:
    """Start a process that enqueues and makes cron jobs, until it is stopped."""
    options = ("--seed", "1", "--shared", "0")
    return workers.start_command("produce_test_jobs", str(journal), *options, **environment)


def written(journal: Path) -> list[dict[str, Any]]:
    lines = journal.read_text().splitlines() if journal.exists() else []
    return [json.loads(line) for line in lines]


def wait_for_more(workers: WorkerProcesses, *journals: Path) -> None:
    """Wait until each producer has enqueued more, and more has been settled."""
    for journal in journals:
        before = len(written(journal))
        wait_until(
            lambda journal=journal, before=before: len(written(journal)) > before + 20,  # type: ignore[misc]
            "more that is enqueued",
            workers.logs,
        )
    settled = JobExecution.objects.finished().count()
    wait_until(
        lambda: JobExecution.objects.finished().count() > settled + 20,
        "more that is settled",
        workers.logs,
    )


def tomorrows_rows(count: int) -> list[int]:
    """Make executions that use the new columns, as tomorrow's code would."""
    with override_settings(MIGRATION_MODULES=LATER_MIGRATIONS):
        later = Installation(PURPOSE, "9999_later_index")
    return [
        later.create(
            "JobExecution",
            handler_name="echo",
            later_nullable={"number": number},
            later_defaulted="by tomorrow's code",
        ).pk
        for number in range(count)
    ]


def test_old_workers_go_on_while_a_migration_is_applied_and_beside_new_ones(
    workers: WorkerProcesses, tmp_path: Path
) -> None:
    old_journal, new_journal = tmp_path / "old.journal", tmp_path / "new.journal"
    before = [enqueue("echo", {"before": number}).pk for number in range(20)]
    old = [workers.start(**OLD), workers.start_command("rundispatcher", **OLD)]
    old_producer = produce(workers, old_journal, **OLD)
    wait_for_more(workers, old_journal)

    migration = workers.start_command("migrate", "--verbosity", "0", **NEW)
    assert migration.wait(120) == 0, migration.log
    wait_for_more(workers, old_journal)

    new = [workers.start(**NEW), workers.start_command("rundispatcher", **NEW)]
    new_producer = produce(workers, new_journal, **NEW)
    made = tomorrows_rows(20)
    after = [enqueue("echo", {"after": number}).pk for number in range(20)]
    wait_for_more(workers, old_journal, new_journal)

    stop(old_producer, new_producer)
    unfinished = JobExecution.objects.exclude(status=Status.SUCCESS)
    wait_until(lambda: not CronJob.objects.due().exists(), "the ticks", workers.logs)
    CronJob.objects.update(is_enabled=False)
    wait_until(lambda: not unfinished.exists(), "the rest", workers.logs)
    assert not [process for process in (*old, *new) if process.popen.poll() is not None]
    stop(*old, *new)

    journal = written(old_journal) + written(new_journal)
    assert [line for line in journal if "error" in line] == []
    enqueued = {line["id"] for line in journal if "id" in line}
    assert {*enqueued, *before, *made, *after} <= set(
        JobExecution.objects.values_list("id", flat=True)
    )
    assert len(set(JobExecution.objects.values_list("claimed_by", flat=True))) == 2
    assert "ERROR" not in workers.logs()
    assert "Traceback" not in workers.logs()
    assert later_values(made) == {"by tomorrow's code"}
    assert later_values([*before, *after]) == {"by the database"}


def test_tomorrows_code_and_its_migration_agree(workers: WorkerProcesses) -> None:
    check = workers.start_command("makemigrations", "--check", "--dry-run", **NEW)
    assert check.wait() == 0, check.log


def test_todays_code_takes_tables_that_are_ahead(workers: WorkerProcesses) -> None:
    ahead = workers.start_command("migrate", "--verbosity", "0", **NEW)
    assert ahead.wait(120) == 0, ahead.log
    again = workers.start_command("migrate", "--verbosity", "0", **OLD)
    assert again.wait() == 0, again.log
    enqueue("echo")
    worker = workers.start("--drain", **OLD)
    assert worker.wait() == 0, worker.log
    assert JobExecution.objects.get().status == Status.SUCCESS


@pytest.mark.skipif(connection.vendor != "postgresql", reason="indexes are not left invalid here")
def test_an_index_that_was_interrupted_is_built_by_the_next_attempt(
    workers: WorkerProcesses,
) -> None:
    first = workers.start_command("migrate", "jobu", "9998", "--verbosity", "0", **NEW)
    assert first.wait(120) == 0, first.log
    with connections[PURPOSE].cursor() as cursor:
        cursor.execute("CREATE INDEX jobu_exec_later ON jobu_jobexecution (id)")
        cursor.execute(
            "UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = 'jobu_exec_later'::regclass"
        )
    again = workers.start_command("migrate", "--verbosity", "0", **NEW)
    assert again.wait(120) == 0, again.log
    with connections[PURPOSE].cursor() as cursor:
        cursor.execute(
            "SELECT indisvalid, pg_get_indexdef(indexrelid) FROM pg_index "
            "WHERE indexrelid = 'jobu_exec_later'::regclass"
        )
        [(is_valid, definition)] = cursor.fetchall()
    assert is_valid
    assert "(later_defaulted, id)" in definition


def stop(*processes: WorkerProcess) -> None:
    for process in processes:
        process.popen.terminate()
    assert [process.wait() for process in processes] == [0] * len(processes)


def later_values(ids: list[int]) -> set[str]:
    places = ", ".join(["%s"] * len(ids))
    with connections[PURPOSE].cursor() as cursor:
        cursor.execute(f"SELECT later_defaulted FROM jobu_jobexecution WHERE id IN ({places})", ids)
        return {value for (value,) in cursor.fetchall()}
