"""Messages on their way to Kafka."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from jobu.adapters.kafka_client import make_client
from jobu.exceptions import AdapterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from confluent_kafka import KafkaError, Producer

_TIMEOUT_MILLISECONDS = 30_000


class Publisher:
    """Sends one message at a time and waits for the cluster's word on it; any thread may."""

    def __init__(self, kafka: Any) -> None:
        self._kafka = kafka
        self._producer: Producer | None = None
        self._lock = threading.Lock()

    def publish(
        self, topic: str, body: bytes, key: bytes | None, headers: Sequence[tuple[str, bytes]]
    ) -> None:
        answers: list[KafkaError | None] = []
        producer = self._get_producer()
        try:
            producer.produce(
                topic,
                value=body,
                key=key,
                headers=list(headers),
                on_delivery=lambda failure, _message: answers.append(failure),
            )
        except (self._kafka.KafkaException, BufferError) as error:
            raise AdapterError(f"Kafka did not take the message: {error}") from error
        while not answers:
            producer.poll(0.1)
        if answers[0] is not None:
            raise AdapterError(f"Kafka did not take the message: {answers[0].str()}")

    def _get_producer(self) -> Producer:
        with self._lock:
            if self._producer is None:
                options = {
                    "linger.ms": 0,
                    # What the client repeats after a lost answer is still one message.
                    "enable.idempotence": True,
                    "message.timeout.ms": _TIMEOUT_MILLISECONDS,
                }
                self._producer = make_client(self._kafka, self._kafka.Producer, options)
            return self._producer
