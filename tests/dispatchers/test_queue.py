"""The queue dispatcher: batch in, one transaction, complete; and what it does about trouble."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError, connections
from django.test import override_settings
from django.utils import timezone

from jobu import QueueDispatcher, enqueue
from jobu.dispatchers import broker, queue
from jobu.exceptions import AdapterError
from jobu.handlers.registry import Registry
from jobu.messages.store import store
from jobu.models import DeadLetter, JobExecution, Process
from jobu.reading.depth import count_claimable
from tests.builders import dead_letter
from tests.memory_adapter import MemoryAdapter
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(broker, "_LONGEST_DELAY_SECONDS", 0.01)
    yield
    connections.close_all()


@pytest.fixture
def adapter() -> MemoryAdapter:
    return MemoryAdapter()


def drain(adapter: MemoryAdapter, **options: Any) -> QueueDispatcher:
    dispatcher = QueueDispatcher(adapter=adapter, drain=True, idle_timeout=0.1, **options)
    dispatcher.start()
    assert dispatcher.join(30)
    return dispatcher


def test_messages_are_stored_then_completed(adapter: MemoryAdapter) -> None:
    for number in range(25):
        adapter.send(params={"n": number})
    adapter.send(body=b"rubbish")
    ids = [message.id for message in adapter.waiting]
    assert drain(adapter, batch_size=10).exit_code == 0
    assert JobExecution.objects.count() == 25
    assert DeadLetter.objects.get().adapter == "memory"
    assert adapter.completed == ids
    assert adapter.abandoned == []
    assert adapter.calls[0] == "connect"
    assert adapter.calls[-1] == "disconnect"
    assert not Process.objects.exists()


def test_it_beats_like_any_other_process(adapter: MemoryAdapter) -> None:
    with QueueDispatcher(adapter=adapter):
        wait_until(lambda: Process.objects.exists(), "its row")
        assert Process.objects.get().kind == "queue-dispatcher"
    assert not Process.objects.exists()


def test_each_dead_letter_is_logged(
    adapter: MemoryAdapter, caplog: pytest.LogCaptureFixture
) -> None:
    adapter.send(body=b"rubbish")
    drain(adapter)
    assert "became a dead letter: It is not JSON" in caplog.text


def test_while_the_database_is_away_a_batch_waits_uncompleted(
    adapter: MemoryAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = [OperationalError("gone"), OperationalError("gone")]

    def fail_at_first(*args: Any) -> Any:
        assert adapter.completed == []
        if errors:
            raise errors.pop()
        return store(*args)

    monkeypatch.setattr(queue, "store", fail_at_first)
    adapter.send()
    drain(adapter)
    assert JobExecution.objects.count() == 1
    assert len(adapter.completed) == 1
    assert adapter.calls.count("keep_alive") == 2


def test_what_was_not_stored_is_given_back_when_it_stops(
    adapter: MemoryAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: Any) -> Any:
        dispatcher.request_stop()
        raise OperationalError("gone")

    monkeypatch.setattr(queue, "store", fail)
    adapter.send()
    adapter.send()
    ids = [message.id for message in adapter.waiting]
    dispatcher = QueueDispatcher(adapter=adapter)
    dispatcher.start()
    assert dispatcher.join(30)
    assert adapter.abandoned == ids
    assert adapter.completed == []
    assert adapter.calls[-1] == "disconnect"


def test_a_failed_completion_is_tried_again_and_nothing_is_stored_twice(
    adapter: MemoryAdapter,
) -> None:
    adapter.fail("complete", AdapterError("not now"), AdapterError("not now"))
    adapter.send()
    drain(adapter)
    assert len(adapter.completed) == 1
    assert JobExecution.objects.count() == 1
    assert "disconnect" not in adapter.calls[:-1]


def test_after_an_unforeseen_error_it_connects_again(adapter: MemoryAdapter) -> None:
    adapter.fail("receive", KeyError("oops"))
    adapter.send()
    drain(adapter)
    assert [call for call in adapter.calls if "connect" in call] == [
        "connect",
        "disconnect",
        "connect",
        "disconnect",
    ]
    assert JobExecution.objects.count() == 1


def test_it_waits_for_a_queue_system_that_is_not_up_yet(adapter: MemoryAdapter) -> None:
    adapter.fail("connect", OSError("refused"), OSError("refused"), AdapterError("soon"))
    adapter.send()
    drain(adapter)
    assert JobExecution.objects.count() == 1


def test_an_outage_is_logged_once_a_minute(
    adapter: MemoryAdapter, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "jobu")
    adapter.fail("receive", *[AdapterError("refused")] * 20)
    drain(adapter)
    assert caplog.text.count("cannot use its queue system and keeps trying: refused") == 1
    assert caplog.text.count("can use its queue system again") == 1


def test_a_second_outage_within_the_minute_is_not_logged_again(
    adapter: MemoryAdapter, caplog: pytest.LogCaptureFixture
) -> None:
    adapter.fail("receive", AdapterError("one"))
    adapter.fail("complete", AdapterError("two"))
    adapter.send()
    drain(adapter)
    assert caplog.text.count("cannot use its queue system") == 1


def test_a_configuration_that_cannot_work_ends_it(
    adapter: MemoryAdapter, caplog: pytest.LogCaptureFixture
) -> None:
    adapter.fail("connect", ImproperlyConfigured("no topic"))
    dispatcher = QueueDispatcher(adapter=adapter)
    # In a thread, as ever: it changes the options of its thread's connection.
    with ThreadPoolExecutor(1) as thread, pytest.raises(ImproperlyConfigured, match="no topic"):
        thread.submit(dispatcher._main).result()
    assert dispatcher.exit_code == 1


def test_a_disconnect_that_fails_does_not_keep_it_from_stopping(
    adapter: MemoryAdapter, caplog: pytest.LogCaptureFixture
) -> None:
    adapter.fail("disconnect", OSError("gone"))
    assert drain(adapter).exit_code == 0
    assert "could not disconnect cleanly from its queue system" in caplog.text


def test_too_much_pending_makes_it_pause_until_there_is_room(
    adapter: MemoryAdapter, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "jobu")
    for _ in range(25):
        adapter.send()
    with override_settings(JOBU_QUEUE_DISPATCHER_MAX_PENDING=10):
        dispatcher = QueueDispatcher(adapter=adapter, drain=True, idle_timeout=0.1)
        dispatcher.start()
    wait_until(lambda: "pauses: 10 executions" in caplog.text, "the pause")
    wait_until(lambda: adapter.calls[-1] == "keep_alive", "a sign of life")
    assert JobExecution.objects.count() == 10
    # One less would not do: it would take them one by one.
    JobExecution.objects.all().delete()
    wait_until(lambda: JobExecution.objects.count() == 10, "more")
    assert "goes on: 0 executions" in caplog.text
    JobExecution.objects.all().delete()
    assert dispatcher.join(30)
    assert JobExecution.objects.count() == 5
    assert len(adapter.completed) == 25


def test_what_is_due_later_does_not_make_it_pause(adapter: MemoryAdapter) -> None:
    tomorrow = timezone.now() + timedelta(days=1)
    for priority in range(3):
        enqueue("echo", available_at=tomorrow, priority=priority)
        enqueue("echo", priority=priority)
    assert count_claimable(100) == 3
    assert count_claimable(2) == 2
    adapter.send()
    drain(adapter, max_pending=5)
    assert JobExecution.objects.count() == 7


def test_it_does_not_take_itself_for_drained_before_it_is_ready(adapter: MemoryAdapter) -> None:
    adapter.ready = False
    dispatcher = QueueDispatcher(adapter=adapter, drain=True, idle_timeout=0.05)
    dispatcher.start()
    wait_until(lambda: adapter.calls.count("receive") > 20, "some looks")
    assert not dispatcher.join(0)
    adapter.send()
    adapter.ready = True
    assert dispatcher.join(30)
    assert JobExecution.objects.count() == 1


def test_old_dead_letters_are_pruned_and_open_ones_only_after_longer(
    adapter: MemoryAdapter, caplog: pytest.LogCaptureFixture
) -> None:
    now = timezone.now()
    for number, days in enumerate((1, 40, 40, 40, 91)):
        dead_letter(source_id=str(number), received_at=now - timedelta(days))
    DeadLetter.objects.filter(source_id__in="02").update(requeued_at=now)
    DeadLetter.objects.filter(source_id="3").update(discarded_at=now)
    dispatcher = QueueDispatcher(adapter=adapter)
    for _ in range(2):
        dispatcher._prune_dead_letters()
    assert set(DeadLetter.objects.values_list("source_id", flat=True)) == {"0", "1"}
    [warning] = [record for record in caplog.records if record.levelname == "WARNING"]
    assert warning.getMessage() == "pruned 1 dead letters that were still open"


@pytest.mark.parametrize("takes_events", [True, False])
def test_a_project_without_a_handler_for_messages_is_warned(
    takes_events: bool,
    adapter: MemoryAdapter,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not takes_events:
        monkeypatch.setattr(queue, "handlers", Registry())
    drain(adapter)
    warned = [text for text in caplog.messages if "no handler that messages may start" in text]
    assert len(warned) == (0 if takes_events else 1)


def test_statements_are_not_kept_in_memory(adapter: MemoryAdapter, settings: Any) -> None:
    settings.DEBUG = True
    kept: list[int] = []

    class Watching(MemoryAdapter):
        def keep_alive(self) -> None:
            kept.append(len(connections["default"].queries))

    watching = Watching()
    watching.fail("complete", *[AdapterError("no")] * 5)
    for _ in range(50):
        watching.send()
    drain(watching, batch_size=50)
    assert max(kept) < 20
