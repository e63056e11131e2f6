"""Metrics: right, never counted twice, and no scan of the history."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from jobu.api import metrics
from jobu.dialects import DatabaseNow
from jobu.models import JobExecution, Status, Tally
from jobu.reading import tally
from tests.api.callers import Api
from tests.builders import DAY, finished, pending, process, running
from tests.connections import together

pytestmark = pytest.mark.django_db

Read = Callable[..., float | None]


@pytest.fixture
def scrape(api: Api) -> Callable[[], Read]:
    def scrape() -> Read:
        response = api.client.get("/api/jobu/metrics", headers=api.headers)
        assert response.status_code == 200
        assert response["Content-Type"].startswith("text/plain")
        samples = {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(response.text)
            for sample in family.samples
        }
        return lambda name, **labels: samples.get((name, frozenset(labels.items())))

    return scrape


def finish(seconds: float = 1, *, ago: float = 60, status: str = "SUCCESS", **fields: str) -> None:
    """Let an execution have finished some time ago, after a run of so many seconds."""
    finished(
        Status(status),
        started_at=DatabaseNow(-ago - seconds),
        days_ago=ago / DAY,
        **fields,
    )


def begin_long_ago() -> None:
    """Let counting have begun before what the test makes."""
    Tally.objects.create(pk=1, counted_until=DatabaseNow(-DAY))


def test_what_finished_is_counted_once_by_handler_and_status(
    scrape: Callable[[], Read],
) -> None:
    begin_long_ago()
    finish()
    finish()
    finish(status="FAILED")
    finish(status="TIMEOUT", handler_name='sleep"\n')
    for _ in range(2):
        read = scrape()
        total = "jobu_executions_finished_total"
        assert read(total, handler="echo", status="SUCCESS") == 2
        assert read(total, handler="echo", status="FAILED") == 1
        assert read(total, handler='sleep"\n', status="TIMEOUT") == 1
    Tally.objects.update(counted_until=DatabaseNow(-40))
    finish(ago=30)
    assert scrape()(total, handler="echo", status="SUCCESS") == 3


def test_counters_do_not_go_down_when_history_is_deleted(scrape: Callable[[], Read]) -> None:
    begin_long_ago()
    finish()
    scrape()
    JobExecution.objects.all().delete()
    assert scrape()("jobu_executions_finished_total", handler="echo", status="SUCCESS") == 1


def test_the_first_scrape_begins_to_count_and_reads_no_history(
    scrape: Callable[[], Read],
) -> None:
    finish(ago=3600)
    assert scrape()("jobu_executions_finished_total", handler="echo", status="SUCCESS") is None


def test_what_finished_just_now_waits_for_the_next_scrape(scrape: Callable[[], Read]) -> None:
    begin_long_ago()
    finish(ago=0)
    assert scrape()("jobu_executions_finished_total", handler="echo", status="SUCCESS") is None


def test_what_has_gathered_is_counted_step_by_step(
    scrape: Callable[[], Read], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tally, "STEP", 2)
    monkeypatch.setattr(tally, "BUDGET_SECONDS", 0)
    begin_long_ago()
    for number in range(7):
        finish(ago=1000 - number)
    counts = [
        scrape()("jobu_executions_finished_total", handler="echo", status="SUCCESS")
        for _ in range(4)
    ]
    assert counts == [3, 6, 7, 7]


def test_run_times_fall_into_buckets(scrape: Callable[[], Read]) -> None:
    begin_long_ago()
    for seconds in (0.03, 0.7, 40, 100_000):
        finish(seconds)
    # Cancelled before it ran: it has no run time.
    finished(Status.CANCELLED, started_at=None, days_ago=0.001)
    read = scrape()
    below = {
        bound: read("jobu_run_seconds_bucket", handler="echo", le=bound)
        for bound in ("0.01", "0.05", "1.0", "60.0", "3600.0", "+Inf")
    }
    assert below == {"0.01": 0, "0.05": 1, "1.0": 2, "60.0": 3, "3600.0": 3, "+Inf": 4}
    assert read("jobu_run_seconds_count", handler="echo") == 4
    assert read("jobu_run_seconds_sum", handler="echo") == pytest.approx(100_040.73, abs=0.1)


def test_what_waits_and_what_runs_is_seen(scrape: Callable[[], Read]) -> None:
    pending(queue="mail", available_at=DatabaseNow(-90))
    pending(queue="mail", priority=3)
    pending(queue="mail", available_at=DatabaseNow(900))
    holder = process(slots=4, beat_seconds_ago=-DAY)
    process(kind="dispatcher", beat_seconds_ago=60)
    running(holder.pk, handler_name="sleep")
    read = scrape()
    assert read("jobu_waiting", queue="mail") == 2
    assert read("jobu_waiting", queue="default") == 0
    assert (read("jobu_oldest_waiting_seconds", queue="mail") or 0) >= 90
    assert read("jobu_running", handler="sleep") == 1
    assert read("jobu_processes", kind="worker", state="alive") == 1
    assert read("jobu_processes", kind="dispatcher", state="alive") == 0
    assert read("jobu_processes", kind="dispatcher", state="stale") == 1
    assert read("jobu_slots") == 4


def test_the_values_of_a_label_are_bounded(
    scrape: Callable[[], Read], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobu.reading.names.MAX_NAMES", 3)
    begin_long_ago()
    for number in range(6):
        pending(queue=f"queue{number}")
        running(handler_name=f"handler{number}")
        finished(handler_name=f"handler{number}", days_ago=0.001)
    read = scrape()
    assert read("jobu_waiting", queue="queue0") == 1
    assert read("jobu_waiting", queue="(other)") == 3
    assert read("jobu_running", handler="(other)") == 3
    assert read("jobu_executions_finished_total", handler="(other)", status="SUCCESS") == 3
    assert read("jobu_run_seconds_count", handler="(other)") == 3


@pytest.mark.row_locks
@pytest.mark.django_db(transaction=True)
def test_of_two_counts_at_once_neither_counts_what_the_other_did() -> None:
    begin_long_ago()
    finish()
    together(*[tally.count_finished] * 2)
    assert tally.count_finished()["echo"]["SUCCESS"]["count"] == 1


def test_a_count_that_comes_too_late_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    begin_long_ago()
    finish()
    count = tally._count_until

    def be_overtaken(horizon: Any, mine: Tally) -> None:
        monkeypatch.setattr(tally, "_count_until", count)
        tally.count_finished()
        count(horizon, mine)

    monkeypatch.setattr(tally, "_count_until", be_overtaken)
    assert tally.count_finished()["echo"]["SUCCESS"]["count"] == 1
    assert Tally.objects.get().revision == 1


@pytest.mark.row_locks
@pytest.mark.django_db(transaction=True)
def test_two_first_counts_at_once_make_one_row() -> None:
    assert together(*[tally.count_finished] * 2) == [{}, {}]
    assert Tally.objects.count() == 1


def test_without_the_library_the_answer_names_the_extra(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "IS_INSTALLED", False)
    answer = api.get("metrics")
    assert (answer.status, answer.code) == (501, "not_installed")
    assert "django-jobu[metrics]" in answer.message
