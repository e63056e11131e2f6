"""What every queue adapter has to do, as tests: subclass it for yours.

class TestFolderAdapter(QueueAdapterConformance):
    def make_adapter(self):
        return FolderAdapter()
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING
from unittest import TestCase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jobu.adapters.base import BaseQueueAdapter, QueueMessage


class QueueAdapterConformance:
    """For pytest as it is; for unittest, derive from `TestCase`, too."""

    patience = 30.0
    """How many seconds a message may take to come, redelivered ones included."""

    def make_adapter(self) -> BaseQueueAdapter:
        """Return a new adapter, a further consumer of the test's queue."""
        raise NotImplementedError

    def make_queue(self) -> None:
        """Make the queue of the test that begins, with nothing in it."""

    def drop_queue(self) -> None:
        """Remove what `make_queue` made."""

    def send(self, *bodies: bytes) -> None:
        """Send messages to the test's queue; by `publish`, unless your adapter has none."""
        adapter = self.make_adapter()
        for body in bodies:
            adapter.publish(body)

    def setUp(self) -> None:
        self.make_queue()

    def tearDown(self) -> None:
        self.drop_queue()

    def setup_method(self, _method: object = None) -> None:
        # For a TestCase pytest calls both.
        if not isinstance(self, TestCase):
            self.setUp()

    def teardown_method(self, _method: object = None) -> None:
        if not isinstance(self, TestCase):
            self.tearDown()

    def test_its_name_fits_the_column(self) -> None:
        assert 1 <= len(self.make_adapter().name) <= 100

    def test_an_empty_queue_gives_nothing_after_the_timeout(self) -> None:
        with self._consumer() as adapter:
            assert adapter.receive(10, 0.1) == []

    def test_a_message_comes_byte_for_byte(self) -> None:
        bodies = [b'{"handler_name": "echo"}', bytes(range(256)), b"\xff\xfe", "ä".encode() * 1000]
        self.send(*bodies)
        with self._consumer() as adapter:
            messages = self._receive(adapter, len(bodies))
        assert sorted(message.body for message in messages) == sorted(bodies)

    def test_messages_have_different_ids_that_are_texts(self) -> None:
        self.send(b"same", b"same", b"same")
        with self._consumer() as adapter:
            ids = {message.id for message in self._receive(adapter, 3)}
        assert len(ids) == 3
        assert all(isinstance(each, str) for each in ids)

    def test_no_more_come_than_are_asked_for(self) -> None:
        self.send(*[b"x"] * 5)
        with self._consumer() as adapter:
            seen = 0
            end = time.monotonic() + self.patience
            while seen < 5 and time.monotonic() < end:
                messages = adapter.receive(2, 0.5)
                assert len(messages) <= 2
                seen += len(messages)
            assert seen == 5

    def test_a_completed_message_does_not_come_again(self) -> None:
        self.send(b"first")
        with self._consumer() as adapter:
            [first] = self._receive(adapter, 1)
            adapter.complete([first])
        self.send(b"second")
        with self._consumer() as adapter:
            [second] = self._receive(adapter, 1)
            assert second.body == b"second"
            adapter.complete([second])

    def test_a_message_that_was_not_completed_comes_again_with_the_same_id(self) -> None:
        self.send(b"once", b"more")
        with self._consumer() as adapter:
            before = {message.id: message.body for message in self._receive(adapter, 2)}
        with self._consumer() as adapter:
            after = {message.id: message.body for message in self._receive(adapter, 2)}
        assert after == before

    def test_of_a_batch_only_what_is_completed_does_not_come_again(self) -> None:
        self.send(b"1", b"2")
        with self._consumer() as adapter:
            messages = self._receive(adapter, 2)
            adapter.complete(messages[:1])
        with self._consumer() as adapter:
            assert [m.id for m in self._receive(adapter, 1)] == [messages[1].id]

    def test_an_abandoned_message_comes_again(self) -> None:
        self.send(b"again")
        with self._consumer() as adapter:
            [message] = self._receive(adapter, 1)
            adapter.abandon(message, "to see what happens")
            [again] = self._receive(adapter, 1)
            assert (again.id, again.body) == (message.id, message.body)

    def test_completing_twice_or_nothing_is_harmless(self) -> None:
        self.send(b"x")
        with self._consumer() as adapter:
            messages = self._receive(adapter, 1)
            adapter.complete(messages)
            adapter.complete(messages)
            adapter.complete([])
            assert not adapter.receive(1, 0.1)

    def test_nothing_is_lost_while_it_is_only_kept_alive(self) -> None:
        with self._consumer() as adapter:
            self._wait_until_ready(adapter)
            self.send(b"x", b"y")
            for _ in range(3):
                adapter.keep_alive()
            assert sorted(m.body for m in self._receive(adapter, 2)) == [b"x", b"y"]

    def test_it_can_connect_again_and_disconnect_twice(self) -> None:
        adapter = self.make_adapter()
        adapter.connect()
        adapter.disconnect()
        adapter.disconnect()
        self.send(b"x")
        adapter.connect()
        assert len(self._receive(adapter, 1)) == 1
        adapter.disconnect()

    @contextmanager
    def _consumer(self) -> Iterator[BaseQueueAdapter]:
        adapter = self.make_adapter()
        adapter.connect()
        try:
            yield adapter
        finally:
            adapter.disconnect()

    def _receive(self, adapter: BaseQueueAdapter, count: int) -> list[QueueMessage]:
        messages: list[QueueMessage] = []
        end = time.monotonic() + self.patience
        while len(messages) < count:
            assert time.monotonic() < end, f"{len(messages)} of {count} messages came"
            messages += adapter.receive(count - len(messages), 0.5)
        return messages

    def _wait_until_ready(self, adapter: BaseQueueAdapter) -> None:
        end = time.monotonic() + self.patience
        while not adapter.is_ready():
            assert time.monotonic() < end, "it did not become ready"
            assert adapter.receive(1, 0.1) == []
