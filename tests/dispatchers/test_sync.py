"""Schedules that are declared in code."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command

from jobu import handler
from jobu.dispatchers.sync import sync
from jobu.exceptions import OptionError
from jobu.handlers.registry import handlers
from jobu.models import CronJob

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


def test_what_is_no_longer_declared_is_said_and_left() -> None:
    declare("0 9 * * 1")
    sync()
    handlers._specs.pop("report")
    assert sync() == ["report: no longer declared in code; left as it is"]
    assert CronJob.objects.filter(is_enabled=True).count() == 1


def test_migrate_syncs_and_the_command_reports() -> None:
    declare("0 9 * * 1")
    call_command("migrate", verbosity=0)
    assert CronJob.objects.get().name == "report"
    out = StringIO()
    call_command("jobu_sync", stdout=out)
    assert out.getvalue() == "report: unchanged\n"


@pytest.mark.parametrize("options", [{"cron": "nonsense"}, {"cron": "* * * * *", "timezone": "X"}])
def test_a_schedule_that_cannot_work_is_refused_where_it_is_declared(
    options: dict[str, str],
) -> None:
    with pytest.raises(OptionError, match="of @handler\\('report'\\)"):
        handler("report", **options)  # type: ignore[arg-type]
