"""The Redis Streams adapter keeps the contract, against a real server."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import redis
from django.core.exceptions import ImproperlyConfigured
from django.test import override_settings

from jobu import BaseQueueAdapter, QueueMessage
from jobu.adapters.redis_streams import RedisStreamsAdapter
from jobu.exceptions import AdapterError
from jobu.installed import install_command
from jobu.testing import QueueAdapterConformance
from tests.redis_stream import URL, RedisStream

pytestmark = pytest.mark.pure


@pytest.fixture
def server(redis_stream: RedisStream) -> redis.Redis:
    return redis_stream.server


@pytest.fixture(params=["2", "3"])
def stream(redis_stream: RedisStream, request: pytest.FixtureRequest) -> Iterator[str]:
    """Make a stream of the test's own; talk to it in either version of the protocol."""
    options: dict[str, Any] = {
        "JOBU_REDIS_URL": f"{URL}?protocol={request.param}",
        "JOBU_REDIS_STREAM": redis_stream.name,
        "JOBU_REDIS_CLAIM_IDLE_SECONDS": 0.2,
    }
    with override_settings(**options):
        yield redis_stream.name


class TestRedisStreamsAdapter(QueueAdapterConformance):
    @pytest.fixture(autouse=True)
    def _stream(self, stream: str) -> None:
        pass

    def make_adapter(self) -> BaseQueueAdapter:
        return RedisStreamsAdapter()


def adapter() -> RedisStreamsAdapter:
    made = RedisStreamsAdapter()
    made.connect()
    return made


def test_what_a_dead_consumer_held_is_taken_over(stream: str, server: redis.Redis) -> None:
    dead, living = adapter(), adapter()
    dead.publish(b"x", key=b"k", headers=[("trace", b"1")])
    [held] = dead.receive(10, 1)
    assert (held.key, held.headers) == (b"k", (("trace", b"1"),))
    taken = []
    while not taken:
        taken = living.receive(10, 0.1)
    assert [message.id for message in taken] == [held.id]
    living.complete(taken)
    assert server.xpending(stream, "jobu-queue-dispatcher")["pending"] == 0


def test_a_consumer_that_leaves_is_forgotten_unless_it_still_holds_something(
    stream: str, server: redis.Redis
) -> None:
    first, second = adapter(), adapter()
    first.publish(b"x")
    first.receive(10, 1)
    second.receive(10, 0.01)
    first.disconnect()
    second.disconnect()
    [left] = server.xinfo_consumers(stream, "jobu-queue-dispatcher")
    assert left["pending"] == 1


def test_a_stream_that_is_deleted_meanwhile_is_made_again(stream: str, server: redis.Redis) -> None:
    receiver = adapter()
    server.delete(stream)
    with pytest.raises(ConnectionResetError, match="NOGROUP"):
        receiver.receive(10, 0.01)
    receiver.connect()
    receiver.publish(b"x")
    assert [message.body for message in receiver.receive(10, 1)] == [b"x"]


def test_an_entry_without_a_body_keeps_its_fields_as_headers(
    stream: str, server: redis.Redis
) -> None:
    server.xadd(stream, {"handler_name": "echo"})
    [message] = adapter().receive(10, 1)
    assert message.body == b""
    assert message.headers == (("handler_name", b"echo"),)


def test_large_entries_come_few_at_a_time(stream: str) -> None:
    receiver = adapter()
    for _ in range(6):
        receiver.publish(b"x" * 3_000_000)
    assert len(receiver.receive(1, 1)) == 1
    assert len(receiver.receive(1000, 1)) == 2


def test_several_streams_are_read(stream: str, server: redis.Redis) -> None:
    with override_settings(JOBU_REDIS_STREAM=[stream, f"{stream}-2"]):
        receiver = adapter()
        server.xadd(f"{stream}-2", {"body": b"second"})
        server.xadd(stream, {"body": b"first"})
        found = {message.body: message.source for message in receiver.receive(10, 1)}
    server.delete(f"{stream}-2")
    assert found == {b"first": stream, b"second": f"{stream}-2"}


def test_a_server_that_does_not_answer_is_trouble_for_all_methods() -> None:
    with override_settings(JOBU_REDIS_URL="redis://127.0.0.1:1/0"):
        lost = RedisStreamsAdapter()
        message = QueueMessage(id="s:1-0", body=b"", receipt=("s", b"1-0"))
        for call in (
            lost.connect,
            lambda: lost.receive(1, 0.1),
            lambda: lost.complete([message]),
            lambda: lost.abandon(message, "why not"),
            lambda: lost.publish(b"x"),
            lost.disconnect,
        ):
            with pytest.raises(AdapterError, match="127"):
                call()
        lost.disconnect()


def test_no_stream_at_all_is_refused() -> None:
    with (
        override_settings(JOBU_REDIS_STREAM=""),
        pytest.raises(ImproperlyConfigured, match="names no stream"),
    ):
        RedisStreamsAdapter().connect()


def test_a_missing_library_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(ImproperlyConfigured, match=re.escape(install_command("redis"))):
        RedisStreamsAdapter()
