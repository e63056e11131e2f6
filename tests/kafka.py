"""A Kafka for the tests: the mock cluster, or the real one that JOBU_TEST_KAFKA_* names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

REAL = os.environ.get("JOBU_TEST_KAFKA_BOOTSTRAP_SERVERS", "")
REAL_OPTIONS: dict[str, Any] = json.loads(os.environ.get("JOBU_TEST_KAFKA_OPTIONS", "{}"))
PARTITIONS = 6


class Kafka:
    """What the tests ask of either."""

    servers: str
    options: dict[str, Any]

    def create_topic(self, name: str, partitions: int) -> None:
        raise NotImplementedError

    def delete_topic(self, name: str) -> None:
        """Leave nothing behind."""

    def close(self) -> None:
        """End what was started."""

    def client_options(self) -> dict[str, Any]:
        return {"bootstrap.servers": self.servers, "log_level": 2, **self.options}


class MockKafka(Kafka):
    """librdkafka's mock cluster in a process of its own; it can be stopped and started."""

    # Short, so that a killed dispatcher's partitions move on soon.
    options = {"session.timeout.ms": 1500, "heartbeat.interval.ms": 200}  # noqa: RUF012

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.kafka_mock"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.servers = self._answer()

    def create_topic(self, name: str, partitions: int) -> None:
        self._command(f"topic {name} {partitions}")

    def send_broken_header(self, topic: str) -> None:
        self._command(f"broken-header {topic}")

    def stop(self) -> None:
        self._command("down")

    def start(self) -> None:
        self._command("up")

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _command(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        assert self._answer() == "done"

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


class RealKafka(Kafka):
    servers = REAL
    options = {"session.timeout.ms": 6000, **REAL_OPTIONS}  # noqa: RUF012

    def create_topic(self, name: str, partitions: int) -> None:
        # Replicas and the rest as the cluster has it; but it must take large messages.
        topic = NewTopic(name, partitions, config={"max.message.bytes": str(10 * 1024 * 1024)})
        for future in self._admin().create_topics([topic]).values():
            future.result()

    def delete_topic(self, name: str) -> None:
        for future in self._admin().delete_topics([name]).values():
            future.result()

    def _admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": REAL, **REAL_OPTIONS})


class Topic:
    """One test's topic and the consumer group that reads it."""

    def __init__(
        self, kafka: Kafka, partitions: int = PARTITIONS, group: str | None = None
    ) -> None:
        self.kafka = kafka
        self.name = f"jobu-test-{uuid.uuid4().hex[:12]}"
        self.group = group or self.name
        self.partitions = partitions
        self._sent = 0
        self._producer = Producer(
            {**kafka.client_options(), "linger.ms": 5, "message.max.bytes": 10 * 1024 * 1024}
        )
        self._observer = self._consumer()
        kafka.create_topic(self.name, partitions)

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "JOBU_QUEUE_DISPATCHER_ADAPTER": "jobu.adapters.kafka.KafkaAdapter",
            "JOBU_KAFKA_BOOTSTRAP_SERVERS": self.kafka.servers,
            "JOBU_KAFKA_GROUP_ID": self.group,
            "JOBU_KAFKA_TOPIC": self.name,
            "JOBU_KAFKA_OPTIONS": self.kafka.options,
        }

    @property
    def environment(self) -> dict[str, str]:
        """The settings for a process."""
        return {
            name: json.dumps(value) if isinstance(value, dict) else value
            for name, value in self.settings.items()
        }

    def send(
        self,
        bodies: Iterable[bytes],
        key: bytes | None = None,
        headers: Sequence[tuple[str, bytes]] = (),
    ) -> None:
        """Send to each partition in turn."""
        failures: list[Any] = []

        def note(failure: Any, _message: Any) -> None:
            if failure is not None:
                failures.append(failure)

        for body in bodies:
            self._producer.produce(
                self.name,
                body,
                key,
                partition=self._sent % self.partitions,
                headers=list(headers),
                on_delivery=note,
            )
            self._sent += 1
            self._producer.poll(0)
        assert self._producer.flush(60) == 0
        assert failures == []

    def lag(self) -> int:
        """Return how many messages the group has not committed yet."""
        # A consumer that subscribes to nothing only asks; it is no member of the group.
        committed = self._observer.committed(self._places(), timeout=10)
        ends = (self._observer.get_watermark_offsets(each, timeout=10)[1] for each in committed)
        return sum(end - max(0, each.offset) for each, end in zip(committed, ends, strict=True))

    def rewind(self) -> None:
        """Commit the topic's beginning for the group, as its only member for a moment."""
        assigned: list[TopicPartition] = []
        consumer = self._consumer()
        consumer.subscribe([self.name], on_assign=lambda _consumer, places: assigned.extend(places))
        end = time.monotonic() + 30
        try:
            while len(assigned) < self.partitions:
                assert time.monotonic() < end, "the group has another member"
                consumer.poll(0.1)
            consumer.commit(offsets=self._places(0), asynchronous=False)
        finally:
            consumer.close()

    def drop(self) -> None:
        self._observer.close()
        self.kafka.delete_topic(self.name)

    def _consumer(self) -> Consumer:
        return Consumer(
            {**self.kafka.client_options(), "group.id": self.group, "enable.auto.commit": False}
        )

    def _places(self, offset: int = -1001) -> list[TopicPartition]:
        return [TopicPartition(self.name, number, offset) for number in range(self.partitions)]


def describe() -> str:
    """Say which Kafka the tests use."""
    return f"the cluster at {REAL}" if REAL else "librdkafka's mock cluster"


def start() -> Kafka:
    return RealKafka() if REAL else MockKafka()
