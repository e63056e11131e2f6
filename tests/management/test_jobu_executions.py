"""The commands `jobu_enqueue`, `jobu_executions` and `jobu_alerts`, as a person uses them."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from jobu.management.arguments import delay
from jobu.models import CronJob, JobExecution, Status
from tests.alerts.receivers import webhook
from tests.builders import column, database_now, finished, pending, running
from tests.workers import WorkerProcesses

pytestmark = pytest.mark.django_db


class Said:
    """What a command wrote, and its exit code."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        out, err = StringIO(), StringIO()
        self.code = 0
        try:
            call_command(*map(str, arguments), stdout=out, stderr=err, **options)
        except SystemExit as exited:
            self.code = int(exited.code or 0)
        self.out, self.err = out.getvalue(), err.getvalue()

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def lines(self) -> list[list[str]]:
        return [line.split() for line in self.out.splitlines()]


def enqueued() -> JobExecution:
    return JobExecution.objects.get()


def test_it_enqueues_by_hand_with_all_options() -> None:
    said = Said(
        "jobu_enqueue", "echo", "--params", '{"text": "밤"}', "--queue", "mail", "--priority", 7,
        "--max-retry", 2, "--timeout", 9, "--dedupe-key", "k",
    )  # fmt: skip
    row = enqueued()
    assert said.out == f"Execution {row.pk} of 'echo' is in the queue 'mail'.\n"
    assert (row.params, row.queue, row.priority, row.param_source) == (
        {"text": "밤"},
        "mail",
        7,
        "manual",
    )
    assert (row.max_retry, row.timeout_seconds, row.dedupe_key) == (2, 9, "k")
    again = Said("jobu_enqueue", "echo", "--dedupe-key", "k")
    assert again.out == f"Execution {row.pk} of 'echo' has this dedupe key already.\n"


def test_a_delay_counts_from_the_databases_time() -> None:
    Said("jobu_enqueue", "echo", "--delay", "1h30m")
    due_in = enqueued().available_at - database_now()
    assert timedelta(minutes=89) < due_in <= timedelta(minutes=90)


def test_a_moment_without_a_zone_is_in_that_of_the_project() -> None:
    Said("jobu_enqueue", "echo", "--at", "2100-01-31T09:00")
    expected = timezone.make_aware(timezone.datetime(2100, 1, 31, 9, 0))
    assert enqueued().available_at == expected


