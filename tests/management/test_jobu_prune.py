"""Prune from the command line."""

from __future__ import annotations

import io
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings
from django.utils import timezone

from jobu import enqueue
from jobu.models import DeadLetter, JobExecution, Status
from tests.builders import finished
from tests.management.commands import letters, run

pytestmark = pytest.mark.django_db


def prune(*arguments: str, **options: Any) -> str:
    output = io.StringIO()
    call_command("jobu_prune", *arguments, stdout=output, **options)
    return output.getvalue()


def test_prune_deletes_what_finished_before_the_retention() -> None:
    kept = {finished(days_ago=29).pk, enqueue("echo").pk}
    for status in (Status.SUCCESS, Status.FAILED, Status.TIMEOUT, Status.CANCELLED):
        finished(status, days_ago=31)
    assert prune() == "4 executions pruned.\n"
    assert set(JobExecution.objects.values_list("pk", flat=True)) == kept
    assert prune() == "0 executions pruned.\n"


def test_prune_takes_its_age_from_the_option_or_the_setting() -> None:
    finished(days_ago=1)
    finished(days_ago=3)
    with override_settings(JOBU_RETENTION_DAYS=None):
        assert prune("--days", "2.5") == "1 executions pruned.\n"
    with override_settings(JOBU_RETENTION_DAYS=0):
        assert prune("--batch-size", "1") == "1 executions pruned.\n"


def test_prune_counts_its_batches_if_it_is_asked_to() -> None:
    for _ in range(5):
        finished(days_ago=31)
    assert prune("--batch-size", "2", verbosity=2).splitlines() == [
        "2 executions pruned so far",
        "4 executions pruned so far",
        "5 executions pruned so far",
        "5 executions pruned.",
    ]


def test_prune_without_any_age_says_what_is_missing() -> None:
    finished(days_ago=10_000)
    with override_settings(JOBU_RETENTION_DAYS=None), pytest.raises(CommandError) as caught:
        prune()
    assert str(caught.value) == (
        "JOBU_RETENTION_DAYS is None, which keeps history for ever; --days N"
    )
    assert JobExecution.objects.count() == 1


@pytest.mark.parametrize(
    "arguments",
    [("--days=-1",), ("--days=nan",), ("--days=inf",), ("--open-days=-1",), ("--batch-size=0",)],
)
def test_prune_refuses_numbers_that_make_no_sense(arguments: tuple[str, ...]) -> None:
    finished(days_ago=31)
    with pytest.raises(CommandError) as caught:
        prune(*arguments)
    assert str(caught.value) == (
        "--days and --open-days must be 0 or more, --batch-size 1 or more."
    )
    assert JobExecution.objects.count() == 1


@pytest.mark.parametrize("days", ["1000000", "1e12", "1e300"])
def test_prune_of_an_age_before_every_calendar_deletes_nothing(days: str) -> None:
    finished(days_ago=31)
    with suppress(CommandError):
        assert prune("--days", days) == "0 executions pruned.\n"
    assert JobExecution.objects.count() == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--days", "many"), "argument --days: invalid float value: 'many'"),
        (("--batch-size", "1.5"), "argument --batch-size: invalid int value: '1.5'"),
        (("--weeks", "1"), "unrecognized arguments: --weeks 1"),
    ],
)
def test_prune_refuses_what_it_cannot_read(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(CommandError) as caught:
        prune(*arguments)
    assert str(caught.value) == f"Error: {message}"


def test_prune_counts_dead_letters_apart() -> None:
    letters(b"oops", b"oops")
    run("jobu_deadletters", "discard", "--all")
    DeadLetter.objects.update(received_at=datetime(2020, 1, 1, tzinfo=UTC))
    assert run("jobu_prune") == "0 executions pruned.\n2 dead letters pruned.\n"
    assert run("jobu_prune") == "0 executions pruned.\n"


def test_prune_deletes_open_dead_letters_after_an_age_of_their_own() -> None:
    letters(b"oops", b"oops")
    DeadLetter.objects.update(received_at=timezone.now() - timedelta(days=60))
    assert run("jobu_prune") == "0 executions pruned.\n"
    assert run("jobu_prune", "--days=0") == "0 executions pruned.\n"
    with override_settings(JOBU_RETENTION_DAYS=None):
        assert run("jobu_prune", "--open-days=59") == "2 dead letters pruned.\n"
    letters(b"oops")
    DeadLetter.objects.update(received_at=datetime(2020, 1, 1, tzinfo=UTC))
    with override_settings(JOBU_DEAD_LETTER_RETENTION_DAYS=None):
        assert run("jobu_prune") == "0 executions pruned.\n"
    assert run("jobu_prune") == "0 executions pruned.\n1 dead letters pruned.\n"
