"""Schedules that are declared in code."""

from __future__ import annotations

import logging
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from jobu import Dispatcher, Schedule, handler
from jobu.dispatchers.sync import sync
from jobu.exceptions import OptionError
from jobu.handlers.registry import handlers
from jobu.models import CronJob
from tests.builders import cron

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("temporary_handlers")]


def declare(expression: str, timezone: str = "Asia/Seoul") -> None:
    handlers._specs.pop("report", None)

    @handler("report", cron=expression, timezone=timezone, queue="reports")
    def report() -> None: ...


def test_a_declared_schedule_is_created_then_left_then_updated() -> None:
    declare("0 9 * * 1")
    assert sync() == ["report: created (0 9 * * 1, Asia/Seoul)"]
    job = CronJob.objects.get()
    assert (job.handler_name, job.queue, job.is_enabled) == ("report", "reports", True)
    assert sync() == ["report: unchanged"]
    declare("0 10 * * 1")
    assert sync() == ["report: updated (0 10 * * 1, Asia/Seoul)"]
    job.refresh_from_db()
    assert job.cron_expression == "0 10 * * 1"


def test_what_was_edited_by_hand_is_kept() -> None:
    declare("0 9 * * 1")
    sync()
    CronJob.objects.update(cron_expression="30 8 * * 1", is_enabled=False)
    assert sync() == ["report: unchanged"]
    declare("0 10 * * 1")
    assert sync() == ["report: edited by hand, kept (30 8 * * 1, Asia/Seoul)"]
    job = CronJob.objects.get()
    assert (job.cron_expression, job.is_enabled) == ("30 8 * * 1", False)


def vanish() -> None:
    handlers._specs.pop("report")


def declare_with(*schedules: Schedule, **options: Any) -> None:
    handlers._specs.pop("report", None)

    @handler("report", schedules=schedules, **options)
    def report(days: int = 1) -> None: ...


def test_a_schedule_that_vanished_is_disabled_and_enabled_again_when_it_is_back() -> None:
    declare("0 9 * * 1")
    sync()
    vanish()
    assert sync() == ["report: no longer declared in code; disabled"]
    job = CronJob.objects.get()
    assert (job.is_enabled, job.problem) == (False, "Disabled: no longer declared in code.")
    assert sync() == ["report: no longer declared in code; disabled"]
    declare("0 10 * * 1")
    assert sync() == ["report: updated (0 10 * * 1, Asia/Seoul); declared again, enabled"]
    job.refresh_from_db()
    assert (job.is_enabled, job.problem, job.cron_expression) == (True, "", "0 10 * * 1")
    assert sync() == ["report: unchanged"]


def test_what_was_disabled_by_hand_stays_so_when_its_schedule_is_back() -> None:
    declare("0 9 * * 1")
    sync()
    CronJob.objects.update(is_enabled=False)
    vanish()
    assert sync() == ["report: no longer declared in code; left as it is"]
    declare("0 9 * * 1")
    assert sync() == ["report: unchanged"]
    assert not CronJob.objects.get().is_enabled


def test_what_was_enabled_by_hand_stays_so_although_its_schedule_has_vanished() -> None:
    declare("0 9 * * 1")
    sync()
    vanish()
    sync()
    CronJob.objects.update(is_enabled=True)
    assert sync() == ["report: no longer declared in code; enabled by hand"]
    assert CronJob.objects.get().is_enabled


def test_keep_leaves_what_is_no_longer_declared() -> None:
    declare("0 9 * * 1")
    sync()
    vanish()
    out = StringIO()
    call_command("jobu_sync", "--keep", stdout=out)
    assert out.getvalue() == "report: no longer declared in code; left as it is\n"
    assert CronJob.objects.get().is_enabled


def test_cron_jobs_that_nobody_declared_are_left_alone() -> None:
    cron("by hand", "* * * * *", timezone="UTC")
    assert sync() == []
    declare("0 9 * * 1")
    CronJob.objects.update(name="report")
    assert sync() == ["report: made by hand, left as it is (* * * * *, UTC)"]
    vanish()
    assert sync() == []
    assert CronJob.objects.get().is_enabled


def test_changed_options_of_a_handler_reach_its_cron_jobs() -> None:
    schedule = Schedule("0 9 * * 1", timezone="UTC")
    declare_with(schedule)
    sync()
    declare_with(schedule, queue="reports", max_retry=1, timeout_seconds=5, priority=2)
    assert sync() == ["report: updated (queue reports; priority 2; max_retry 1; timeout_seconds 5)"]
    job = CronJob.objects.get()
    assert (job.queue, job.max_retry, job.timeout_seconds, job.priority) == ("reports", 1, 5, 2)
    CronJob.objects.update(queue="mine")
    declare_with(Schedule("0 9 * * 1", timezone="UTC", params={"days": 7}), queue="reports")
    assert sync() == ["report: updated (params; priority 0; max_retry 3; timeout_seconds 3600)"]
    declare_with(schedule, queue="theirs")
    assert sync() == ["report: updated (params); edited by hand, kept (queue mine)"]
    assert sync() == ["report: edited by hand, kept (queue mine)"]
    CronJob.objects.update(queue="reports")
    assert sync() == ["report: updated (queue theirs)"]


