"""With a long history, no page of the admin reads the table of executions from end to end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from jobu.models import CronJob, JobExecution, LogLine, Process
from tests.admin.million import fill
from tests.admin.pages import act
from tests.admin.tour import tour
from tests.plans import TABLE, Statement, caught, plan_of

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(180)]

ROWS = 150_000
"""So many that the planner would never read them all for a page; benchmarks.admin has a million."""


@pytest.fixture(scope="module", autouse=True)
def _long_history(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    with django_db_blocker.unblock():
        if connection.vendor != "postgresql":
            pytest.skip("the promise is made for PostgreSQL")
        try:
            fill(ROWS)
            yield
        finally:
            with connection.cursor() as cursor:
                cursor.execute(f"TRUNCATE {TABLE} RESTART IDENTITY CASCADE")
            for model in (LogLine, CronJob, Process):
                model.objects.all().delete()


@pytest.fixture
def client() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("operator"))
    return client


def scans(statements: list[Statement]) -> list[str]:
    """Return the plans that read the whole table."""
    reading = [s for s in statements if s.sql.startswith("SELECT") and TABLE in s.sql]
    return [plan.text for plan in map(plan_of, reading) if plan.scans]


def test_every_list_filter_and_detail_is_backed_by_an_index(client: Client) -> None:
    pages = tour()
    assert len(pages) > 30
    for name, address in pages.items():
        with caught() as statements:
            assert client.get(address).status_code == 200, name
        assert scans(statements) == [], name


@pytest.mark.parametrize("verb", ["retry", "cancel", "raise_priority"])
def test_so_are_the_question_and_the_batches_of_an_action(client: Client, verb: str) -> None:
    for query in ({}, {"status": "FAILED"}, {"handler_name": "handler3"}):
        with caught() as statements:
            page = client.post(act(verb, **query), {"everything": "1"})
        assert page.status_code == 200
        assert scans(statements) == [], query


def test_the_last_runs_of_a_cron_are_read_alone() -> None:
    job = CronJob.objects.order_by("pk")[6]
    with caught() as statements:
        list(job.executions.order_by("-id")[:100])
    [statement] = statements
    assert plan_of(statement).indexes == {"jobu_exec_job"}
    assert JobExecution.objects.filter(job=job).count() > 100
