"""What waits, who works, what is next."""

from __future__ import annotations

from datetime import timedelta

import pytest

from jobu.dialects import DatabaseNow
from jobu.dispatchers.dispatch import dispatch
from jobu.queue.lanes import look
from jobu.reading import next_ticks, read_processes, waiting
from jobu.reading.names import OTHER
from tests.builders import DAY, cron, database_now, finished, pending, process, running

pytestmark = pytest.mark.django_db


def test_each_queue_tells_what_is_due_and_what_comes_later() -> None:
    pending(queue="mail", available_at=DatabaseNow(-90))
    pending(queue="mail", priority=5)
    pending(queue="mail", available_at=DatabaseNow(3600))
    pending(queue="reports", available_at=DatabaseNow(3600))
    running(queue="mail")
    finished(queue="done")
    mail, reports = waiting()
    assert (mail.queue, mail.due, mail.later, mail.is_capped) == ("mail", 2, 1, False)
    assert 85 < mail.oldest_seconds < 150
    assert (reports.due, reports.later, reports.oldest_seconds) == (0, 1, 0)


def test_nothing_is_counted_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobu.reading.depth.MAX_COUNTED", 3)
    for _number in range(5):
        pending()
    [depth] = waiting()
    assert (depth.due, depth.is_capped) == (3, True)


def test_what_was_set_aside_counts_as_later() -> None:
    for days in (1, 2):
        pending(queue="mail", available_at=DatabaseNow(days * DAY), aside_until=DatabaseNow(DAY))
    pending(queue="mail")
    [mail] = waiting()
    assert (mail.due, mail.later, mail.is_capped) == (1, 2, False)


def test_of_very_many_queues_some_are_told_apart_and_the_others_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("jobu.reading.names.MAX_NAMES", 5)
    monkeypatch.setattr("jobu.reading.depth._MAX_COUNTED_LANES", 3)
    monkeypatch.setattr(look, "__defaults__", ((), None, 10))
    for number in range(20):
        pending(queue=f"a{number}")
        pending(queue=f"b{number}", available_at=DatabaseNow(DAY), aside_until=DatabaseNow(DAY))
    # Behind all of them, but a handler of ours is in it.
    for _ in range(2):
        pending(queue="default")
    depths = {each.queue: each for each in waiting()}
    assert len(depths) == 6
    assert (depths["default"].due, depths["default"].is_capped) == (2, False)
    other = depths[OTHER]
    assert (other.due, other.later, other.is_capped) == (6, 20, True)


def test_a_process_tells_what_it_runs_and_whether_it_beats() -> None:
    busy = process(slots=5, queues=["mail"])
    stale = process(beat_seconds_ago=3600)
    for seconds in (10, 100):
        running(busy.id, started_at=DatabaseNow(-seconds))
    found = {each.id: each for each in read_processes(database_now())}
    assert (found[busy.id].running, found[busy.id].slots) == (2, 5)
    assert 95 < (found[busy.id].longest_seconds or 0) < 160
    assert (found[busy.id].is_stale, found[stale.id].is_stale) == (False, True)
    assert (found[stale.id].running, found[stale.id].longest_seconds) == (0, None)


def test_the_next_ticks_are_those_of_planned_cron_jobs() -> None:
    for name, expression in (("yearly", "0 0 1 1 *"), ("minutely", "* * * * *")):
        cron(name, expression)
    cron("disabled", "* * * * *", is_enabled=False)
    assert next_ticks() == []
    dispatch()
    cron("new", "* * * * *")
    ticks = next_ticks()
    assert [each.name for each in ticks] == ["minutely", "yearly"]
    assert timedelta(0) < ticks[0].at - database_now() <= timedelta(minutes=1)
    assert [each.name for each in next_ticks(limit=1)] == ["minutely"]
