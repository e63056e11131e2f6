"""What an execution waits for, and what keeps jobs from being run, where one looks."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from jobu.dialects import DatabaseNow
from jobu.models import ApiToken, CronJob, Dashboard, DeadLetter, JobExecution, Process, Status
from jobu.queue.actions import retry
from jobu.reading.troubles import forget_troubles
from tests.admin.pages import list_of, page_of, staff
from tests.builders import cron, finished, pending, process, running

pytestmark = pytest.mark.django_db

NOBODY = "No process is alive: nothing runs. Start them: manage.py runjobu"
UNSERVED = "No living worker serves the queue “maill”. Start one: manage.py runworker --queue maill"


def text_of(client: Client, address: str) -> str:
    response = client.get(address, follow=True)
    assert response.status_code == 200
    text: str = response.text
    return text


def live(client: Client, execution: JobExecution, **query: Any) -> str:
    address = reverse("admin:jobu_jobexecution_live", query={"id": execution.pk, **query})
    return text_of(client, address)


def test_the_page_of_an_execution_says_what_it_waits_for(admin_client: Client) -> None:
    process(queues=["mail"])
    assert UNSERVED in text_of(admin_client, page_of(pending(queue="maill")))
    later = pending(queue="mail", available_at=DatabaseNow(4 * 3600 + 30))
    assert "Due in 4 h." in text_of(admin_client, page_of(later))
    assert "Waits for" not in text_of(admin_client, page_of(finished()))


def test_the_list_says_it_where_somebody_must_act(admin_client: Client) -> None:
    process(queues=["mail"], slots=1)
    execution = pending(queue="maill")
    free = pending(queue="mail")
    page = text_of(admin_client, list_of(JobExecution))
    assert page.count('class="jobu-waits') == 1
    assert UNSERVED in page
    # A script asks for the cell again and again, of a list with the reason.
    assert UNSERVED in live(admin_client, execution, why="1")
    assert "jobu-waits" not in live(admin_client, execution)
    running(Process.objects.get().pk)
    assert "are in use: 1." in live(admin_client, free, why="1")


def test_the_list_asks_for_processes_once_and_only_if_something_waits(
    admin_client: Client, django_assert_max_num_queries: Any
) -> None:
    process(slots=1)
    for _ in range(50):
        finished()
    admin_client.get(list_of(JobExecution))
    with django_assert_max_num_queries(50) as without:
        admin_client.get(list_of(JobExecution))
    for _ in range(50):
        pending()
    with django_assert_max_num_queries(50) as waiting:
        admin_client.get(list_of(JobExecution))
    # The processes, and what they run; on MySQL also the queue that waits.
    assert len(waiting) == len(without) + 2 + (connection.vendor == "mysql")


@pytest.mark.parametrize("model", [CronJob, JobExecution, DeadLetter, Process, ApiToken, Dashboard])
def test_a_banner_on_each_list_says_what_keeps_jobs_from_being_run(
    admin_client: Client, model: Any
) -> None:
    assert NOBODY in text_of(admin_client, list_of(model))
    process()
    process(kind="dispatcher")
    forget_troubles()
    assert "jobu-troubles" not in text_of(admin_client, list_of(model))


def test_the_banner_is_on_the_pages_of_rows_and_only_jobus_own(admin_client: Client) -> None:
    job, execution = cron(), pending()
    for row in (job, execution, process(beat_seconds_ago=60)):
        assert NOBODY in text_of(admin_client, page_of(row))
    assert NOBODY not in text_of(admin_client, reverse("admin:auth_user_changelist"))


def test_who_may_see_neither_executions_nor_processes_sees_no_banner() -> None:
    pending(queue="secret")
    process(kind="dispatcher")
    assert "jobu-troubles" not in text_of(staff("view_cronjob"), list_of(CronJob))
    assert "jobu-troubles" in text_of(staff("view_process"), list_of(Process))


def test_the_processes_page_says_how_to_start_what_is_missing(admin_client: Client) -> None:
    page = text_of(admin_client, list_of(Process))
    assert "<code>manage.py runworker</code>" in page
    assert "<code>manage.py rundispatcher</code>" in page
    process()
    page = text_of(admin_client, list_of(Process))
    assert "<code>manage.py runworker</code>" not in page
    assert "<code>manage.py rundispatcher</code>" in page
    process(kind="dispatcher")
    assert "jobu-missing" not in text_of(admin_client, list_of(Process))


def test_a_cron_job_without_its_handler_is_shown_so(admin_client: Client) -> None:
    cron(name="lost", handler_name="gone")
    assert "No installed app here has its handler “gone”." in text_of(
        admin_client, list_of(CronJob)
    )


def test_retrying_is_a_filter(admin_client: Client) -> None:
    again = pending(retry_count=1)
    pending()
    finished(Status.FAILED, retry_count=3)
    response = admin_client.get(list_of(JobExecution, status="RETRY"))
    assert [each.pk for each in response.context["cl"].result_list] == [again.pk]
    assert ">retrying<" in "".join(map(str.strip, response.text.lower().split("\n")))


@pytest.mark.parametrize("max_retry", [0, 1, 3])
def test_after_a_retry_by_hand_the_page_counts_anew_and_says_so(
    admin_client: Client, max_retry: int
) -> None:
    runs = max(max_retry, 1)
    execution = finished(
        Status.FAILED, attempt=runs, retry_count=runs, max_retry=max_retry, error_message="no"
    )
    assert f"{runs} of {runs} failed<" in text_of(admin_client, page_of(execution))
    retry(execution)
    page = text_of(admin_client, page_of(execution))
    assert f"0 of {runs} failed since it was retried by hand<" in page
    assert ">pending<" in page
