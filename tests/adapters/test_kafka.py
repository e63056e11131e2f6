"""The Kafka adapter keeps the contract, and never commits what is another's."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import override_settings

from jobu import BaseQueueAdapter, QueueMessage
from jobu.adapters import kafka as kafka_module
from jobu.adapters.kafka import KafkaAdapter
from jobu.adapters.names import names_in
from jobu.exceptions import AdapterError
from jobu.installed import install_command
from jobu.testing import QueueAdapterConformance
from tests.kafka import REAL, Kafka, MockKafka, Topic
from tests.waiting import wait_until

pytestmark = pytest.mark.pure


class TestKafkaAdapter(QueueAdapterConformance):
    @pytest.fixture(autouse=True)
    def _kafka(self, kafka: Kafka) -> None:
        self.kafka = kafka
        self.topic = Topic(kafka, partitions=1)
        self.settings = override_settings(**self.topic.settings)
        self.settings.enable()

    def drop_queue(self) -> None:
        self.settings.disable()
        self.topic.drop()

    def make_adapter(self) -> BaseQueueAdapter:
        return KafkaAdapter()


@pytest.fixture
def topic(kafka: Kafka) -> Iterator[Topic]:
    made = Topic(kafka, partitions=2)
    with override_settings(**made.settings):
        yield made
    made.drop()


def adapter() -> KafkaAdapter:
    made = KafkaAdapter()
    made.connect()
    return made


def receive(adapter: KafkaAdapter, count: int) -> list[QueueMessage]:
    found: list[QueueMessage] = []

    def enough() -> bool:
        found.extend(adapter.receive(count - len(found), 0.1))
        return len(found) == count

    wait_until(enough, f"{count} messages")
    return found


def test_an_id_is_topic_partition_offset_and_time(topic: Topic) -> None:
    topic.send([b"a", b"b", b"c"])
    consumer = adapter()
    messages = receive(consumer, 3)
    consumer.disconnect()
    assert sorted(message.id.rpartition(":")[0] for message in messages) == [
        f"{topic.name}:0:0",
        f"{topic.name}:0:1",
        f"{topic.name}:1:0",
    ]
    assert {message.source for message in messages} == {topic.name}


def test_key_and_headers_come_as_they_were_sent(topic: Topic) -> None:
    consumer = adapter()
    headers = [("trace", b"\xff"), ("trace", b"2")]
    KafkaAdapter().publish(b"x", key=b"\x00k", headers=headers)
    [message] = receive(consumer, 1)
    consumer.disconnect()
    assert (message.key, message.headers) == (b"\x00k", tuple(headers))


@pytest.mark.skipif(bool(REAL), reason="only the mock sends what its client cannot")
def test_a_header_that_the_client_cannot_read_stops_nothing(topic: Topic, kafka: MockKafka) -> None:
    consumer = adapter()
    # By then Python calls the client in a faster way, which checks less of what it returns.
    topic.send([b"before"] * 100)
    receive(consumer, 100)
    kafka.send_broken_header(topic.name)
    topic.send([b"next", b"next"])
    messages = receive(consumer, 3)
    consumer.disconnect()
    [broken] = [message for message in messages if message.headers]
    assert broken.body == b'{"handler_name": "echo"}'
    assert broken.headers == (("headers", b"could not be read: a name is not UTF-8"),)


def test_what_went_to_another_consumer_is_not_committed(topic: Topic) -> None:
    topic.send([b"a", b"b"])
    first = adapter()
    held = receive(first, 2)
    second = adapter()

    def shared() -> bool:
        first.keep_alive()
        second.keep_alive()
        return len(first._epochs) == len(second._epochs) == 1

    wait_until(shared, "the partitions to be shared")
    first.complete(held)
    assert topic.lag() == 2
    # Both are delivered again, to whoever has their partition now.
    again = [*receive(first, 1), *receive(second, 1)]
    assert {message.id for message in again} == {message.id for message in held}
    first.complete(again)
    second.complete(again)
    first.disconnect()
    second.disconnect()
    assert topic.lag() == 0


def test_partitions_that_come_back_after_a_pause_are_read(topic: Topic) -> None:
    first = adapter()
    wait_until(lambda: not first.receive(1, 0.1) and first.is_ready(), "the assignment")
    first.keep_alive()
    second = adapter()

    def joined() -> bool:
        first.keep_alive()
        second.keep_alive()
        return len(second._epochs) == 1

    wait_until(joined, "the partitions to be shared")
    second.disconnect()
    topic.send([b"a", b"b"])
    seen: set[bytes] = set()
    wait_until(
        lambda: not seen.update(m.body for m in first.receive(9, 0.1)) and len(seen) == 2, "both"
    )
    first.disconnect()


def test_a_pause_longer_than_kafka_lets_a_consumer_be_silent_keeps_the_partitions(
    topic: Topic,
) -> None:
    patience = {"max.poll.interval.ms": 1500}
    with override_settings(JOBU_KAFKA_OPTIONS={**topic.settings["JOBU_KAFKA_OPTIONS"], **patience}):
        consumer = adapter()
    wait_until(lambda: not consumer.receive(1, 0.1) and consumer.is_ready(), "the assignment")
    before = dict(consumer._epochs)
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        consumer.keep_alive()
        time.sleep(0.1)
    topic.send([b"a"])
    assert [message.body for message in receive(consumer, 1)] == [b"a"]
    assert consumer._epochs == before
    consumer.disconnect()


def test_a_batch_is_bounded_in_bytes(topic: Topic, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka_module, "_BATCH_BYTES", 1000)
    for _ in range(4):
        KafkaAdapter().publish(b"x" * 200, key=b"k" * 200, headers=[("h" * 100, b"v" * 100)])
    consumer = adapter()
    sizes: list[int] = []
    wait_until(lambda: bool(sizes.append(len(consumer.receive(100, 0.1))) or sum(sizes) == 4), "4")
    assert max(sizes) == 2
    consumer.disconnect()


def test_a_topic_that_is_not_there_is_trouble_not_silence(topic: Topic) -> None:
    with override_settings(JOBU_KAFKA_TOPIC="no.such.topic"):
        consumer = adapter()
        troubles: list[str] = []

        def troubled() -> bool:
            try:
                consumer.receive(1, 0.1)
            except AdapterError as error:
                troubles.append(str(error))
            return bool(troubles)

        # The mock cluster makes any topic that is asked for.
        if REAL:
            wait_until(troubled, "the trouble")
            assert "no.such.topic" in troubles[0]
        consumer.disconnect()


def test_a_broker_that_does_not_answer_is_trouble_for_all_methods() -> None:
    options = {"message.timeout.ms": 300}
    with override_settings(JOBU_KAFKA_BOOTSTRAP_SERVERS="127.0.0.1:1", JOBU_KAFKA_OPTIONS=options):
        consumer = adapter()

        def fails() -> bool:
            try:
                return bool(consumer.receive(1, 0.1))
            except AdapterError as error:
                return "127.0.0.1:1" in str(error)

        wait_until(fails, "the trouble")
        with pytest.raises(AdapterError, match="did not take the message"):
            consumer.publish(b"x")
        consumer.disconnect()


def test_options_of_the_project_win(topic: Topic) -> None:
    elsewhere = {**topic.settings["JOBU_KAFKA_OPTIONS"], "bootstrap.servers": topic.kafka.servers}
    with override_settings(
        JOBU_KAFKA_BOOTSTRAP_SERVERS="127.0.0.1:1", JOBU_KAFKA_OPTIONS=elsewhere
    ):
        KafkaAdapter().publish(b"x")
        consumer = adapter()
        assert receive(consumer, 1)[0].body == b"x"
        consumer.disconnect()


def test_options_that_kafka_does_not_know_are_named(topic: Topic) -> None:
    with override_settings(JOBU_KAFKA_OPTIONS={"no.such.option": 1}):
        with pytest.raises(ImproperlyConfigured, match=r"no\.such\.option"):
            KafkaAdapter().connect()
        with pytest.raises(ImproperlyConfigured, match=r"no\.such\.option"):
            KafkaAdapter().publish(b"x")


def test_no_topic_at_all_is_refused() -> None:
    with override_settings(JOBU_KAFKA_TOPIC=" , "):
        with pytest.raises(ImproperlyConfigured, match="names no topic"):
            KafkaAdapter().connect()
        with pytest.raises(ImproperlyConfigured, match="names no topic"):
            KafkaAdapter().publish(b"x")


def test_a_missing_library_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with pytest.raises(ImproperlyConfigured, match=re.escape(install_command("kafka"))):
        KafkaAdapter()


def test_a_list_of_topics_and_one_with_commas_mean_the_same() -> None:
    assert names_in("a, b,") == names_in(["a", "b"]) == ["a", "b"]
