"""What docs/migrating/celery.md lets a reader paste does what it says."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from jobu.models import CronJob
from tests.documentation.blocks import blocks_of
from tests.packaging.distributions import ROOT
from tests.project.shop import jobs

pytestmark = [pytest.mark.django_db, pytest.mark.pure]

[COPY] = [
    block.text
    for block in blocks_of((ROOT / "docs" / "migrating" / "celery.md").read_text())
    if "get_or_create" in block.text
]


class PeriodicTasks(list[Any]):
    """As much of a query as the page uses."""

    def exclude(self, **condition: object) -> PeriodicTasks:
        [(name, value)] = condition.items()
        return PeriodicTasks(task for task in self if getattr(task, name) != value)


def crontab(*fields: str) -> SimpleNamespace:
    names = ("minute", "hour", "day_of_month", "month_of_year", "day_of_week")
    return SimpleNamespace(**dict(zip(names, fields, strict=True)), timezone="Asia/Seoul")


def periodic_task(name: str, task: str, **more: Any) -> SimpleNamespace:
    given = {"crontab": crontab(*"*****"), "args": "[]", "kwargs": "{}", "one_off": False}
    return SimpleNamespace(name=name, task=f"shop.tasks.{task}", **(given | more), enabled=True)


def copy(monkeypatch: pytest.MonkeyPatch, *tasks: SimpleNamespace) -> None:
    beat = ModuleType("django_celery_beat")
    models = ModuleType("django_celery_beat.models")
    vars(models)["PeriodicTask"] = SimpleNamespace(objects=PeriodicTasks(tasks))
    shop = ModuleType("shop")
    vars(shop)["jobs"] = jobs
    monkeypatch.setitem(sys.modules, "shop", shop)
    monkeypatch.setitem(sys.modules, "django_celery_beat", beat)
    monkeypatch.setitem(sys.modules, "django_celery_beat.models", models)
    exec(COPY, {"__name__": "pasted"})


def test_schedules_are_copied_disabled_with_zone_and_with_params_by_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copy(
        monkeypatch,
        periodic_task("naps", "sleep", args="[2.5]"),
        periodic_task("long naps", "sleep", kwargs='{"seconds": 60}'),
        periodic_task("each ten seconds", "sleep", crontab=None),
        periodic_task("once", "sleep", one_off=True),
    )
    found = {job.name: job for job in CronJob.objects.all()}
    assert found.keys() == {"naps", "long naps"}
    assert not any(job.is_enabled for job in found.values())
    assert found["naps"].handler_params == {"seconds": 2.5}
    assert found["long naps"].handler_params == {"seconds": 60}
    assert str(found["naps"].timezone) == "Asia/Seoul"


@pytest.mark.parametrize(
    ("fields", "expression"),
    [
        (("0", "9", "*", "*", "Monday"), "0 9 * * mon"),
        (("0", "9", "*", "*", "mon-fri"), "0 9 * * mon-fri"),
        (("*/15", "8-17", "*", "*", "Saturday, Sunday"), "*/15 8-17 * * sat,sun"),
        (("30", "2", "1", "1,7", "*"), "30 2 1 1,7 *"),
        (("0", "0", "*", "*", "0-6/2"), "0 0 * * 0-6/2"),
    ],
)
def test_an_expression_means_what_it_meant(
    fields: tuple[str, ...], expression: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy(monkeypatch, periodic_task("naps", "sleep", crontab=crontab(*fields)))
    job = CronJob.objects.get()
    assert job.cron_expression == expression
    job.full_clean(exclude=["handler_params"])


def test_a_second_time_what_is_there_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    copy(monkeypatch, periodic_task("naps", "sleep"))
    CronJob.objects.update(is_enabled=True)
    copy(monkeypatch, periodic_task("naps", "sleep"), periodic_task("more naps", "sleep"))
    assert set(CronJob.objects.values_list("name", "is_enabled")) == {
        ("naps", True),
        ("more naps", False),
    }


def test_a_task_without_a_handler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AttributeError, match="never_written"):
        copy(monkeypatch, periodic_task("forgotten", "never_written"))