@pytest.mark.pure
def test_delays_are_read_as_people_write_them() -> None:
    assert delay("90") == delay("90s") == delay("1m30s") == timedelta(seconds=90)
    assert (delay("2h"), delay("1d")) == (timedelta(hours=2), timedelta(days=1))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ech"], "Did you mean 'echo'?"),
        (["echo", "--params", "{text: 1}"], "Quote it for the shell"),
        (["echo", "--params", "[1]"], "must be"),
        (["echo", "--delay", "soon"], "'soon' is no delay such as 90, 90s, 5m, 2h or 1d"),
        (["echo", "--at", "tomorrow"], "'tomorrow' is no time such as 2030-01-31T09:00+09:00"),
        (["echo", "--delay", "5m", "--at", "2030-01-31T09:00"], "not allowed with"),
        (["echo", "--priority", "100000"], "priority must be"),
        (["echo", "--queue", ""], "queue must be"),
        (["echo", "--dedupe-key", "jobu:1"], "must not begin with 'jobu:'"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_words(arguments: list[str], said: str) -> None:
    with pytest.raises(CommandError) as caught:
        Said("jobu_enqueue", *arguments)
    assert said in str(caught.value)
    assert not JobExecution.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.processes
def test_waiting_prints_the_result_and_exits_by_the_outcome(workers: WorkerProcesses) -> None:
    worker = workers.start()
    worker.wait_for_log("started")
    params = '{"text": "hello", "password": "hunter22"}'
    said = Said("jobu_enqueue", "echo", "--params", params, "--wait", 60)
    assert (said.code, said.json) == (0, {"text": "hello", "password": "********"})
    failed = Said("jobu_enqueue", "fail", "--max-retry", 1, "--wait", 60)
    assert (failed.code, failed.out) == (3, "")
    assert "FAILED: " in failed.err
    late = Said(
        "jobu_enqueue", "sleep", "--params", '{"seconds": 60}', "--timeout", 1, "--max-retry", 1,
        "--wait", 60,
    )  # fmt: skip
    assert late.code == 4


def test_waiting_in_vain_says_why_and_ends_in_time() -> None:
    said = Said("jobu_enqueue", "echo", "--queue", "maill", "--wait", 0.2)
    assert said.code == 6
    assert "No process is alive. Start a worker: manage.py runworker" in said.err
    assert "It is still PENDING." in said.err


def test_the_list_has_the_newest_first_and_takes_the_filters_of_the_admin() -> None:
    cron = CronJob.objects.create(name="n", cron_expression="* * * * *", handler_name="echo")
    retrying = pending(retry_count=1)
    dead = finished(Status.FAILED, queue="mail", error_message="ValueError: \x1b[31mno\nluck")
    by_cron = finished(job=cron, param_source="cron", handler_name="cleanup")

    def ids(*filters: Any) -> list[int]:
        return [each["id"] for each in Said("jobu_executions", "list", "--json", *filters).json]

    assert ids() == [by_cron.pk, dead.pk, retrying.pk]
    assert ids("--limit", 1) == [by_cron.pk]
    assert ids("--status", "retry") == [retrying.pk]
    assert ids("--status", "DEAD") == ids("--queue", "mail") == [dead.pk]
    assert ids("--cron", cron.pk) == ids("--source", "cron") == [by_cron.pk]
    assert ids("--handler", "cleanup", "--status", "SUCCESS") == [by_cron.pk]
    assert ids("--to", "2020-01-01T00:00Z") == []
    assert ids("--from", "2020-01-01T00:00Z", "--status", "TIMEOUT") == []
    table = Said("jobu_executions", "list").lines()
    assert table[0] == ["ID", "STATUS", "HANDLER", "QUEUE", "FAILED", "CREATED", "ERROR"]
    assert table[2][:4] == [str(dead.pk), "FAILED", "echo", "mail"]
    assert table[2][-3:] == ["ValueError:", "\\x1b[31mno", "luck"]
    assert table[3][1] == "RETRY"


def test_showing_one_says_all_of_it_masked_and_what_it_waits_for() -> None:
    error = {"attempt": 1, "message": "ValueError: no luck", "traceback": "Traceback\n  here"}
    execution = pending(params={"password": "hunter22"}, errors=[error])
    said = Said("jobu_executions", "show", execution.pk)
    assert "waits_for: No process is alive." in said.out
    assert 'params: {"password": "********"}' in said.out
    assert "attempt 1: ValueError: no luck\n    Traceback\n      here" in said.out
    shown = Said("jobu_executions", "show", execution.pk, "--json").json
    assert shown["waits_for"][0]["code"] == "no_process"
    assert (shown["errors"], shown["params"]) == ([error], {"password": "********"})
    with pytest.raises(CommandError, match="There is no execution 999"):
        Said("jobu_executions", "show", 999)


def test_some_are_retried_cancelled_and_discarded_by_their_ids() -> None:
    dead, done, waiting = finished(Status.FAILED), finished(), pending()
    assert Said("jobu_executions", "retry", dead.pk).out == f"{dead.pk}: put back into the queue\n"
    Said("jobu_executions", "cancel", waiting.pk)
    Said("jobu_executions", "discard", done.pk)
    assert (column(dead, "status"), column(waiting, "status")) == ("PENDING", "CANCELLED")
    assert not JobExecution.objects.filter(pk=done.pk).exists()
    with pytest.raises(CommandError, match="2 of 2 stay as they are"):
        Said("jobu_executions", "retry", dead.pk, done.pk)


def test_many_are_retried_by_a_filter_once_that_is_confirmed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("jobu.queue.bulk.BATCH_SIZE", 2)
    dead = [finished(Status.FAILED).pk for _ in range(3)]
    others = [finished(Status.CANCELLED), finished(Status.FAILED, queue="mail"), running()]
    with pytest.raises(CommandError, match="3 match; add --yes to retry them"):
        Said("jobu_executions", "retry", "--queue", "default")
    said = Said("jobu_executions", "retry", "--queue", "default", "--yes")
    assert said.out == "3 put back into the queue\n"
    assert said.err == "2 of 3\n3 of 3\n"
    assert {column(pk, "status") for pk in dead} == {"PENDING"}
    assert [column(each, "status") for each in others] == ["CANCELLED", "FAILED", "RUNNING"]


@pytest.mark.parametrize("action", ["retry", "cancel", "discard"])
def test_nothing_is_done_to_all_by_accident(action: str) -> None:
    pending()
    with pytest.raises(CommandError, match="Which ones"):
        Said("jobu_executions", action, "--yes")


def test_a_test_alert_says_what_happened_at_each_target(settings: Any) -> None:
    with webhook() as good, webhook() as bad:
        bad.answers = [403]
        settings.JOBU_ALERTS = {
            "email": ["ops@example.com"],
            "webhooks": [good.address, bad.address],
            "name": "shop",
        }
        out, err = StringIO(), StringIO()
        with pytest.raises(CommandError, match="1 of 3 could not be told"):
            call_command("jobu_alerts", "--test", stdout=out, stderr=err)
    assert good.titles() == ["*[shop] a test*"]
    assert "email ops@example.com: sent\n" in out.getvalue()
    assert "127.0.0.1 answered 403" in err.getvalue()
    assert "SECRET" not in out.getvalue() + err.getvalue()


def test_whom_alerts_go_to_is_shown(settings: Any) -> None:
    with pytest.raises(CommandError, match="JOBU_ALERTS is empty"):
        Said("jobu_alerts")
    settings.JOBU_ALERTS = {"email": ["ops@example.com"], "on": ["died"]}
    assert Said("jobu_alerts").out == "To:\n    email ops@example.com\nOf:\n    died: never told\n"
    settings.JOBU_ALERTS = {"mail": "admins"}
    with pytest.raises(CommandError, match="has 'mail', which it does not know"):
        Said("jobu_alerts")


def test_the_crons_command_names_a_missing_handler() -> None:
    CronJob.objects.create(name="n", cron_expression="0 0 * * *", handler_name="gone")
    assert "its executions fail: no installed app has a handler 'gone'" in Said("jobu_crons").out
