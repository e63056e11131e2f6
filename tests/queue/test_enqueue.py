"""One execution at a time into the queue, as part of the caller's transaction."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import connection, transaction

from jobu import BaseHandler, aenqueue, enqueue, handler
from jobu.exceptions import (
    DedupeKeyError,
    HandlerNotFoundError,
    JobuError,
    NotJSONError,
    OptionError,
)
from jobu.handlers.registry import handlers
from jobu.models import JobExecution, Status
from tests.builders import column, database_now, finished
from tests.connections import rolled_back, together
from tests.project.shop.jobs import Echo, async_echo

pytestmark = pytest.mark.django_db

NOON = datetime(2030, 6, 1, 12, tzinfo=UTC)


@pytest.mark.usefixtures("temporary_handlers")
def test_what_is_not_given_comes_from_the_handler() -> None:
    @handler("own", queue="mail", priority=7, max_retry=9, timeout_seconds=30)
    def own() -> None: ...

    execution = JobExecution.objects.get(pk=own.enqueue().pk)
    assert (execution.handler_name, execution.queue, execution.priority) == ("own", "mail", 7)
    assert (execution.max_retry, execution.timeout_seconds) == (9, 30)
    assert execution.params == {}
    assert (execution.status, execution.param_source) == (Status.PENDING, "code")
    assert (execution.attempt, execution.retry_count, execution.errors) == (0, 0, [])
    assert (execution.claimed_by, execution.started_at, execution.finished_at) == (None,) * 3
    assert (execution.result, execution.dedupe_key, execution.job) == (None,) * 3


@pytest.mark.usefixtures("temporary_handlers")
def test_what_is_given_wins_over_the_handler() -> None:
    @handler("own", queue="mail", priority=7, max_retry=9, timeout_seconds=30)
    def own(a: int) -> None: ...

    options: dict[str, Any] = {"queue": "web", "priority": -7, "max_retry": 0, "timeout_seconds": 1}
    returned = enqueue("own", {"a": 1}, **options, available_at=NOON, dedupe_key="key")
    stored = JobExecution.objects.get(pk=returned.pk)
    for execution in (returned, stored):
        assert {name: getattr(execution, name) for name in options} == options
        assert (execution.params, execution.available_at) == ({"a": 1}, NOON)
        assert execution.dedupe_key == "key"


def values_of(execution: JobExecution, *but: str) -> dict[str, Any]:
    names = (field.attname for field in JobExecution._meta.concrete_fields)
    return {name: getattr(execution, name) for name in names if name not in but}


@pytest.mark.parametrize(
    "options", [{}, {"available_at": NOON, "priority": -1}, {"queue": "a 'b' \\ %s"}]
)
def test_what_is_returned_is_what_is_stored_and_what_create_would_store(
    options: dict[str, Any],
) -> None:
    returned = enqueue("echo", {"text": "it's"}, **options)
    stored = JobExecution.objects.get(pk=returned.pk)
    assert values_of(returned) == values_of(stored)
    created = JobExecution.objects.create(
        handler_name="echo", params={"text": "it's"}, max_retry=3, timeout_seconds=3600, **options
    )
    made = ("id", "created_at", *({"available_at"} - set(options)))
    created.refresh_from_db()
    assert values_of(stored, *made) == values_of(created, *made)


def test_what_is_returned_is_an_instance_like_any_other() -> None:
    first, second = enqueue("echo"), enqueue("echo")
    first.priority = 5
    first.save()
    first.errors.append("only its own")
    assert column(first, "priority") == 5
    assert (first.job, second.errors, first == second) == (None, [], False)
    assert first == JobExecution.objects.get(pk=first.pk)
    first.refresh_from_db()
    assert first.errors == []
    first.delete()
    assert list(JobExecution.objects.all()) == [second]


def test_an_execution_is_due_at_once_by_the_databases_clock() -> None:
    before = database_now()
    execution = enqueue("echo")
    assert before <= execution.available_at <= database_now()
    assert column(execution, "available_at") == execution.available_at


def test_a_time_in_another_zone_means_the_same_moment() -> None:
    there = NOON.astimezone(timezone(timedelta(hours=9)))
    assert column(enqueue("echo", available_at=there), "available_at") == NOON


def test_a_rollback_takes_the_execution_with_it() -> None:
    with rolled_back():
        enqueue("echo")
        enqueue("echo", dedupe_key="key")
    assert not JobExecution.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_nobody_sees_the_execution_before_its_callers_commit() -> None:
    other = connection.copy()

    def seen_elsewhere() -> int:
        with other.cursor() as cursor:
            cursor.execute(f"SELECT COUNT(*) FROM {JobExecution._meta.db_table}")
            return int(cursor.fetchone()[0])

    try:
        with transaction.atomic():
            enqueue("echo")
            assert seen_elsewhere() == 0
        assert seen_elsewhere() == 1
    finally:
        other.close()


def test_a_known_dedupe_key_returns_the_execution_that_has_it() -> None:
    first = enqueue("echo", {"n": 1}, dedupe_key="key")
    second = enqueue("echo", {"n": 2}, dedupe_key="key", priority=5)
    assert second.pk == first.pk
    assert (second.params, second.priority) == ({"n": 1}, 0)
    assert JobExecution.objects.count() == 1


@pytest.mark.parametrize("has_receiver", [False, True])
def test_a_dedupe_key_of_another_handlers_execution_is_an_error(
    has_receiver: bool, request: pytest.FixtureRequest
) -> None:
    if has_receiver:
        request.getfixturevalue("enqueued")
    enqueue("echo", dedupe_key="key")
    with pytest.raises(DedupeKeyError, match="'key' belongs to an execution of 'echo', so 'sleep'"):
        enqueue("sleep", {"seconds": 0}, dedupe_key="key")
    assert JobExecution.objects.get().handler_name == "echo"


def test_a_dedupe_key_that_could_be_a_messages_is_refused() -> None:
    for key in ("jobu:", "jobu:key:k", "jobu:message:kafka:events:0:1"):
        with pytest.raises(OptionError, match="must not begin with 'jobu:'"):
            enqueue("echo", dedupe_key=key)
    assert enqueue("echo", dedupe_key="jobu").dedupe_key == "jobu"


@pytest.mark.parametrize("status", [Status.SUCCESS, Status.FAILED, Status.CANCELLED])
def test_a_dedupe_key_stays_taken_when_its_execution_is_finished(status: Status) -> None:
    old = finished(status, dedupe_key="key")
    assert enqueue("echo", dedupe_key="key").pk == old.pk
    assert JobExecution.objects.get().status == status


def test_dedupe_keys_that_look_alike_are_different() -> None:
    keys = ["key", "Key", "key ", "kéy", "k" * 255, "😀" * 255]
    assert len({enqueue("echo", dedupe_key=key).pk for key in keys}) == len(keys)


def test_a_taken_dedupe_key_leaves_the_callers_transaction_usable() -> None:
    enqueue("echo", dedupe_key="key")
    with transaction.atomic():
        enqueue("echo", dedupe_key="key")
        enqueue("echo")
    assert JobExecution.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_one_dedupe_key_enqueued_everywhere_at_once_makes_one_execution() -> None:
    for number in range(10):

        def enqueue_it(key: str = f"key:{number}") -> int:
            return enqueue("echo", dedupe_key=key).pk

        assert len(set(together(*[enqueue_it] * 4))) == 1
    assert JobExecution.objects.count() == 10


@pytest.mark.django_db(transaction=True)
def test_a_dedupe_key_whose_owner_rolls_back_goes_to_the_one_that_waited() -> None:
    is_taken, is_wanted = threading.Event(), threading.Event()

    def take_and_roll_back() -> None:
        with rolled_back():
            enqueue("echo", {"by": "first"}, dedupe_key="key")
            is_taken.set()
            assert is_wanted.wait(30)

    def want() -> None:
        assert is_taken.wait(30)
        is_wanted.set()
        enqueue("echo", {"by": "second"}, dedupe_key="key")

    together(take_and_roll_back, want)
    assert JobExecution.objects.get().params == {"by": "second"}


def test_the_signal_is_sent_for_what_is_new(enqueued: list[JobExecution]) -> None:
    plain = enqueue("echo", {"n": 1})
    keyed = enqueue("echo", dedupe_key="key")
    enqueue("echo", dedupe_key="key")
    assert [execution.pk for execution in enqueued] == [plain.pk, keyed.pk]
    assert enqueued[0].params == {"n": 1}


def test_an_unknown_handler_is_refused_with_a_hint() -> None:
    with pytest.raises(HandlerNotFoundError, match=r"'ecko'.*Did you mean 'echo'\?"):
        enqueue("ecko")
    with pytest.raises(HandlerNotFoundError, match="INSTALLED_APPS"):
        enqueue("zzzzzzzz")
    assert not JobExecution.objects.exists()


@pytest.mark.parametrize("name", [Echo, None, 3, ["echo"]])
def test_a_name_that_is_no_text_is_refused_in_words(name: Any) -> None:
    with pytest.raises(JobuError):
        enqueue(name)
    assert not JobExecution.objects.exists()


def test_handlers_enqueue_themselves() -> None:
    assert column(Echo.enqueue({"n": 1}, priority=3), "priority") == 3
    assert column(async_echo.enqueue({"n": 2}), "params") == {"n": 2}


def test_a_class_that_is_no_registered_handler_cannot_be_enqueued() -> None:
    class Unregistered(BaseHandler): ...

    class Subclass(Echo): ...

    with pytest.raises(JobuError, match="Unregistered is not registered"):
        Unregistered.enqueue()
    with pytest.raises(JobuError, match="not registered"):
        Subclass.enqueue()


def test_the_async_twins_do_the_same() -> None:
    first = async_to_sync(aenqueue)("echo", {"n": 1}, priority=3, dedupe_key="key")
    again = async_to_sync(Echo.aenqueue)({"n": 2}, dedupe_key="key")
    other = async_to_sync(async_echo.aenqueue)({"n": 3})
    assert (first.pk, first.priority) == (again.pk, 3)
    assert column(other, "params") == {"n": 3}
    with pytest.raises(NotJSONError):
        async_to_sync(aenqueue)("echo", {"x": {1}})
    assert JobExecution.objects.count() == 2


def test_a_delay_is_counted_from_now_by_the_databases_clock() -> None:
    for delay in (90, 90.0, timedelta(minutes=1, seconds=30)):
        before = database_now()
        execution = enqueue("echo", delay=delay)
        waits = timedelta(seconds=90)
        assert before + waits <= execution.available_at <= database_now() + waits
        stored = JobExecution.objects.get(pk=execution.pk)
        assert values_of(execution) == values_of(stored)
        assert stored.available_at - stored.created_at == waits
    assert not JobExecution.objects.claimable().exists()


def test_a_delay_goes_with_the_other_options_and_a_dedupe_key() -> None:
    execution = enqueue("echo", delay=0.0625, queue="web", priority=5, dedupe_key="key")
    stored = JobExecution.objects.get(pk=execution.pk)
    assert (stored.queue, stored.priority, stored.dedupe_key) == ("web", 5, "key")
    assert stored.available_at - stored.created_at == timedelta(seconds=0.062)
    assert execution.available_at == stored.available_at


def test_a_delay_of_nothing_is_due_at_once() -> None:
    enqueue("echo", delay=0)
    assert JobExecution.objects.claimable().exists()


def test_a_delay_and_a_time_are_not_given_both() -> None:
    with pytest.raises(OptionError, match="Give available_at or delay, not both"):
        enqueue("echo", delay=5, available_at=NOON)


@pytest.mark.usefixtures("temporary_handlers")
def test_an_execution_under_an_earlier_name_is_the_handlers_own() -> None:
    @handler("own")
    def before() -> None: ...

    first = before.enqueue(dedupe_key="key")
    del handlers._specs["own"]

    @handler("renamed", aliases=("own",))
    def after() -> None: ...

    assert after.enqueue(dedupe_key="key").pk == first.pk
    assert enqueue("own", dedupe_key="key").handler_name == "own"
    assert enqueue("own").handler_name == "own"


OPTIONS_ELSEWHERE = [
    ("countdown", "delay"),
    ("eta", "available_at"),
    ("run_at", "available_at"),
    ("tz", "available_at"),
    ("retry", "max_retry"),
    ("retries", "max_retry"),
    ("max_retries", "max_retry"),
    ("timeout", "timeout_seconds"),
    ("kwargs", "params"),
]


@pytest.mark.parametrize(("option", "meant"), [*OPTIONS_ELSEWHERE, ("task_id", "dedupe_key")])
def test_an_option_of_another_name_is_answered_with_the_right_one(option: str, meant: str) -> None:
    expected = rf"enqueue\(\) has no option '{option}'\. Use {meant}= \("
    for enqueue_it in (enqueue, Echo.enqueue, async_to_sync(aenqueue)):
        arguments = () if enqueue_it == Echo.enqueue else ("echo",)
        with pytest.raises(OptionError, match=expected):
            enqueue_it(*arguments, **{option: 5})  # type: ignore[operator]
    assert not JobExecution.objects.exists()


def test_an_option_of_the_decorator_is_sent_there() -> None:
    with pytest.raises(OptionError, match="It is one of @handler: cron= "):
        enqueue("echo", cron="* * * * *")  # type: ignore[arg-type]
