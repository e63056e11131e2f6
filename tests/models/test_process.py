"""Who is alive, by the database's clock."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from jobu.models import Process
from jobu.models.process import ProcessKind
from tests.builders import database_now, process
from tests.models.refusal import refused

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("kind", ["webserver", "", "WORKER", "worker "])
def test_an_unknown_kind_is_refused(kind: str) -> None:
    assert refused(process(), kind=kind)


@pytest.mark.parametrize("kind", ProcessKind.values)
def test_every_kind_is_accepted(kind: str) -> None:
    assert Process.objects.get(pk=process(kind=kind).pk).kind == kind


@pytest.mark.parametrize("name", ["pid", "slots"])
def test_a_negative_number_is_refused(name: str) -> None:
    assert refused(process(), **{name: -1})


def test_each_boot_has_an_id_of_its_own() -> None:
    first, second = process(), process()
    assert first.pk != second.pk
    with pytest.raises(IntegrityError), transaction.atomic():
        process(id=first.pk)


def test_a_new_process_beats_by_the_databases_clock() -> None:
    before = database_now()
    row = Process.objects.create(kind=ProcessKind.WORKER, host="here", pid=1)
    row.refresh_from_db()
    after = database_now()
    assert before <= row.started_at <= after
    assert before <= row.heartbeat_at <= after


def test_a_process_is_alive_until_its_lease_is_over(settings: Any) -> None:
    settings.JOBU_LEASE_SECONDS = 1000
    fresh, quiet, gone = (process(beat_seconds_ago=seconds) for seconds in (0, 900, 1001))
    assert set(Process.objects.alive()) == {fresh, quiet}
    assert set(Process.objects.stale()) == {gone}


def test_the_lease_is_looked_up_at_each_question(settings: Any) -> None:
    row = process(beat_seconds_ago=100)
    settings.JOBU_LEASE_SECONDS = 1000
    assert set(Process.objects.alive()) == {row}
    settings.JOBU_LEASE_SECONDS = 10
    assert set(Process.objects.stale()) == {row}
    assert not Process.objects.alive().exists()


def test_a_process_is_named_by_kind_and_place() -> None:
    row = process(kind=ProcessKind.QUEUE_DISPATCHER, host="web-1", pid=4711)
    assert str(row) == "queue-dispatcher web-1:4711"
