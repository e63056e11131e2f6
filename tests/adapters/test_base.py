"""What every adapter must have."""

from __future__ import annotations

from jobu import BaseQueueAdapter


def test_the_base_adapter_asks_for_its_five_methods() -> None:
    assert BaseQueueAdapter.__abstractmethods__ == {
        "connect",
        "disconnect",
        "receive",
        "complete",
        "abandon",
    }
