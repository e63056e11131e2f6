"""An installation of each release is migrated to today's tables, and goes on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

import pytest
from django.core.management import call_command

from jobu import enqueue, enqueue_many
from jobu.adapters.base import QueueMessage
from jobu.dispatchers.dispatch import dispatch
from jobu.messages.dead_letters import requeue
from jobu.messages.store import store
from jobu.models import ApiToken, CronJob, DeadLetter, JobExecution, LogLine, Status
from jobu.models.api_token import hash_of
from jobu.queue.prune import prune, prune_dead_letters
from tests.migrations.databases import empty_database, process_environment
from tests.migrations.dumps import DUMPED, load_dump
from tests.migrations.installation import KEY, LONG_AGO, TOKEN, Installation
from tests.workers import WorkerProcesses, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]

PURPOSE = "upgrade"


@pytest.fixture(params=DUMPED)
def installation(request: pytest.FixtureRequest, vendor: str) -> Iterator[Installation]:
    """One that has rows, and has not been migrated yet."""
    with empty_database(PURPOSE) as connection:
        load_dump(connection, request.param, vendor)
        old = Installation(PURPOSE, request.param)
        old.fill()
        yield old


def migrate() -> None:
    call_command("migrate", database=PURPOSE, verbosity=0)


def test_it_has_rows_of_every_model(installation: Installation) -> None:
    empty = [name for name, rows in installation.rows().items() if not rows]
    assert empty == [], "Let `Installation.fill` make some of these."


def test_migrating_changes_nothing_that_was_there(installation: Installation) -> None:
    before = installation.rows()
    migrate()
    assert installation.rows() == before


def test_workers_go_on_with_what_was_waiting(
    installation: Installation, workers: WorkerProcesses
) -> None:
    migrate()
    waiting = JobExecution.objects.claimable()
    held = JobExecution.objects.running().get()
    ids = {*waiting.values_list("id", flat=True), held.pk}
    assert enqueue("echo", dedupe_key=KEY).pk in ids
    enqueue("echo", {"new": True})
    enqueue_many("echo", [{"number": number} for number in range(20)])
    # Not with --drain, which does not wait for the retry of what is rescued.
    worker = workers.start(**process_environment(PURPOSE))
    unfinished = JobExecution.objects.exclude(finished_at__isnull=False)
    wait_until(lambda: unfinished.count() == 1, "all that is due", workers.logs)
    worker.popen.terminate()
    assert worker.wait() == 0, worker.log
    # Without the old history, which the worker prunes at some time.
    recent = JobExecution.objects.exclude(finished_at=LONG_AGO)
    assert Counter(recent.values_list("handler_name", "status")) == {
        ("fail", Status.FAILED): 1,
        ("echo", Status.SUCCESS): len(ids) - 1 + 21,
        ("echo", Status.PENDING): 1,
    }
    held.refresh_from_db()
    assert (held.status, held.attempt, held.result) == (Status.SUCCESS, 2, {"was": "running"})
    first = JobExecution.objects.order_by("pk")[0]
    assert first.result == {"big": 10**30, "ä": [1.5, None]}


def test_ticks_messages_and_dead_letters_go_on(installation: Installation) -> None:
    migrate()
    before = JobExecution.objects.count()
    assert dispatch() >= 1
    assert JobExecution.objects.filter(job=CronJob.objects.get(name="every minute")).exists()
    body = json.dumps({"handler_name": "echo"}).encode()
    messages = [QueueMessage(id=f"events:0:{number}", body=body) for number in (1, 2)]
    # The first one has an execution already.
    assert store(messages, "kafka") == []
    requeue(DeadLetter.objects.open().get())
    assert JobExecution.objects.count() == before + 3


def test_tokens_are_still_known(installation: Installation) -> None:
    migrate()
    assert ApiToken.objects.get(secret_hash=hash_of(TOKEN)).scope == "read"


def test_old_history_is_pruned(installation: Installation) -> None:
    migrate()
    assert sum(prune(1)) == 5
    assert not LogLine.objects.exists()
    assert sum(deleted for deleted, _open in prune_dead_letters(-1, -1)) == 3
