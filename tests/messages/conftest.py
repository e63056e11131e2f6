"""Fixtures of the tests of messages."""

from tests.queue.conftest import enqueued, own_handlers

__all__ = ["enqueued", "own_handlers"]
