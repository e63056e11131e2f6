"""Messages become executions or dead letters, each once, whatever is in them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import DataError, IntegrityError, OperationalError, connection
from django.test import override_settings

from jobu import enqueue, handler, signals
from jobu.adapters.base import QueueMessage
from jobu.dialects import dialect_of
from jobu.exceptions import MessageError
from jobu.handlers.registry import Registry, handlers
from jobu.messages import rows as rows_module
from jobu.messages import store as store_module
from jobu.messages.dead_letters import _KEPT_BYTES as KEPT
from jobu.messages.dead_letters import requeue
from jobu.messages.rows import message_key
from jobu.messages.store import store
from jobu.models import CronJob, DeadLetter, JobExecution
from jobu.testing import run_pending
from tests.builders import cron, message

pytestmark = pytest.mark.django_db


def generous_cron(**fields: Any) -> CronJob:
    """Make a cron job that differs from the defaults in all that a message may leave to it."""
    return cron(
        **{
            "handler_params": {"a": "cron", "b": "cron"},
            "max_retry": 7,
            "timeout_seconds": 77,
            "queue": "crons",
            "priority": 5,
            **fields,
        }
    )


def store_one(**members: Any) -> JobExecution:
    assert store([message(**members)], "kafka") == []
    return JobExecution.objects.get()


def reason_of(body: QueueMessage) -> str:
    [refusal] = store([body], "kafka")
    letter = DeadLetter.objects.get(source_id=body.id)
    assert refusal.reason == letter.reason
    assert not JobExecution.objects.exists()
    return str(letter.reason)


def test_a_message_becomes_a_pending_execution_with_the_handlers_options() -> None:
    before = enqueue("echo")
    assert store([message(params={"ä": [1, "x"]})], "kafka") == []
    execution = JobExecution.objects.exclude(pk=before.pk).get()
    assert execution.params == {"ä": [1, "x"]}
    assert (execution.status, execution.param_source) == ("PENDING", "event")
    assert (execution.job, execution.extra) == (None, None)
    assert execution.dedupe_key == "jobu:message:kafka:events:0:0"
    alike = ("queue", "priority", "max_retry", "timeout_seconds", "attempt", "errors", "result")
    for name in alike:
        assert getattr(execution, name) == getattr(before, name)
    assert execution.available_at >= before.available_at
    assert JobExecution.objects.claimable().count() == 2


def test_what_the_message_says_wins_over_the_handlers_options() -> None:
    with override_settings(JOBU_EVENT_QUEUES=["mail"], JOBU_EVENT_PRIORITIES=[-3]):
        execution = store_one(
            queue="mail",
            priority=-3,
            available_at="2030-01-31T10:00:00.25+01:00",
            dedupe_key="welcome:42",
            trace={"id": "ä"},
        )
    assert (execution.queue, execution.priority) == ("mail", -3)
    assert execution.available_at == datetime(2030, 1, 31, 9, 0, 0, 250_000, tzinfo=UTC)
    assert execution.dedupe_key == message_key("welcome:42") == "jobu:key:welcome:42"
    assert execution.extra == {"trace": {"id": "ä"}}
    assert not JobExecution.objects.claimable().exists()


def test_a_crons_params_are_the_base_and_its_options_apply() -> None:
    job = generous_cron()
    execution = store_one(params={"b": "event", "c": "event"}, job_id=job.pk)
    assert execution.params == {"a": "cron", "b": "event", "c": "event"}
    assert (execution.job, execution.param_source) == (job, "event")
    assert (execution.max_retry, execution.timeout_seconds) == (7, 77)
    assert (execution.queue, execution.priority) == ("crons", 5)
    assert execution.scheduled_time is None


def test_what_the_message_says_wins_over_its_cron() -> None:
    job = generous_cron()
    with override_settings(JOBU_EVENT_QUEUES=["mail"], JOBU_EVENT_PRIORITIES=[1]):
        execution = store_one(queue="mail", priority=1, job_id=job.pk)
    assert (execution.queue, execution.priority, execution.max_retry) == ("mail", 1, 7)


def test_a_message_without_a_job_id_gets_nothing_from_the_only_cron_of_its_handler() -> None:
    generous_cron()
    execution = store_one(params={"b": "event"})
    assert (execution.job, execution.params) == (None, {"b": "event"})
    assert (execution.queue, execution.priority, execution.max_retry) == ("default", 0, 3)


def test_two_events_of_one_cron_are_two_executions() -> None:
    job = generous_cron()
    store([message(1, job_id=job.pk), message(2, job_id=job.pk)], "kafka")
    assert job.executions.count() == 2


def test_messages_become_executions_in_their_order() -> None:
    store([message(n, params={"n": n}) for n in range(50)], "kafka")
    found = JobExecution.objects.order_by("id").values_list("params", flat=True)
    assert [params["n"] for params in found] == list(range(50))


def test_a_redelivered_message_creates_nothing() -> None:
    batch = [message(n) for n in range(5)] + [message(9, b"not json")]
    assert len(store(batch, "kafka")) == 1
    assert store(batch, "kafka") == []
    assert store([*batch, message(6)], "kafka") == []
    assert JobExecution.objects.count() == 6
    assert DeadLetter.objects.count() == 1


def test_the_same_id_from_another_adapter_is_another_message() -> None:
    for adapter in ("kafka", "redis"):
        store([message(0), message(1, b"not json")], adapter)
    assert JobExecution.objects.count() == 2
    assert DeadLetter.objects.count() == 2


def test_a_message_with_a_dedupe_key_that_is_taken_creates_nothing() -> None:
    store([message(1, dedupe_key="k")], "kafka")
    assert store([message(2, dedupe_key="k"), message(3)], "kafka") == []
    store([message(4, dedupe_key="new"), message(5, dedupe_key="new")], "kafka")
    keys = JobExecution.objects.order_by("id").values_list("dedupe_key", flat=True)
    assert list(keys) == ["jobu:key:k", "jobu:message:kafka:events:0:3", "jobu:key:new"]


@pytest.mark.parametrize("dedupe_key", ["charge:43", "jobu:key:charge:43", "k" * 255])
def test_a_message_never_takes_a_key_of_the_project(dedupe_key: str) -> None:
    store([message(dedupe_key=dedupe_key)], "kafka")
    if not dedupe_key.startswith("jobu:"):
        own = enqueue("echo", dedupe_key=dedupe_key)
        assert (own.param_source, JobExecution.objects.count()) == ("code", 2)
    store([message(1, dedupe_key=dedupe_key)], "kafka")
    assert JobExecution.objects.filter(param_source="event").count() == 1
    assert JobExecution.objects.filter(dedupe_key=message_key(dedupe_key)).count() == 1


def test_a_message_never_takes_the_key_of_another_messages_place() -> None:
    place = "jobu:message:kafka:events:0:7"
    for key in (place, "message:kafka:events:0:7", "kafka:events:0:7"):
        store([message(len(key), dedupe_key=key)], "kafka")
    store([message(7)], "kafka")
    assert JobExecution.objects.count() == 4
    assert JobExecution.objects.filter(dedupe_key=place).count() == 1


@pytest.mark.parametrize("has_receiver", [False, True])
@pytest.mark.parametrize("at_once", [False, True])
def test_a_message_whose_key_has_an_execution_of_another_handler_is_a_dead_letter(
    has_receiver: bool, at_once: bool, request: pytest.FixtureRequest
) -> None:
    if has_receiver:
        request.getfixturevalue("enqueued")
    first, other = message(1, dedupe_key="k"), message(2, handler_name="sleep", dedupe_key="k")
    batches = [[first, other, message(3)]] if at_once else [[first], [other, message(3)]]
    [refusal] = [refusal for batch in batches for refusal in store(batch, "kafka")]
    assert refusal.message == other
    assert "'jobu:key:k' belongs to an execution of 'echo', so 'sleep' needs" in refusal.reason
    assert DeadLetter.objects.get().reason == refusal.reason
    assert JobExecution.objects.count() == 2
    assert [store(batch, "kafka") for batch in batches] == [[] for _ in batches]


def test_an_unknown_handler_with_a_key_that_is_taken_is_a_dead_letter() -> None:
    store([message(1, dedupe_key="k")], "kafka")
    [refusal] = store([message(2, handler_name="nobody", dedupe_key="k")], "kafka")
    assert "No handler is named 'nobody'" in refusal.reason


@pytest.mark.parametrize("members", [{}, {"dedupe_key": "own"}])
def test_a_message_that_is_an_execution_never_becomes_a_dead_letter_too(
    members: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    store([message(**members)], "kafka")
    monkeypatch.setattr(rows_module, "handlers", Registry())
    assert store([message(**members)], "kafka") == []
    assert not DeadLetter.objects.exists()


def test_a_message_that_is_a_dead_letter_never_becomes_an_execution_by_redelivery() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows_module, "handlers", Registry())
        store([message()], "kafka")
    assert store([message()], "kafka") == []
    assert not JobExecution.objects.exists()


def test_ids_longer_than_a_column_are_still_told_apart() -> None:
    long = "x" * 300
    batch = [
        QueueMessage(id=long + end, body=body)
        for end in ("a", "b")
        for body in (b'{"handler": "echo"}',)
    ]
    store(batch, "kafka")
    store(batch, "kafka")
    assert JobExecution.objects.count() == 2
    broken = [QueueMessage(id=long + end, body=b"") for end in ("c", "d")]
    store(broken, "kafka")
    store(broken, "kafka")
    assert DeadLetter.objects.count() == 2


def test_ids_that_no_column_could_hold_are_escaped() -> None:
    odd = [
        QueueMessage(id=f"{start}{n}", body=body)
        for n, body in enumerate((b"", b'{"handler": "echo"}'))
        for start in ("\0\ud800", "\\x00\\ud800")
    ]
    store(odd, "kafka")
    store(odd, "kafka")
    # The escaped one is not the one that looks like it.
    assert DeadLetter.objects.filter(source_id__startswith="\\x00\\ud8000").count() == 2
    assert JobExecution.objects.count() == 2


def test_a_batch_may_be_larger_than_a_statement_takes_parameters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(store_module, "_CHUNK_VALUES", 3)
    batch = [message(number, b"x" if number % 2 else None) for number in range(20)]
    assert len(store(batch, "kafka")) == 10
    monkeypatch.setattr(rows_module, "handlers", Registry())
    assert store(batch, "kafka") == []
    assert JobExecution.objects.count() == 10
    assert DeadLetter.objects.count() == 10


def test_a_dead_letter_keeps_the_message_as_it_came() -> None:
    body = bytes(range(256)) * 3
    headers = (("a", b"1"), ("a", b"\xff\x00"), ("ä\0", b""))
    odd = QueueMessage(id="events:0:1", body=body, key=b"\x00\xff", headers=headers)
    store([odd], "kafka")
    letter = DeadLetter.objects.get()
    assert (letter.adapter, letter.source_id) == ("kafka", "events:0:1")
    assert (letter.body, letter.key) == (body, b"\x00\xff")
    assert letter.headers == [["a", "1"], ["a", "\\xff\\x00"], ["ä\\x00", ""]]
    assert letter.received_at is not None
    assert letter.is_open
    assert letter.execution is None


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"handler_name": "ecko"}, "Did you mean 'echo'?"),
        ({"handler_name": "x" * 5000}, "No handler is named"),
        ({"handler_name": "\0\ud800"}, "No handler is named"),
        ({"job_id": 404}, "No cron job has the id 404."),
        ({"job_id": 2**63 - 1}, "No cron job has the id"),
        ({"params": {"a": "\0"}}, "NUL character"),
        ({"params": {"a": "\ud800"}}, "lone surrogate"),
        ({"trace": "\0"}, "NUL character"),
        ({"priority": 10**6}, "priority"),
    ],
)
def test_what_cannot_become_an_execution_is_a_dead_letter_with_the_reason(
    members: dict[str, Any], reason: str
) -> None:
    assert reason in reason_of(message(**members))


def test_nesting_and_numbers_beyond_what_databases_hold_are_dead_letters() -> None:
    deep: Any = 1
    for _ in range(31):
        deep = [deep]
    assert "nested deeper than 30" in reason_of(message(params={"a": deep}))
    huge = b'{"handler": "echo", "params": {"a": 1e999}}'
    assert 'params["a"] is inf, which is not JSON' in reason_of(message(2, huge))


@pytest.mark.parametrize("by_id", [True, False])
def test_a_handler_that_is_not_for_messages_is_a_dead_letter_until_it_is(
    by_id: bool, temporary_handlers: None
) -> None:
    job = generous_cron(handler_name="effect")
    members = {"handler_name": "effect", **({"job_id": job.pk} if by_id else {})}
    reason = reason_of(message(**members))
    assert reason.startswith("Messages may not start the handler 'effect'. If they should, ")
    assert "@handler('effect', events=True)" in reason
    letter = DeadLetter.objects.get()
    with pytest.raises(MessageError, match="may not start the handler 'effect'"):
        requeue(letter)
    options = dataclasses.replace(handlers["effect"].options, events=True)
    handlers._specs["effect"] = dataclasses.replace(handlers["effect"], options=options)
    assert requeue(letter).job == (job if by_id else None)


def test_messages_may_start_any_handler_where_the_topic_is_trusted() -> None:
    with override_settings(JOBU_EVENT_HANDLERS="all"):
        assert store_one(handler_name="effect").handler_name == "effect"


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        (
            {"queue": "vip"},
            "may not ask for the queue 'vip'. If they should, list it in JOBU_EVENT_QUEUES",
        ),
        (
            {"priority": 9},
            "may not ask for the priority 9. If they should, list it in JOBU_EVENT_PRIORITIES",
        ),
    ],
)
def test_a_queue_or_priority_that_nobody_allowed_is_a_dead_letter(
    members: dict[str, Any], reason: str
) -> None:
    assert reason in reason_of(message(**members))


def test_the_own_queue_and_priority_of_handler_and_cron_are_always_allowed() -> None:
    job = generous_cron()
    batch = [
        message(1, queue="crons", priority=5, job_id=job.pk),
        message(2, queue="default", priority=0, job_id=job.pk),
    ]
    assert store(batch, "kafka") == []
    found = JobExecution.objects.order_by("id").values_list("queue", "priority")
    assert list(found) == [("crons", 5), ("default", 0)]


def test_a_job_id_of_another_handler_is_a_dead_letter() -> None:
    job = generous_cron(handler_name="sleep")
    assert "runs 'sleep', not" in reason_of(message(job_id=job.pk))


@pytest.mark.django_db(transaction=True)
def test_a_cron_that_is_deleted_in_the_middle_makes_a_dead_letter_of_its_message_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if getattr(connection, "mysql_is_mariadb", True) is False:
        pytest.skip("MySQL 9.7, as it is packaged here, does not enforce foreign keys")
    job = generous_cron()
    write = store_module._write

    def delete_first(*arguments: Any) -> Any:
        CronJob.objects.filter(pk=job.pk).delete()
        return write(*arguments)

    monkeypatch.setattr(store_module, "_write", delete_first)
    [refusal] = store([message(1, job_id=job.pk), message(2, handler_name="sleep")], "kafka")
    assert refusal.reason == f"No cron job has the id {job.pk}."
    assert JobExecution.objects.get().handler_name == "sleep"


def test_nothing_is_parsed_while_the_transaction_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    open_ones: list[int] = []
    read = store_module.read_event

    def note(body: bytes) -> Any:
        open_ones.append(len(connection.savepoint_ids))
        return read(body)

    monkeypatch.setattr(store_module, "read_event", note)
    before = len(connection.savepoint_ids)
    store([message(1), message(2, b"oops")], "kafka")
    assert open_ones == [before, before]


def test_a_cron_whose_params_somebody_broke_makes_a_dead_letter() -> None:
    job = generous_cron(handler_params=[1])
    assert "are not a JSON object" in reason_of(message(job_id=job.pk))


def test_an_error_nobody_thought_of_makes_a_dead_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_body: bytes) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(store_module, "read_event", fail)
    assert reason_of(message()) == "ZeroDivisionError: oh"


def test_a_body_of_five_megabytes_is_kept_whole() -> None:
    body = b"\0'\\\xff" * 1_310_720
    with override_settings(JOBU_QUEUE_DISPATCHER_MAX_MESSAGE_BYTES=10):
        store([message(n, body) for n in range(3)], "kafka")
    assert {bytes(letter.body) == body for letter in DeadLetter.objects.all()} == {True}
    assert [letter.size for letter in DeadLetter.objects.listed()] == [len(body)] * 3


def test_a_message_too_large_for_a_dead_letter_is_cut_and_says_so() -> None:
    most = min(dialect_of(connection).max_bytes(connection) or KEPT, KEPT)
    batch = [
        message(0, b"x" * (most + 1)),
        QueueMessage("events:0:1", b"y" * (most - 3), key=b"long", headers=(("a", b"b"),)),
        QueueMessage("events:0:2", b"z", headers=(("a", b"1"), ("b", b"\0" * most), ("c", b"3"))),
        QueueMessage("events:0:3", b"whole", key=b"k", headers=(("a", b"1"),)),
    ]
    assert len(store(batch, "kafka")) == 4
    letters = list(DeadLetter.objects.order_by("source_id"))
    kept = [(len(letter.body), letter.key, letter.headers) for letter in letters]
    assert kept == [
        (most, None, []),
        (most - 3, b"lon", []),
        (1, None, [["a", "1"]]),
        (5, b"k", [["a", "1"]]),
    ]
    cut = f"It is cut: of a message, at most {most:,} bytes are kept."
    assert [cut in letter.reason for letter in letters] == [True, True, True, False]


@pytest.mark.parametrize(
    "large",
    [
        {"body": b'{"handler": "echo", "params": {"a": "%s"}}' % (b"x" * 1000)},
        {"body": b'{"handler": "echo"}', "key": b"k" * 1000},
        {"body": b'{"handler": "echo"}', "headers": (("h", b"v" * 1000),)},
        {"body": b'{"handler": "echo"}', "headers": (("h" * 1000, b""),)},
    ],
)
def test_body_key_and_headers_count_as_the_size_of_a_message(large: dict[str, Any]) -> None:
    with override_settings(JOBU_QUEUE_DISPATCHER_MAX_MESSAGE_BYTES=1000):
        reason = reason_of(QueueMessage("events:0:1", **large))
    assert re.match(
        r"It is 1,0\d\d bytes; JOBU_QUEUE_DISPATCHER_MAX_MESSAGE_BYTES allows 1,000", reason
    )


def test_messages_that_are_large_together_are_stored() -> None:
    text = 'ä"' * 100_000
    store([message(n, params={"text": text}) for n in range(8)], "kafka")
    assert [e.params["text"] == text for e in JobExecution.objects.all()] == [True] * 8


@pytest.mark.parametrize("has_receiver", [False, True])
def test_no_statement_carries_more_than_the_database_takes(
    has_receiver: bool, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if has_receiver:
        request.getfixturevalue("enqueued")
    limit = 20_000
    monkeypatch.setattr(type(dialect_of(connection)), "max_bytes", lambda *_: limit)
    lengths: list[int] = []

    def measure(execute: Any, sql: Any, parameters: Any, many: bool, context: Any) -> Any:
        given = [each for each in parameters or () if isinstance(each, str | bytes)]
        lengths.append(sum(map(len, given)))
        return execute(sql, parameters, many, context)

    large = b"\xff" * 7_000
    batch = [
        *(message(n, params={"text": '"' * 2_000}) for n in range(30)),
        *(QueueMessage(f"key:{n}", b"oops", key=large) for n in range(10)),
        *(QueueMessage(f"headers:{n}", b"oops", headers=(("h", large),)) for n in range(10)),
        message(99, params={"text": '"' * 10_000}),
    ]
    with connection.execute_wrapper(measure):
        refusals = store(batch, "kafka")
    assert [refusal.message.id for refusal in refusals[-1:]] == ["events:0:99"]
    assert "It takes 40," in refusals[-1].reason
    assert (JobExecution.objects.count(), DeadLetter.objects.count()) == (30, 21)
    cut = DeadLetter.objects.filter(reason__contains="at most 20,000 bytes are kept")
    assert set(cut.values_list("source_id", flat=True)) == {
        *(f"headers:{n}" for n in range(10)),
        "events:0:99",
    }
    # What the database says besides: ids, reasons, keys.
    assert max(lengths) < limit + 5_000


@pytest.fixture
def refuse(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let the database refuse rows that have a certain handler, as an odd one day it may."""

    def start(handler_name: str) -> None:
        enqueue = store_module.enqueue_events

        def enqueue_events(rows: Any, limit: int | None) -> None:
            enqueue(rows, limit)
            if any(row["handler_name"] == handler_name for row in rows):
                raise DataError("no such thing")

        monkeypatch.setattr(store_module, "enqueue_events", enqueue_events)

    return start