def test_a_handler_may_declare_several_schedules() -> None:
    declare_with(
        Schedule("0 9 * * *"),
        Schedule(
            "0 9 * * 1",
            name="report-weekly",
            timezone="Europe/Berlin",
            params={"days": 7},
            allow_overlap=False,
            misfire="skip",
        ),
        timezone="Asia/Seoul",
    )
    assert sync() == [
        "report: created (0 9 * * *, Asia/Seoul)",
        "report-weekly: created (0 9 * * 1, Europe/Berlin)",
    ]
    weekly = CronJob.objects.get(name="report-weekly")
    assert (weekly.handler_name, weekly.handler_params) == ("report", {"days": 7})
    assert (weekly.allow_overlap, weekly.misfire) == (False, "skip")
    assert sync() == ["report: unchanged", "report-weekly: unchanged"]
    declare_with(Schedule("0 9 * * *", timezone="Asia/Seoul"))
    assert sync() == ["report: unchanged", "report-weekly: no longer declared in code; disabled"]


def test_a_declared_cron_job_that_was_renamed_is_still_the_same() -> None:
    declare("0 9 * * 1")
    sync()
    CronJob.objects.update(name="The report")
    assert sync() == ["report: unchanged"]
    declare("0 10 * * 1")
    sync()
    job = CronJob.objects.get()
    assert (job.name, job.cron_expression, job.is_enabled) == ("The report", "0 10 * * 1", True)


def test_the_cron_job_of_a_handler_that_was_renamed_is_renamed_with_it() -> None:
    declare("0 9 * * 1")
    sync()
    before = CronJob.objects.get()
    vanish()

    @handler("summary", aliases="report", cron="0 9 * * 1", timezone="Asia/Seoul", queue="reports")
    def summary() -> None: ...

    [line] = sync()
    assert line.startswith("summary: updated (name summary")
    job = CronJob.objects.get()
    assert (job.pk, job.name, job.handler_name) == (before.pk, "summary", "summary")
    assert job.is_enabled
    assert sync() == ["summary: unchanged"]


def test_what_an_earlier_version_declared_is_updated_or_kept_like_before() -> None:
    declare("0 9 * * 1")
    sync()
    CronJob.objects.update(declared="0 9 * * 1\nAsia/Seoul", queue="mine")
    assert sync() == ["report: unchanged"]
    CronJob.objects.update(declared="0 9 * * 1\nAsia/Seoul")
    declare("0 10 * * 1")
    assert sync() == ["report: updated (0 10 * * 1, Asia/Seoul)"]
    CronJob.objects.update(declared="0 8 * * 1\nAsia/Seoul")
    declare("0 11 * * 1")
    assert sync() == ["report: edited by hand, kept (0 10 * * 1, Asia/Seoul)"]
    assert CronJob.objects.get().queue == "mine"


def test_a_dispatcher_syncs_if_it_is_asked_to(caplog: pytest.LogCaptureFixture) -> None:
    declare("0 9 * * 1")
    with caplog.at_level(logging.INFO, "jobu"):
        Dispatcher(sync=True).poll()
    assert CronJob.objects.get().next_run_at is not None
    assert "declared cron job report: created (0 9 * * 1, Asia/Seoul)" in caplog.text


def test_migrate_syncs_and_the_command_reports() -> None:
    declare("0 9 * * 1")
    out = StringIO()
    call_command("migrate", verbosity=1, stdout=out)
    assert CronJob.objects.get().name == "report"
    assert "  Cron job report: created (0 9 * * 1, Asia/Seoul)\n" in out.getvalue()
    out = StringIO()
    call_command("migrate", verbosity=1, stdout=out)
    assert "Cron job" not in out.getvalue()
    out = StringIO()
    call_command("jobu_sync", stdout=out)
    assert out.getvalue() == "report: unchanged\n"


@pytest.mark.parametrize("options", [{"cron": "nonsense"}, {"cron": "* * * * *", "timezone": "X"}])
def test_a_schedule_that_cannot_work_is_refused_where_it_is_declared(
    options: dict[str, str],
) -> None:
    with pytest.raises(OptionError, match="of @handler\\('report'\\)"):
        handler("report", **options)  # type: ignore[arg-type]
