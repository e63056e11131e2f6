"""Every way into the queue obeys one rule for signals and has one source of defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import signals as model_signals
from django.test.utils import CaptureQueriesContext

from jobu import enqueue, enqueue_many, signals
from jobu.adapters.base import QueueMessage
from jobu.dispatchers.dispatch import dispatch
from jobu.messages.store import store
from jobu.models import CronJob, JobExecution, Status
from jobu.testing import immediate
from tests.builders import cron
from tests.project.shop.models import Effect

pytestmark = pytest.mark.django_db

START = datetime(2026, 3, 1, 6, 0, tzinfo=UTC)


def hourly(**fields: Any) -> CronJob:
    return cron(
        **{
            "name": "hourly",
            "cron_expression": "0 * * * *",
            "timezone": "UTC",
            "handler_name": "effect",
            "handler_params": {"note": "cron"},
            "misfire": "latest",
            **fields,
        }
    )


def tick() -> None:
    """Dispatch one tick of a cron job that is due."""
    dispatch()
    CronJob.objects.update(next_run_at=datetime.now(UTC) - timedelta(hours=1))
    dispatch()


def by_enqueue() -> None:
    enqueue("effect", {"note": "plain"})


def by_key() -> None:
    for _ in range(2):
        enqueue("effect", {"note": "keyed"}, dedupe_key="key")


def by_enqueue_many() -> None:
    enqueue_many("effect", [{"note": "many"}])


def by_tick() -> None:
    hourly()
    tick()


def by_run_now() -> None:
    hourly().run_now({"note": "now"})


def by_backfill() -> None:
    job = hourly()
    for _ in range(2):
        job.backfill(START, START)


def by_message() -> None:
    body = b'{"handler_name": "effect", "params": {"note": "message"}}'
    for _ in range(2):
        assert store([QueueMessage("1", body)], "memory") == []


WAYS = [by_enqueue, by_key, by_enqueue_many, by_tick, by_run_now, by_backfill, by_message]


@pytest.fixture(autouse=True)
def _messages_start_all(settings: Any) -> None:
    settings.JOBU_EVENT_HANDLERS = "all"


@pytest.fixture
def saved() -> Iterator[list[str]]:
    """Collect which of Django's own signals are sent when executions are stored."""
    sent: list[str] = []

    def collect(signal: Any, **_: Any) -> None:
        sent.append("pre_save" if signal is model_signals.pre_save else "post_save")

    for signal in (model_signals.pre_save, model_signals.post_save):
        signal.connect(collect, sender=JobExecution)
    yield sent
    for signal in (model_signals.pre_save, model_signals.post_save):
        signal.disconnect(collect, sender=JobExecution)


@pytest.mark.parametrize("way", WAYS)
def test_the_signal_is_sent_once_for_each_execution_with_what_is_stored(
    way: Callable[[], None], enqueued: list[JobExecution]
) -> None:
    way()
    [execution] = enqueued
    stored = JobExecution.objects.get()
    names = [field.attname for field in JobExecution._meta.concrete_fields]
    assert {n: getattr(execution, n) for n in names} == {n: getattr(stored, n) for n in names}


@pytest.mark.parametrize("way", WAYS)
def test_with_and_without_a_receiver_the_same_is_stored(
    way: Callable[[], None], request: pytest.FixtureRequest
) -> None:
    def stored() -> dict[str, Any]:
        [row] = JobExecution.objects.values()
        differing = ("id", "created_at", "available_at", "scheduled_time", "job_id")
        return {name: value for name, value in row.items() if name not in differing}

    way()
    without = stored()
    JobExecution.objects.all().delete()
    CronJob.objects.all().delete()
    request.getfixturevalue("enqueued")
    way()
    assert stored() == without


@pytest.mark.parametrize("has_receiver", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_djangos_own_signals_are_sent_by_none_of_the_ways(
    way: Callable[[], None],
    has_receiver: bool,
    saved: list[str],
    request: pytest.FixtureRequest,
) -> None:
    if has_receiver:
        request.getfixturevalue("enqueued")
    way()
    assert JobExecution.objects.count() == 1
    assert saved == []


@pytest.mark.parametrize("way", WAYS)
def test_whatever_is_enqueued_runs_at_once_inside_immediate(way: Callable[[], None]) -> None:
    with immediate():
        way()
    assert JobExecution.objects.get().status == Status.SUCCESS
    assert Effect.objects.count() == 1


def test_a_receiver_that_fails_does_not_keep_ticks_from_being_stored(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(execution: JobExecution, **_: Any) -> None:
        Effect.objects.create(execution_id=execution.pk, note="half done")
        raise OSError("no route to host")

    hourly()
    signals.execution_enqueued.connect(fail)
    try:
        tick()
    finally:
        signals.execution_enqueued.disconnect(fail)
    assert JobExecution.objects.get().status == Status.PENDING
    assert CronJob.objects.get().last_run_at is not None
    assert not Effect.objects.exists()
    assert "no route to host" in caplog.text


def test_a_receiver_that_fails_keeps_run_now_from_storing_anything() -> None:
    def fail(**_: Any) -> None:
        raise OSError("no route to host")

    job = hourly()
    signals.execution_enqueued.connect(fail)
    try:
        with pytest.raises(OSError, match="no route"):
            job.run_now()
    finally:
        signals.execution_enqueued.disconnect(fail)
    assert not JobExecution.objects.exists()


def test_without_receivers_all_ticks_of_a_dispatch_are_one_insert() -> None:
    for number in range(3):
        hourly(name=f"cron {number}", misfire="all", misfire_window_seconds=6 * 3600)
    dispatch()
    CronJob.objects.update(next_run_at=datetime.now(UTC) - timedelta(hours=4))
    with CaptureQueriesContext(connection) as queries:
        dispatch()
    table = JobExecution._meta.db_table
    inserts = [q["sql"] for q in queries if q["sql"].startswith("INSERT") and table in q["sql"]]
    assert len(inserts) == 1
    assert JobExecution.objects.count() >= 9


def test_what_a_cron_job_enqueues_is_what_the_model_would_store() -> None:
    job = hourly(queue="mail", priority=3, max_retry=5, timeout_seconds=60)
    job.backfill(START, START)
    stored = JobExecution.objects.get()
    created = JobExecution.objects.create(
        handler_name="effect",
        params={"note": "cron"},
        param_source="cron",
        queue="mail",
        priority=3,
        max_retry=5,
        timeout_seconds=60,
        available_at=START,
    )
    created.refresh_from_db()
    own = {"id", "created_at", "job_id", "scheduled_time"}
    names = {field.attname for field in JobExecution._meta.concrete_fields} - own
    assert {n: getattr(stored, n) for n in names} == {n: getattr(created, n) for n in names}
    assert (stored.job_id, stored.scheduled_time) == (job.pk, START)