def test_only_the_message_that_the_database_refuses_becomes_a_dead_letter(
    refuse: Callable[[str], None],
) -> None:
    refuse("sleep")
    batch = [message(1), message(2, handler_name="sleep"), message(3), message(4, b"x")]
    assert [refusal.message.id for refusal in store(batch, "kafka")] == ["events:0:2", "events:0:4"]
    assert JobExecution.objects.count() == 2
    refused = DeadLetter.objects.get(source_id="events:0:2")
    assert refused.reason == "The database refuses: no such thing"
    assert store(batch, "kafka") == []


def test_a_database_that_goes_away_is_not_the_messages_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def enqueue_events(*_: Any) -> None:
        try:
            raise IntegrityError("taken")
        except IntegrityError:
            raise OperationalError("gone") from None

    monkeypatch.setattr(store_module, "enqueue_events", enqueue_events)
    with pytest.raises(OperationalError, match="gone"):
        store([message()], "kafka")
    assert not DeadLetter.objects.exists()


def test_receivers_hear_of_each_execution(enqueued: list[JobExecution]) -> None:
    batch = [message(n, params={"n": n}, available_at="2030-01-31T09:00Z") for n in range(3)]
    store(batch, "kafka")
    store(batch, "kafka")
    assert [execution.params["n"] for execution in enqueued] == [0, 1, 2]
    assert enqueued[0].available_at == datetime(2030, 1, 31, 9, tzinfo=UTC)
    assert JobExecution.objects.count() == 3


