"""Many executions in one call: all or none, whatever their number, in little memory."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import connection, transaction
from django.db.models.signals import post_init

from jobu import aenqueue_many, enqueue, enqueue_many
from jobu.exceptions import HandlerNotFoundError, NotJSONError, OptionError
from jobu.models import JobExecution
from tests.builders import database_now
from tests.connections import rolled_back
from tests.project.shop.jobs import Echo, async_echo
from tests.queue.test_enqueue import OPTIONS_ELSEWHERE

pytestmark = pytest.mark.django_db

NOON = datetime(2030, 6, 1, 12, tzinfo=UTC)


class LiveExecutions:
    """Counts how many JobExecution instances there are at a time."""

    def __init__(self) -> None:
        self.now = self.most = 0

    def notice(self, instance: JobExecution, **_: Any) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        weakref.finalize(instance, self.forget).atexit = False

    def forget(self) -> None:
        self.now -= 1


@pytest.fixture
def live() -> Iterator[LiveExecutions]:
    counter = LiveExecutions()
    post_init.connect(counter.notice, sender=JobExecution)
    yield counter
    post_init.disconnect(counter.notice, sender=JobExecution)


def numbers() -> list[int]:
    return [
        params["n"]
        for params in JobExecution.objects.order_by("id").values_list("params", flat=True)
    ]


def test_fifty_thousand_from_a_generator_are_never_in_memory_together(
    live: LiveExecutions,
) -> None:
    ahead = []

    def params() -> Iterator[dict[str, int]]:
        for n in range(50_000):
            if n % 5000 == 4999:
                ahead.append(n - JobExecution.objects.count())
            yield {"n": n}

    assert enqueue_many("echo", params()) == 50_000
    assert JobExecution.objects.pending().count() == 50_000
    assert len(ahead) == 10
    assert max(ahead) < 2000
    assert live.most <= 1


def test_each_execution_gets_its_params_in_their_order() -> None:
    assert enqueue_many("echo", [{"n": n} for n in range(2500)]) == 2500
    assert numbers() == list(range(2500))


def test_the_options_hold_for_each_of_them() -> None:
    options: dict[str, Any] = {"queue": "web", "priority": -7, "max_retry": 0, "timeout_seconds": 1}
    enqueue_many("echo", [{"n": 0}, None], **options, available_at=NOON)
    for execution in JobExecution.objects.all():
        assert {name: getattr(execution, name) for name in options} == options
        assert execution.available_at == NOON
    assert {str(e.params) for e in JobExecution.objects.all()} == {"{'n': 0}", "{}"}


def test_nothing_to_enqueue_is_nothing() -> None:
    assert enqueue_many("echo", []) == 0
    assert enqueue_many("echo", iter(())) == 0
    assert not JobExecution.objects.exists()


@pytest.mark.parametrize("bad", [{"x": {1}}, {"x": float("nan")}, ["a"], {"x": "\0"}])
def test_one_bad_item_refuses_all_and_is_named_by_its_index(bad: Any) -> None:
    def params() -> Iterator[Any]:
        yield from ({"n": n} for n in range(2500))
        yield bad

    with pytest.raises(NotJSONError, match="The params at index 2500 for 'echo'"):
        enqueue_many("echo", params())
    assert not JobExecution.objects.exists()


def test_an_error_of_the_callers_generator_refuses_all() -> None:
    def params() -> Iterator[Any]:
        yield from ({"n": n} for n in range(1500))
        raise OSError("the file ends here")

    with pytest.raises(OSError, match="the file ends here"):
        enqueue_many("echo", params())
    assert not JobExecution.objects.exists()


def test_a_refused_call_leaves_the_callers_transaction_as_it_was() -> None:
    with transaction.atomic():
        enqueue("echo", {"n": 1})
        with pytest.raises(NotJSONError):
            enqueue_many("echo", [*({"n": n} for n in range(1000)), {"x": {1}}])
        enqueue_many("echo", [{"n": 2}])
    assert numbers() == [1, 2]


@pytest.mark.django_db(transaction=True)
def test_a_refused_call_outside_of_a_transaction_leaves_nothing_behind() -> None:
    with pytest.raises(NotJSONError):
        enqueue_many("echo", [*({"n": n} for n in range(1000)), {"x": {1}}])
    assert not JobExecution.objects.exists()


def test_a_rollback_takes_all_of_them_with_it() -> None:
    with rolled_back():
        assert enqueue_many("echo", ({"n": n} for n in range(1500))) == 1500
    assert not JobExecution.objects.exists()


def test_what_cannot_work_is_refused_before_anything_is_drawn() -> None:
    params = iter([{"n": 1}])
    with pytest.raises(HandlerNotFoundError):
        enqueue_many("ecko", params)
    with pytest.raises(OptionError):
        enqueue_many("echo", params, queue="")
    with pytest.raises(OptionError):
        enqueue_many("echo", params, available_at=NOON.replace(tzinfo=None))
    assert list(params) == [{"n": 1}]


def test_the_signal_is_sent_for_each_of_them(enqueued: list[JobExecution]) -> None:
    enqueue_many("echo", ({"n": n} for n in range(1500)))
    assert [execution.params["n"] for execution in enqueued] == list(range(1500))
    assert {e.pk for e in enqueued} == set(JobExecution.objects.values_list("pk", flat=True))


def test_handlers_enqueue_many_of_themselves() -> None:
    assert Echo.enqueue_many([{"n": 0}, {"n": 1}]) == 2
    assert async_echo.enqueue_many({"n": n} for n in (2, 3)) == 2
    assert numbers() == [0, 1, 2, 3]


def test_the_async_twins_do_the_same() -> None:
    assert async_to_sync(aenqueue_many)("echo", [{"n": 0}], priority=3) == 1
    assert async_to_sync(Echo.aenqueue_many)([{"n": 1}]) == 1
    assert async_to_sync(async_echo.aenqueue_many)([{"n": 2}]) == 1
    assert numbers() == [0, 1, 2]
    with pytest.raises(NotJSONError):
        async_to_sync(aenqueue_many)("echo", [{"x": {1}}])


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="no other database can notify")
def test_a_transaction_announces_each_of_its_queues_once() -> None:
    with connection.cursor() as cursor:
        cursor.execute("LISTEN jobu")
        with transaction.atomic():
            enqueue_many("echo", [{}] * 3, queue="mail")
            enqueue_many("echo", [{}] * 3, queue="mail")
            enqueue("echo", queue="web")
        announced = [each.payload for each in connection.connection.notifies(timeout=0)]
        cursor.execute("UNLISTEN jobu")
    assert sorted(announced) == ["mail", "web"]


def test_a_delay_is_counted_from_now_by_the_databases_clock() -> None:
    before = database_now()
    assert enqueue_many("echo", [{"n": 1}, {"n": 2}], delay=timedelta(minutes=5)) == 2
    due = set(JobExecution.objects.values_list("available_at", flat=True))
    assert len(due) == 1
    assert before <= due.pop() - timedelta(minutes=5) <= database_now()
    with pytest.raises(OptionError, match="not both"):
        enqueue_many("echo", [], delay=5, available_at=NOON)


def test_a_delay_is_the_same_for_each_even_with_a_receiver(enqueued: list[JobExecution]) -> None:
    enqueue_many("echo", [{"n": 1}, {"n": 2}], delay=300)
    for execution in enqueued:
        assert execution.available_at - execution.created_at == timedelta(minutes=5)


@pytest.mark.parametrize(("option", "meant"), OPTIONS_ELSEWHERE)
def test_an_option_of_another_name_is_answered_with_the_right_one(option: str, meant: str) -> None:
    expected = rf"enqueue_many\(\) has no option '{option}'\. Use {meant}= \("
    for enqueue_them in (enqueue_many, Echo.enqueue_many, async_to_sync(aenqueue_many)):
        arguments: Any = ([],) if enqueue_them == Echo.enqueue_many else ("echo", [])
        with pytest.raises(OptionError, match=expected):
            enqueue_them(*arguments, **{option: 5})  # type: ignore[operator]


def test_an_option_that_only_enqueue_has_is_said_to_be_its() -> None:
    with pytest.raises(OptionError, match=r"It is one of enqueue\(\): dedupe_key= "):
        enqueue_many("echo", [], dedupe_key="key")  # type: ignore[arg-type]
