"""Kafka, through confluent-kafka: the extra `kafka`."""

from __future__ import annotations

import threading
import time
from operator import methodcaller
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ImproperlyConfigured

from jobu.adapters.base import BaseQueueAdapter, QueueMessage
from jobu.adapters.kafka_client import kafka_library, make_client
from jobu.adapters.kafka_commits import Commits
from jobu.adapters.kafka_publisher import Publisher
from jobu.adapters.names import names_in
from jobu.conf import settings
from jobu.exceptions import AdapterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from confluent_kafka import Consumer, KafkaError, TopicPartition

    Partition = tuple[str, int]

_BATCH_BYTES = 8 * 1024 * 1024
_LINGER_SECONDS = 0.01
_PROBE_SECONDS = 1.0
_CLOSE_SECONDS = 5.0


class KafkaAdapter(BaseQueueAdapter):
    """A member of a consumer group, which commits what is stored and nothing else.

    A partition has an epoch: which of this consumer's assignments it came with. A message is
    completed only in the epoch that it was received in, so that offsets are never committed for
    a partition that has gone to another consumer meanwhile, even if it has come back since.
    """

    name = "kafka"

    def __init__(self) -> None:
        self._kafka = kafka_library()
        self._consumer: Consumer | None = None
        self._commits = Commits(self._kafka)
        self._publisher = Publisher(self._kafka)
        self._epochs: dict[Partition, int] = {}
        self._epoch = 0
        self._is_assigned = False
        self._paused: set[Partition] = set()
        self._early: list[QueueMessage] = []
        self._rewound: dict[Partition, int] = {}
        self._is_down = False
        self._trouble = ""

    def connect(self) -> None:
        if self._consumer is not None:
            return
        topics = _topics()
        options = {
            "group.id": settings.KAFKA_GROUP_ID,
            # What was sent before the first dispatcher started is wanted, too.
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            # So that even if JOBU_KAFKA_OPTIONS ask for auto commits, there is nothing to commit.
            "enable.auto.offset.store": False,
            # Read ahead by megabytes, not by 64 of them: a body may be large.
            "queued.max.messages.kbytes": 16 * 1024,
            "on_commit": self._commits.sent,
            "error_cb": self._note,
        }
        consumer: Consumer = make_client(self._kafka, self._kafka.Consumer, options)
        consumer.subscribe(
            topics, on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._revoked
        )
        self._consumer = consumer

    def disconnect(self) -> None:
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            try:
                self._close(consumer)
            finally:
                self._epochs.clear()
                self._commits.clear()
                self._paused.clear()
                self._early.clear()
                self._is_assigned = self._is_down = False

    def receive(self, max_messages: int, timeout: float) -> list[QueueMessage]:
        consumer = self._connected()
        self._resume(consumer)
        self._rewound.clear()
        messages, self._early = self._early[:max_messages], self._early[max_messages:]
        size = 0
        while len(messages) < max_messages and size < _BATCH_BYTES:
            # Callbacks run inside: after a rebalance some of the messages may not be ours any more.
            found = consumer.poll(_LINGER_SECONDS if messages else timeout)
            if found is None:
                break
            if error := found.error():
                self._note(error)
                break
            messages.append(self._message(found))
            size += messages[-1].size
        self._commits.send(consumer)
        if messages:
            # No sign that the brokers are up: these may have been read ahead.
            return [message for message in messages if self._is_ours(message)]
        self._raise_trouble(consumer)
        return []

    def complete(self, messages: Sequence[QueueMessage]) -> None:
        """Begin to commit; `receive` and `keep_alive` see it through."""
        for message in messages:
            if self._is_ours(message):
                partition, offset, _ = message.receipt
                self._commits.add(partition, offset + 1)
        self._commits.send(self._connected())
        if problem := self._commits.take_problem():
            raise AdapterError(f"Kafka does not commit: {problem}")

    def abandon(self, message: QueueMessage, reason: str) -> None:
        if not self._is_ours(message):
            return
        partition, offset, _ = message.receipt
        if offset < self._rewound.get(partition, offset + 1):
            try:
                self._connected().seek(self._place(partition, offset))
            except self._kafka.KafkaException as error:
                raise AdapterError(f"Kafka cannot go back to {message.id}: {error}") from error
            self._rewound[partition] = offset
            self._early = [each for each in self._early if each.receipt[0] != partition]

    def keep_alive(self) -> None:
        """Poll, or the group would take the partitions away; paused, so that nothing comes."""
        consumer = self._connected()
        self._paused.update(self._epochs)
        consumer.pause(self._places(self._paused))
        found = consumer.poll(0)
        # A partition that was assigned just now is not paused yet.
        if found is not None and not found.error():
            self._early.append(self._message(found))
        self._commits.send(consumer)

    def is_ready(self) -> bool:
        return self._is_assigned

    def publish(
        self, body: bytes, *, key: bytes | None = None, headers: Sequence[tuple[str, bytes]] = ()
    ) -> None:
        self._publisher.publish(_topics()[0], body, key, headers)

    def _connected(self) -> Consumer:
        if self._consumer is None:
            raise AdapterError("The Kafka adapter is not connected.")
        return self._consumer

    def _close(self, consumer: Consumer) -> None:
        """Commit what is left, then leave the group; neither may take for ever."""
        end = time.monotonic() + _CLOSE_SECONDS
        while self._commits and not self._is_down and time.monotonic() < end:
            self._commits.send(consumer)
            # What it returns is not completed, so it comes again.
            consumer.poll(_LINGER_SECONDS)
        closing = threading.Thread(target=consumer.close, name="jobu-kafka-close", daemon=True)
        closing.start()
        closing.join(_CLOSE_SECONDS)
        if closing.is_alive():
            raise AdapterError(f"Kafka was not left within {_CLOSE_SECONDS:.0f} seconds")

    def _assigned(self, _consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._epoch += 1
        for each in partitions:
            self._epochs[each.topic, each.partition] = self._epoch
        self._is_assigned = True

    def _revoked(self, _consumer: Consumer, partitions: list[TopicPartition]) -> None:
        gone = [(each.topic, each.partition) for each in partitions]
        for partition in gone:
            self._epochs.pop(partition, None)
        self._commits.drop(gone)
        self._is_assigned = bool(self._epochs)

    def _message(self, found: Any) -> QueueMessage:
        topic, partition, offset = found.topic(), found.partition(), found.offset()
        kind, timestamp = found.timestamp()
        # A topic that is made anew counts from zero again; the time tells its messages apart.
        time = "" if kind == self._kafka.TIMESTAMP_NOT_AVAILABLE else f":{timestamp}"
        return QueueMessage(
            id=f"{topic}:{partition}:{offset}{time}",
            body=found.value() or b"",
            source=topic,
            key=found.key(),
            headers=_headers(found),
            receipt=((topic, partition), offset, self._epochs.get((topic, partition))),
        )

    def _is_ours(self, message: QueueMessage) -> bool:
        partition, _, epoch = message.receipt
        return epoch is not None and self._epochs.get(partition) == epoch

    def _place(self, partition: Partition, offset: int) -> TopicPartition:
        place: TopicPartition = self._kafka.TopicPartition(*partition, offset)
        return place

    def _places(self, partitions: set[Partition]) -> list[TopicPartition]:
        return [self._kafka.TopicPartition(*partition) for partition in partitions]

    def _resume(self, consumer: Consumer) -> None:
        """Resume all that was paused, also what is another's by now: it may come back paused."""
        if self._paused:
            consumer.resume(self._places(self._paused))
            self._paused.clear()

    def _note(self, error: KafkaError) -> None:
        """Remember what is wrong; the client tells of every attempt to connect, many a second."""
        if error.code() == self._kafka.KafkaError._ALL_BROKERS_DOWN:
            self._is_down = True
        elif error.fatal():
            raise self._kafka.KafkaException(error)
        else:
            self._trouble = error.str()

    def _raise_trouble(self, consumer: Consumer) -> None:
        if self._is_down:
            try:
                # The client does not tell when its brokers are back: ask one.
                consumer.list_topics(_topics()[0], timeout=_PROBE_SECONDS)
            except self._kafka.KafkaException as error:
                raise AdapterError(self._trouble or str(error)) from error
            self._is_down = False
        elif self._trouble and not self._is_assigned:
            trouble, self._trouble = self._trouble, ""
            raise AdapterError(trouble)
        self._trouble = ""


def _topics() -> list[str]:
    topics = names_in(settings.KAFKA_TOPIC)
    if not topics:
        raise ImproperlyConfigured("JOBU_KAFKA_TOPIC names no topic.")
    return topics


# For a name that is not UTF-8 the client returns a list with a hole in it, and sets an exception
# beside it. Python notices that in a call from C; a call from bytecode need not look, and whoever
# then reads the list crashes.
_read_headers = methodcaller("headers")


def _headers(found: Any) -> tuple[tuple[str, bytes], ...]:
    try:
        headers = _read_headers(found)
    except SystemError:
        # To raise would hold up all that follow.
        return (("headers", b"could not be read: a name is not UTF-8"),)
    return tuple((name, value or b"") for name, value in headers or ())
