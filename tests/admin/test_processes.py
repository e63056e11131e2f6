"""Processes: who works on what, and who is gone."""

from __future__ import annotations

import pytest
from django.test import Client

from jobu.dialects import DatabaseNow
from jobu.models import Process
from jobu.models.process import ProcessKind
from tests.admin.pages import list_of, page_of, staff
from tests.builders import finished, process, running

pytestmark = pytest.mark.django_db


def test_the_list_says_who_runs_what_and_for_how_long(admin_client: Client) -> None:
    worker = process(host="web-1", pid=77, slots=8, queues=["mail"])
    for _ in range(6):
        running(worker.pk, started_at=DatabaseNow(-125))
    finished(claimed_by=worker.pk)
    page = admin_client.get(list_of(Process)).text
    assert "worker web-1:77" in page
    assert "6 / 8" in page
    assert "mail" in page
    assert page.count("2 min 5 s") + page.count("2 min 6 s") == 5
    assert "and 1 more" in page
    assert ">alive<" in page


def test_stale_and_stopping_ones_are_marked(admin_client: Client) -> None:
    process(beat_seconds_ago=3600)
    process(stopping=True)
    process(kind=ProcessKind.DISPATCHER)
    page = admin_client.get(list_of(Process)).text
    assert page.count(">stale<") == 1
    assert page.count(">stopping<") == 1
    assert page.count(">alive<") == 1


def test_the_list_asks_once_for_all_that_runs(
    admin_client: Client, django_assert_max_num_queries: object
) -> None:
    for _ in range(5):
        running(process(slots=2).pk)
    with django_assert_max_num_queries(8):  # type: ignore[operator]
        admin_client.get(list_of(Process))


def test_a_process_has_a_page(admin_client: Client) -> None:
    worker = process(host="<b>", pid=1234567)
    execution = running(worker.pk)
    page = admin_client.get(page_of(worker)).text
    assert page_of(execution) in page
    assert "1234567" in page
    assert "<b>:" not in page
    gone = admin_client.get(page_of(Process()), follow=True)
    assert gone.redirect_chain


def test_processes_are_to_be_looked_at_only(admin_client: Client) -> None:
    worker = process()
    assert admin_client.post(page_of(worker), {}).status_code == 403
    assert admin_client.get(page_of(worker, "delete")).status_code == 403
    assert admin_client.get(list_of(Process) + "add/").status_code == 403
    assert staff().get(list_of(Process)).status_code == 403
    assert staff().get(page_of(worker)).status_code == 403
