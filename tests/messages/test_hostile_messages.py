"""Whatever a message says, it is one execution or one dead letter, at a bounded price."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobu import signals
from jobu.adapters.base import QueueMessage
from jobu.exceptions import MessageError
from jobu.messages.format import read_event
from jobu.messages.rows import bounded, message_key, source_key
from jobu.messages.store import store
from jobu.models import DeadLetter, JobExecution
from tests.hostile_bodies import hostile_bodies

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.django_db

MEGABYTE = 1024 * 1024
VALID = QueueMessage(id="the next valid one", body=b'{"handler_name": "echo"}')

_names = st.sampled_from(
    ["handler", "params", "job_id", "queue", "priority", "available_at", "dedupe_key", "more"]
)
_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(min_value=-(10**400), max_value=10**400)
    | st.floats()
    | st.text(max_size=30)
    | st.sampled_from(["k", "default", "\0", "\ud800", 0, 1, 2**63, "2030-01-31T09:00Z"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=8,
)
_near_valid = st.builds(
    lambda members, name: json.dumps({"handler_name": name, **members}).encode(),
    st.dictionaries(_names, _values, max_size=4),
    st.sampled_from(["echo", "sleep", "effect", "ecko"]),
)
_spoiled = st.builds(
    lambda body, place, bytes_: body[: place % len(body)] + bytes_ + body[place % len(body) :],
    _near_valid,
    st.integers(min_value=0, max_value=300),
    st.binary(min_size=1, max_size=2),
)
_messages = st.builds(
    QueueMessage,
    id=st.text(max_size=300),
    body=st.binary(max_size=100) | _near_valid | _spoiled | st.sampled_from([*hostile_bodies(200)]),
    key=st.none() | st.binary(max_size=50),
    headers=st.lists(st.tuples(st.text(max_size=10), st.binary(max_size=50)), max_size=3).map(
        tuple
    ),
)


@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    batch=st.lists(_messages, max_size=8, unique_by=lambda message: message.id),
    has_receiver=st.booleans(),
)
def test_every_message_is_one_execution_or_one_dead_letter(
    batch: list[QueueMessage], has_receiver: bool
) -> None:
    JobExecution.objects.all().delete()
    DeadLetter.objects.all().delete()
    with ExitStack() as stack:
        if has_receiver:
            stack.enter_context(_receiver())
        store([*batch, VALID], "kafka")
        dead = {letter.source_id: letter for letter in DeadLetter.objects.all()}
        handlers = dict(JobExecution.objects.values_list("dedupe_key", "handler_name"))
        keys = {source_key("kafka", VALID.id)}
        for message in batch:
            key, handler_name = _key_and_handler(message)
            is_execution = key in handlers and handlers[key] == handler_name
            letter = dead.pop(bounded(message.id), None)
            assert is_execution != bool(letter and letter.reason and letter.body == message.body)
            if is_execution:
                keys.add(key)
        assert dead == {}
        assert handlers.keys() == keys
        before = _everything()
        assert store([*batch, VALID], "kafka") == []
        assert _everything() == before


def _key_and_handler(message: QueueMessage) -> tuple[str, str | None]:
    try:
        event = read_event(message.body)
    except MessageError:
        return source_key("kafka", bounded(message.id)), None
    if event.dedupe_key is not None:
        return message_key(event.dedupe_key), event.handler_name
    return source_key("kafka", bounded(message.id)), event.handler_name


def _everything() -> list[Any]:
    executions = JobExecution.objects.order_by("id").values_list("id", "dedupe_key", "params")
    return [*executions, *DeadLetter.objects.order_by("id").values_list("id", "reason")]


@contextmanager
def _receiver() -> Iterator[None]:
    def receive(**_: Any) -> None: ...

    signals.execution_enqueued.connect(receive)
    try:
        yield
    finally:
        signals.execution_enqueued.disconnect(receive)


def _with(**members: Any) -> bytes:
    return json.dumps({"handler_name": "echo", **members}).encode()


def _repeated(unit: bytes, before: bytes = b"", after: bytes = b"") -> bytes:
    return before + unit * ((MEGABYTE - 200) // len(unit)) + after


_many_keys = b",".join(b'"%d":1' % number for number in range(95_000))

COSTLY = {
    "many keys, the last one twice": b"{" + _many_keys + b',"94999":1}',
    "one key many times": _repeated(b'"a":1,', b'{"handler_name": "echo",', b'"a":1}'),
    "objects with a key twice": _repeated(b'{"a":1,"a":1},', b'{"x":[', b"0]}"),
    "many keys besides": b'{"handler_name":"echo",' + _many_keys + b"}",
    "many keys in params": b'{"handler_name":"echo","params":{' + _many_keys + b"}}",
    "long whole numbers": _repeated(b"9" * 4299 + b",", b'{"handler_name":"echo","x":[', b"0]}"),
    "one whole number": _repeated(b"9", b'{"handler_name":"echo","x":', b"}"),
    "one fraction": _repeated(b"9", b'{"handler_name":"echo","x":0.', b"}"),
    "numbers that grow": _repeated(b"1e15,", b'{"handler_name":"echo","x":[', b"0]}"),
    "deep nesting": _repeated(b"[", b'{"handler_name":"echo","x":'),
    "nesting side by side": _repeated(b"[" * 40 + b"]" * 40 + b",", b'{"x":[', b"0]}"),
    "escapes": _with(params={"x": "\u0001" * 150_000}),
    "quotes": _with(params={"x": '"' * 500_000}),
    "surrogate pairs": _with(params={"x": "😀" * 80_000}),
    "a lone surrogate at the end": _with(params={"x": "😀" * 80_000 + "\ud800"}),
    "NUL at the end": _with(params={"x": "x" * 900_000 + "\0"}),
    "a long handler name": _with(handler_name="e" * 1_000_000),
    "a long queue": _with(queue="q" * 1_000_000),
    "a long dedupe_key": _with(dedupe_key="k" * 1_000_000),
    "a long time": _with(available_at="2" * 1_000_000),
    "not UTF-8 at the end": _repeated(b" ", b"{", b"\xff"),
    "blanks": _repeated(b" \n", b"{"),
}


@pytest.mark.parametrize("kind", COSTLY)
def test_a_megabyte_of_anything_costs_little_and_holds_up_nothing(kind: str) -> None:
    message = QueueMessage("events:0:1", COSTLY[kind])
    assert MEGABYTE * 0.7 < message.size <= MEGABYTE
    began = time.thread_time()
    with CaptureQueriesContext(connection) as statements:
        store([message, VALID], "kafka")
    # This thread's own time, in which other processes have no part: up to 0.5 seconds here, where
    # a search of all keys for each of them took a hundred.
    assert time.thread_time() - began < 5
    # Most take ten; a database that refuses the two together gets each by itself.
    assert len(statements) < 30
    assert JobExecution.objects.filter(dedupe_key=source_key("kafka", VALID.id)).exists()
    assert JobExecution.objects.count() + DeadLetter.objects.count() == 2


def test_forty_times_the_messages_take_a_few_statements_more() -> None:
    counts = []
    for size in (10, 400):
        batch = [QueueMessage(f"{size}:{n}", body) for n, body in enumerate(hostile_bodies(size))]
        with CaptureQueriesContext(connection) as statements:
            store([*batch, VALID], "kafka")
        counts.append(len(statements))
    # A statement has so many parameters, and no more.
    assert counts[1] <= counts[0] + 15