def test_a_receiver_that_fails_makes_a_dead_letter_of_its_message_alone() -> None:
    def fail(execution: JobExecution, **_: Any) -> None:
        if execution.params.get("bad"):
            raise ValueError("not this one")

    signals.execution_enqueued.connect(fail)
    try:
        store([message(1), message(2, params={"bad": True}), message(3)], "kafka")
    finally:
        signals.execution_enqueued.disconnect(fail)
    assert JobExecution.objects.count() == 2
    assert "not this one" in DeadLetter.objects.get().reason


@pytest.mark.usefixtures("temporary_handlers")
def test_a_renamed_handler_gets_the_messages_and_cron_jobs_of_its_old_name() -> None:
    handler("renamed", aliases="before", events=True)(lambda **_params: None)
    job = cron(handler_name="before")
    members = {"handler_name": "before", "dedupe_key": "once"}
    assert store([message(**members), message(2, handler_name="renamed", job_id=job.pk)], "k") == []
    # The same key under the new name is the same execution, no other handler's.
    assert store([message(3, **{**members, "handler_name": "renamed"})], "k") == []
    names = JobExecution.objects.order_by("id").values_list("handler_name", flat=True)
    assert list(names) == ["before", "renamed"]
    assert {execution.status for execution in run_pending()} == {"SUCCESS"}


def test_params_that_do_not_fit_make_an_execution_that_fails_and_no_dead_letter() -> None:
    store_one(handler_name="sleep", params={"secs": 1})
    [execution] = run_pending()
    assert (execution.status, execution.attempt) == ("FAILED", 1)
    assert "unknown params: secs" in execution.error_message
