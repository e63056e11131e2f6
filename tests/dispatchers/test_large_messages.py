"""Messages that are large in any part of them, through real adapters: none holds up the next."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from django.db import connections
from django.test import override_settings

from jobu import QueueDispatcher
from jobu.models import DeadLetter, JobExecution
from tests.kafka import Kafka, Topic
from tests.redis_stream import RedisStream

pytestmark = pytest.mark.django_db(transaction=True)

MEGABYTE = 1024 * 1024
VALID = b'{"handler_name": "echo"}'


@pytest.fixture(params=["kafka", "redis"])
def source(request: pytest.FixtureRequest) -> Iterator[Topic | RedisStream]:
    made: Topic | RedisStream
    if request.param == "kafka":
        kafka: Kafka = request.getfixturevalue("kafka")
        # Of each partition the mock keeps no more than five megabytes.
        made = Topic(kafka, partitions=8)
        settings = made.settings
    else:
        made = RedisStream()
        settings = {**made.environment, "JOBU_REDIS_CLAIM_IDLE_SECONDS": 1}
    with override_settings(**settings):
        yield made
    made.drop()
    connections.close_all()


def drain() -> None:
    dispatcher = QueueDispatcher(drain=True, idle_timeout=1)
    dispatcher.start()
    assert dispatcher.join(60)
    assert dispatcher.exit_code == 0


def test_headers_and_keys_of_a_megabyte_become_dead_letters_once(
    source: Topic | RedisStream,
) -> None:
    large = b"\0" * MEGABYTE
    source.send([VALID] * 15, headers=[("trace", large)])
    source.send([VALID] * 5, key=large)
    source.send([VALID])
    drain()
    assert JobExecution.objects.count() == 1
    assert (
        DeadLetter.objects.filter(
            reason__contains="JOBU_QUEUE_DISPATCHER_MAX_MESSAGE_BYTES"
        ).count()
        == 20
    )
    if isinstance(source, Topic):
        # As after a restart of a dispatcher that died before it could commit.
        source.rewind()
    source.send([VALID])
    drain()
    assert (JobExecution.objects.count(), DeadLetter.objects.count()) == (2, 20)


def test_large_parts_within_the_limit_are_stored(source: Topic | RedisStream) -> None:
    large = b"\0" * (MEGABYTE - 1000)
    # JSON and SQL escape these again and again.
    quotes = {"handler_name": "echo", "params": {"a": '"' * 500_000}}
    for _ in range(5):
        source.send([VALID, b"oops"], headers=[("trace", large)])
        source.send([b"oops"], key=large)
        source.send([json.dumps(quotes).encode()])
    drain()
    assert (JobExecution.objects.count(), DeadLetter.objects.count()) == (10, 10)
