"""The message format: what is accepted, and the reason given for what is not."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import override_settings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobu.exceptions import MessageError, NotJSONError
from jobu.messages.format import Event, check_size, read_event, write_event

pytestmark = pytest.mark.pure


def message(**members: Any) -> bytes:
    return json.dumps({"handler_name": "echo", **members}).encode()


def test_a_handler_name_is_all_it_takes() -> None:
    assert read_event(b'{"handler_name": "echo"}') == Event(
        handler_name="echo",
        params={},
        job_id=None,
        queue=None,
        priority=None,
        available_at=None,
        dedupe_key=None,
        extra={},
    )


def test_everything_that_a_message_may_say_is_read() -> None:
    event = read_event(
        message(
            params={"to": "ä@example.com"},
            job_id=123,
            queue="mail",
            priority=-5,
            available_at="2030-01-31T10:00:00+01:00",
            dedupe_key="welcome:42",
        )
    )
    assert event.params == {"to": "ä@example.com"}
    assert (event.job_id, event.queue, event.priority) == (123, "mail", -5)
    assert event.available_at == datetime(2030, 1, 31, 9, tzinfo=UTC)
    assert event.dedupe_key == "welcome:42"


def test_handler_is_accepted_for_handler_name() -> None:
    assert read_event(b'{"handler": "echo"}').handler_name == "echo"
    both = read_event(b'{"handler_name": "echo", "handler": "other"}')
    assert (both.handler_name, both.extra) == ("echo", {"handler": "other"})


def test_unknown_keys_are_kept() -> None:
    assert read_event(message(trace="abc", params={})).extra == {"trace": "abc"}


def test_null_is_as_good_as_nothing() -> None:
    body = message(params=None, job_id=None, queue=None, available_at=None, dedupe_key=None)
    assert read_event(body) == read_event(message())


def test_a_byte_order_mark_is_ignored() -> None:
    assert read_event(b"\xef\xbb\xbf" + message()) == read_event(message())


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"{", "not JSON"),
        (message().decode().encode("utf-16"), "not UTF-8"),
        (b"[]", "must be a JSON object, not an array"),
        (b'"echo"', "must be a JSON object, not a text"),
        (b"null", "must be a JSON object, not null"),
        (b"{}", "names no handler"),
        (b'{"handler_name": null}', "names no handler"),
        (b'{"handler_name": 5}', "must be a text, not 5"),
        (b'{"handler_name": ["echo"]}', "must be a text, not an array"),
        (b'{"handler_name": "echo", "handler_name": "echo"}', '"handler_name" twice'),
        (b'{"handler_name": "echo", "params": {"a": {"b": 1, "b": 1}}}', '"b" twice'),
        (b'{"handler_name": "echo", "params": {"a": NaN}}', "the number NaN"),
        (b'{"handler_name": "echo", "params": {"a": -Infinity}}', "the number -Infinity"),
        (b'{"handler_name": "echo", "x": ' + b"9" * 5000 + b"}", "not JSON"),
        (b'{"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
        (message(params=[]), "params must be a JSON object, not an array"),
        (message(params="{}"), "params must be a JSON object, not a text"),
        (message(params=False), "params must be a JSON object, not false"),
        (message(job_id="1"), "job_id must be the id"),
        (message(job_id=True), "job_id must be the id"),
        (message(job_id=0), "job_id must be the id"),
        (message(job_id=1.0), "job_id must be the id"),
        (message(job_id=2**70), "not a huge number"),
        (message(priority="high"), "priority must be a whole number"),
        (message(priority=10**6), "priority must be a whole number"),
        (message(queue=1), "queue must be a name"),
        (message(queue="a\0b"), "queue must be a name"),
        (message(queue="q" * 101), "queue must be a name"),
        (message(available_at=5), "available_at must be a time"),
        (message(available_at="soon"), "available_at must be a time"),
        (message(available_at="2030-01-31T09:00:00"), "available_at must be a time"),
        (message(available_at="0001-01-01T00:00:00+14:00"), "available_at must be a time"),
        (message(available_at="1969-12-31T00:00:00Z"), "available_at must be a time"),
        (message(dedupe_key=""), "dedupe_key must be a text"),
        (message(dedupe_key=7), "dedupe_key must be a text"),
        (message(dedupe_key="k" * 256), "dedupe_key must be a text"),
        (message(dedupe_key="\ud800"), "dedupe_key must be a text"),
    ],
)
def test_what_is_wrong_is_said(body: bytes, reason: str) -> None:
    with pytest.raises(MessageError) as error:
        read_event(body)
    assert reason in str(error.value)
    assert len(str(error.value)) < 500


def test_a_size_beyond_the_limit_is_refused() -> None:
    with override_settings(JOBU_QUEUE_DISPATCHER_MAX_MESSAGE_BYTES=1000):
        check_size(1000)
        with pytest.raises(MessageError, match=r"It is 1,001 bytes; .* allows 1,000"):
            check_size(1001)


patiently = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@patiently
@given(st.binary(max_size=200))
def test_random_bytes_are_an_event_or_a_message_error(body: bytes) -> None:
    with suppress(MessageError):
        read_event(body)


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)
_names = st.sampled_from(
    ["handler_name", "params", "job_id", "queue", "priority", "available_at", "dedupe_key", "x"]
)


@patiently
@given(st.dictionaries(_names, _values, max_size=4))
def test_wrong_types_in_any_field_are_an_event_or_a_message_error(members: dict[str, Any]) -> None:
    try:
        event = read_event(json.dumps(members).encode())
    except MessageError:
        return
    assert isinstance(event.params, dict)


def test_what_is_written_is_read_again() -> None:
    when = datetime(2030, 1, 31, 9, tzinfo=UTC)
    body = write_event(
        "echo",
        {"ä": 1},
        job_id=3,
        queue="mail",
        priority=2,
        available_at=when,
        dedupe_key="k",
    )
    event = read_event(body)
    assert (event.handler_name, event.params, event.job_id) == ("echo", {"ä": 1}, 3)
    assert (event.queue, event.priority, event.available_at) == ("mail", 2, when)
    assert (event.dedupe_key, event.extra) == ("k", {})
    assert write_event("echo") == b'{"handler_name": "echo", "params": {}}'


def test_what_could_not_be_read_is_not_written() -> None:
    with pytest.raises(NotJSONError):
        write_event("echo", {"a": {1, 2}})
    with pytest.raises(MessageError, match="priority"):
        write_event("echo", priority=10**6)
    with pytest.raises(MessageError, match="handler_name"):
        write_event(5)  # type: ignore[arg-type]
