"""Offsets on their way to Kafka, one commit at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from confluent_kafka import Consumer, KafkaError, TopicPartition

    Partition = tuple[str, int]


class Commits:
    """What is to be committed, and what is being committed.

    Not with synchronous commits: one that is under way when the broker goes away returns only
    once it is back. What was not committed in the end is delivered again, and creates nothing.
    """

    def __init__(self, kafka: Any) -> None:
        self._kafka = kafka
        self._waiting: dict[Partition, int] = {}
        self._under_way: dict[Partition, int] = {}
        self._problem = ""

    def __bool__(self) -> bool:
        return bool(self._waiting or self._under_way)

    def add(self, partition: Partition, offset: int) -> None:
        """Note that everything before the offset is stored."""
        self._waiting[partition] = max(offset, self._waiting.get(partition, 0))

    def drop(self, partitions: Iterable[Partition]) -> None:
        """Forget partitions that are no longer ours to commit."""
        for partition in partitions:
            self._waiting.pop(partition, None)
            self._under_way.pop(partition, None)

    def clear(self) -> None:
        self._waiting.clear()
        self._under_way.clear()

    def send(self, consumer: Consumer) -> None:
        """Begin to commit what is waiting, unless a commit is under way."""
        if self._waiting and not self._under_way:
            places = [self._kafka.TopicPartition(*each) for each in self._flat(self._waiting)]
            try:
                consumer.commit(offsets=places, asynchronous=True)
            except self._kafka.KafkaException as error:
                self._problem = str(error)
            else:
                self._under_way, self._waiting = self._waiting, {}

    def sent(self, error: KafkaError | None, places: list[TopicPartition]) -> None:
        """Be told what became of a commit; what failed is waiting again."""
        for place in places:
            partition = place.topic, place.partition
            offset = self._under_way.pop(partition, None)
            failure = place.error or error
            if failure is None or offset is None or self._is_rebalance(failure):
                continue
            self._problem = failure.str()
            self.add(partition, offset)

    def take_problem(self) -> str:
        """Return why a commit failed, once."""
        problem, self._problem = self._problem, ""
        return problem

    def _is_rebalance(self, error: KafkaError) -> bool:
        """Tell whether the partition went to another, who will find everything stored."""
        known = self._kafka.KafkaError
        return error.code() in {
            known.ILLEGAL_GENERATION,
            known.REBALANCE_IN_PROGRESS,
            known.UNKNOWN_MEMBER_ID,
            known.FENCED_INSTANCE_ID,
            known._ASSIGNMENT_LOST,
        }

    def _flat(self, offsets: dict[Partition, int]) -> list[tuple[str, int, int]]:
        return [(*partition, offset) for partition, offset in offsets.items()]
