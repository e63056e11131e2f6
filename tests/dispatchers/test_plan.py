"""A poll reads what is due, however many cron jobs there are."""

from __future__ import annotations

import pytest

from jobu.dispatchers.dispatch import dispatch, seconds_to_next
from jobu.models import JobExecution
from tests.builders import many_crons
from tests.plans import Statement, caught, plan_of

pytestmark = pytest.mark.django_db


@pytest.mark.timeout(180)
def test_of_a_hundred_thousand_cron_jobs_a_poll_reads_the_hundred_that_are_due() -> None:
    many_crons(100_000, due=100)
    with caught() as statements:
        assert dispatch() == 100
    assert JobExecution.objects.count() == 100
    assert_goes_by_index(statements)
    with caught() as statements:
        assert dispatch() == 0
        assert seconds_to_next() is not None
    assert_goes_by_index(statements)


def assert_goes_by_index(statements: list[Statement]) -> None:
    due = [s for s in statements if "due_at" in s.sql.partition("WHERE")[2]]
    assert due
    for statement in due:
        plan = plan_of(statement).text
        assert "jobu_cron_due" in plan, plan
        for detour in (
            "Seq Scan",
            "Sort",
            "filesort",
            "'ALL'",
            "TEMP B-TREE",
            "SCAN jobu_cronjob ",
        ):
            assert detour not in plan.replace("SCAN jobu_cronjob USING", "").replace("Sort Key", "")
