"""History is condensed once and read from there, whoever does it and however often."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections

from jobu import Dispatcher
from jobu.dialects import DatabaseNow
from jobu.models import JobExecution, Status, Summary
from jobu.reading import Range, read_overview, read_timeline, summarize
from jobu.reading import digest as digest_module
from jobu.reading import timeline as timeline_module
from jobu.reading.ranges import complete_until
from tests.builders import DAY, database_now, finished, pending, process
from tests.connections import together
from tests.plans import TABLE, caught, plan_of
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db


def ended(
    ago: timedelta,
    status: Status = Status.SUCCESS,
    *,
    ran: float | None = 1,
    waited: float = 1,
    **fields: Any,
) -> JobExecution:
    """Make an execution that ended so long ago; without `ran` it never began to run."""
    seconds = ago.total_seconds()
    begun = seconds + (ran or 0)
    return finished(
        status,
        days_ago=seconds / DAY,
        started_at=None if ran is None else DatabaseNow(-begun),
        available_at=DatabaseNow(-begun - waited),
        **fields,
    )


def outcomes(chosen: Range) -> dict[str, int]:
    return {k: v for k, v in read_timeline(chosen, database_now()).total.outcomes.items() if v}


AGES = (timedelta(minutes=1), timedelta(minutes=40), timedelta(hours=20), timedelta(days=6))


def test_each_range_has_what_ended_in_it() -> None:
    for age in AGES:
        ended(age)
    ended(timedelta(days=8))
    assert summarize(60)
    assert [outcomes(each)["SUCCESS"] for each in Range] == [2, 3, 4]


def test_what_is_too_young_to_be_summarised_is_read_live() -> None:
    ended(timedelta(0), Status.FAILED)
    assert summarize(60)
    assert [outcomes(each) for each in Range] == [{"FAILED": 1}] * 3
    assert (
        sum(read_timeline(Range.HOUR, database_now()).steps[-2].outcomes.values())
        + sum(read_timeline(Range.HOUR, database_now()).steps[-1].outcomes.values())
        == 1
    )


def test_a_summary_outlives_its_executions() -> None:
    ended(timedelta(hours=5))
    summarize(60)
    JobExecution.objects.all().delete()
    assert outcomes(Range.DAY) == {"SUCCESS": 1}


def test_coarse_steps_are_made_of_finer_ones() -> None:
    moment = complete_until(Range.DAY.step, database_now()) - timedelta(seconds=30)
    ended(database_now() - moment)
    # Old enough to make every minute of the quarter a step that is to be summarised.
    ended(timedelta(hours=3))
    Summary.objects.all().delete()
    summarize(60)
    minutes = Summary.objects.filter(seconds=60, begins_at=Range.HOUR.floor(moment))
    assert minutes.get().content["outcomes"] == {"echo": {"SUCCESS": 1}}
    Summary.objects.filter(seconds=900).delete()
    minutes.update(content={"outcomes": {"echo": {"SUCCESS": 5}}})
    summarize(60)
    quarter = Summary.objects.get(seconds=900, begins_at=Range.DAY.floor(moment))
    assert quarter.content["outcomes"] == {"echo": {"SUCCESS": 5}}


def test_summarising_again_changes_nothing() -> None:
    for age in AGES:
        ended(age)
    assert summarize(60)
    before = list(Summary.objects.order_by("id").values())
    assert summarize(60)
    # Unless a minute has just gone by.
    assert list(Summary.objects.order_by("id").values())[: len(before)] == before


def test_without_time_nothing_is_summarised_and_that_is_said() -> None:
    ended(timedelta(hours=2))
    assert not summarize(0)
    assert not Summary.objects.exists()
    assert read_overview(Range.DAY).unsummarized > 0
    assert summarize(60)
    assert read_overview(Range.DAY).unsummarized == 0


def test_an_empty_history_needs_no_summary() -> None:
    assert summarize(0)
    pending()
    assert summarize(0)
    assert not Summary.objects.exists()


def test_old_summaries_go() -> None:
    old = database_now() - timedelta(days=8)
    for each in Range:
        Summary.objects.create(seconds=each.step.seconds, begins_at=old)
    ended(timedelta(hours=5))
    summarize(60)
    assert not Summary.objects.filter(begins_at=old).exists()


@pytest.mark.django_db(transaction=True)
def test_two_who_summarise_together_count_each_execution_once() -> None:
    for age in AGES:
        ended(age)
    together(lambda: summarize(60), lambda: summarize(60))
    assert outcomes(Range.WEEK) == {"SUCCESS": 4}


@pytest.mark.django_db(transaction=True)
def test_any_process_summarises_by_itself() -> None:
    ended(timedelta(minutes=10))
    with Dispatcher():
        wait_until(Summary.objects.exists, "a summary")
    connections.close_all()


def test_durations_become_percentiles_of_steps_handlers_and_the_whole() -> None:
    for ran in (1, 1, 1, 30):
        ended(timedelta(minutes=30), ran=ran, waited=5, handler_name="report")
    ended(timedelta(minutes=30), Status.CANCELLED, ran=None, handler_name="never ran")
    summarize(60)
    timeline = read_timeline(Range.HOUR, database_now())
    assert timeline.total.run is not None
    assert timeline.total.wait is not None
    assert timeline.total.run.p50 == pytest.approx(1, rel=0.1)
    assert timeline.total.run.p99 == pytest.approx(30, rel=0.1)
    assert timeline.total.wait.p95 == pytest.approx(5, rel=0.1)
    report, never_ran = timeline.handlers
    assert report.run == timeline.total.run
    assert (never_ran.name, never_ran.finished, never_ran.run) == ("never ran", 1, None)


def test_handlers_that_fail_most_come_first() -> None:
    for name, dead in (("good", 0), ("bad", 2), ("worse", 3)):
        for number in range(4):
            status = Status.TIMEOUT if number < dead else Status.SUCCESS
            ended(timedelta(minutes=30), status, handler_name=name)
    summarize(60)
    found = read_timeline(Range.HOUR, database_now()).handlers
    assert [(each.name, each.failure_rate) for each in found] == [
        ("worse", 0.75),
        ("bad", 0.5),
        ("good", 0),
    ]


def test_where_much_finishes_counts_are_exact_and_durations_a_sample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(digest_module, "_SAMPLE_SIZE", 5)
    for _ in range(50):
        ended(timedelta(minutes=30), ran=2)
    summarize(60)
    timeline = read_timeline(Range.HOUR, database_now())
    assert timeline.total.outcomes["SUCCESS"] == 50
    assert timeline.total.run is not None
    assert timeline.total.run.p95 == pytest.approx(2, rel=0.1)


def test_of_a_minute_without_a_summary_no_more_than_so_many_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(timeline_module, "_MAX_READ_LIVE", 3)
    minute = Range.HOUR.floor(database_now()) - timedelta(minutes=1)
    for second in range(5):
        time = minute + timedelta(seconds=second)
        JobExecution.objects.filter(pk=finished().pk).update(finished_at=time)
    assert outcomes(Range.HOUR) == {"SUCCESS": 3}
    assert read_timeline(Range.HOUR, database_now()).total.is_capped
    monkeypatch.undo()
    assert outcomes(Range.HOUR) == {"SUCCESS": 5}
    assert not read_timeline(Range.HOUR, database_now()).total.is_capped


def test_names_may_be_anything() -> None:
    name = 'a "b" \\ <c> {d} 한국어 😀 $.x'
    ended(timedelta(hours=5), handler_name=name, queue=name)
    summarize(60)
    [stats] = read_timeline(Range.DAY, database_now()).handlers
    assert stats.name == name


def test_the_depth_of_queues_is_kept_with_the_minute_in_which_somebody_looked() -> None:
    ended(timedelta(minutes=30))
    pending(queue="mail")
    summarize(60)
    seen = [step.waiting for step in read_timeline(Range.HOUR, database_now()).steps]
    assert [each for each in seen if each is not None] == [{"mail": 1}]


def test_reading_takes_as_many_queries_for_much_as_for_little() -> None:
    for age in AGES:
        ended(age)
        pending()
    process()
    summarize(60)
    for chosen in Range:
        with caught() as few:
            read_overview(chosen)
        assert len(few) < 25


def test_no_query_reads_the_whole_table() -> None:
    moment = database_now()
    JobExecution.objects.bulk_create(
        [
            JobExecution(
                handler_name="echo",
                status=Status.SUCCESS,
                started_at=moment - timedelta(minutes=number),
                finished_at=moment - timedelta(minutes=number),
            )
            for number in range(3000)
        ]
    )
    pending()
    with caught() as statements:
        summarize(60)
        for chosen in Range:
            read_overview(chosen)
    ours = {each.sql: each for each in statements if f"FROM {quoted(TABLE)}" in each.sql}
    assert len(ours) > 5
    for statement in ours.values():
        plan = plan_of(statement)
        assert not plan.scans, f"{statement.sql}\n{plan.text}"


def quoted(name: str) -> str:
    return connection.ops.quote_name(name)
