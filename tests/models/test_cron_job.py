"""What the database refuses of a schedule, and what validation says before it comes to that."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from jobu import handler
from jobu.models import CronJob, JobExecution
from jobu.models.cron_job import Misfire
from tests.builders import cron, pending
from tests.models.refusal import refused

pytestmark = pytest.mark.django_db


def test_a_name_is_given_once() -> None:
    cron()
    with pytest.raises(IntegrityError), transaction.atomic():
        cron()
    assert refused(cron(name="hourly"), name="nightly")


def test_names_that_look_alike_are_different() -> None:
    names = {"nightly", "Nightly", "nightly ", " nightly", "nìghtly"}
    for name in names:
        cron(name=name)
    assert {CronJob.objects.get(name=name).name for name in names} == names


@pytest.mark.parametrize("misfire", ["never", "", "SKIP", "skip "])
def test_an_unknown_misfire_policy_is_refused(misfire: str) -> None:
    assert refused(cron(), misfire=misfire)


@pytest.mark.parametrize("misfire", Misfire.values)
def test_every_misfire_policy_is_accepted(misfire: str) -> None:
    assert not refused(cron(), misfire=misfire)


def test_a_negative_max_retry_is_refused() -> None:
    job = cron()
    assert refused(job, max_retry=-1)
    assert not refused(job, max_retry=0)


@pytest.mark.parametrize("seconds", [0, -1])
def test_a_timeout_of_nothing_is_refused(seconds: int) -> None:
    assert refused(cron(), timeout_seconds=seconds)


def test_what_is_not_said_comes_from_the_defaults(settings: Any) -> None:
    settings.TIME_ZONE = "Europe/Berlin"
    job = CronJob.objects.get(pk=cron().pk)
    assert job.timezone == "Europe/Berlin"
    assert (job.max_retry, job.timeout_seconds, job.priority) == (3, 3600, 0)
    assert (job.queue, job.misfire, job.handler_params) == ("default", Misfire.LATEST, {})
    assert job.is_enabled
    assert job.allow_overlap
    assert (job.next_run_at, job.last_run_at) == (None, None)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("cron_expression", "every day"),
        ("cron_expression", "0 0 * *"),
        ("cron_expression", "61 0 * * *"),
        ("cron_expression", "0 0 * * * *"),
        ("timezone", "Europe/Atlantis"),
        ("timezone", ""),
        ("misfire", "never"),
    ],
)
def test_validation_names_the_field_that_is_wrong(field: str, value: str) -> None:
    job = CronJob(name="n", cron_expression="0 0 * * *", handler_name="echo")
    setattr(job, field, value)
    with pytest.raises(ValidationError) as caught:
        job.full_clean()
    assert set(caught.value.message_dict) == {field}


def test_validation_accepts_what_works() -> None:
    job = CronJob(
        name="weekdays",
        cron_expression="30 6 * * mon-fri",
        timezone="Europe/Berlin",
        handler_name="echo",
    )
    job.full_clean()
    job.save()
    assert CronJob.objects.get() == job


def test_a_cron_knows_its_executions() -> None:
    job = cron()
    execution = pending(job=job)
    pending()
    assert list(job.executions.all()) == [execution]


def test_deleting_one_cron_leaves_the_executions_of_others_alone() -> None:
    nightly, hourly = cron(), cron(name="hourly")
    pending(job=nightly)
    pending(job=hourly)
    CronJob.objects.filter(pk=nightly.pk).delete()
    assert list(JobExecution.objects.order_by("id").values_list("job", flat=True)) == [
        None,
        hourly.pk,
    ]


def test_the_numbers_of_a_crons_params_come_back_as_they_went_in() -> None:
    params = {"numbers": [1, 1.0, -6.02e23, 123456789.12345679, 10**19, 10**300]}
    job = cron(handler_params=params)
    job.refresh_from_db()
    assert repr(job.handler_params) == repr(params)


def test_crons_are_listed_by_name() -> None:
    for name in ("b", "c", "a"):
        cron(name=name)
    assert [str(job) for job in CronJob.objects.all()] == ["a", "b", "c"]


@pytest.mark.django_db
@pytest.mark.usefixtures("temporary_handlers")
def test_a_new_cron_job_takes_from_its_handler_what_nobody_said() -> None:
    @handler("mailing", queue="mail", priority=7, max_retry=1, timeout_seconds=20)
    def mailing() -> None: ...

    fields = {"name": "x", "cron_expression": "@daily", "handler_name": "mailing"}
    job = CronJob.objects.create(**fields)
    assert (job.queue, job.priority, job.max_retry, job.timeout_seconds) == ("mail", 7, 1, 20)
    job = CronJob.objects.create(**{**fields, "name": "y", "priority": 0, "queue": "default"})
    assert (job.queue, job.priority, job.max_retry, job.timeout_seconds) == ("default", 0, 1, 20)
    job = CronJob.objects.create(**{**fields, "name": "z", "handler_name": "unknown"})
    assert (job.queue, job.priority, job.max_retry, job.timeout_seconds) == ("default", 0, 3, 3600)
    assert CronJob.objects.defer("queue").get(name="x").queue == "mail"
