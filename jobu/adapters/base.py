"""What an adapter to a queue system has to do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from jobu.exceptions import AdapterError

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class QueueMessage:
    """One message, as it came.

    `id` is the same each time the message is delivered and never another message's; `receipt` is
    for the adapter's own use: whatever it needs to complete the message. What it says is left out
    of its repr, because that may be secret.
    """

    id: str
    body: bytes = field(repr=False)
    source: str = ""
    key: bytes | None = None
    headers: tuple[tuple[str, bytes], ...] = field(default=(), repr=False)
    receipt: Any = field(default=None, repr=False, compare=False)

    @property
    def size(self) -> int:
        """Count the bytes of body, key and headers."""
        headers = sum(
            len(name.encode(errors="replace")) + len(value) for name, value in self.headers
        )
        return len(self.body) + len(self.key or b"") + headers


class BaseQueueAdapter(ABC):
    """Brings messages from a queue system, at least once each.

    One thread uses it, and every call but `publish` comes from there. Whatever a method raises is
    an outage: it is logged once a minute, and the call is made again a little later; after anything
    but an AdapterError the dispatcher disconnects and connects again first.
    """

    name: ClassVar[str]
    """Part of each message's identity: 1 to 100 characters that never change."""

    @abstractmethod
    def connect(self) -> None:
        """Get ready to receive."""

    @abstractmethod
    def disconnect(self) -> None:
        """Let go of the connection; what was received and not completed will be delivered again."""

    @abstractmethod
    def receive(self, max_messages: int, timeout: float) -> list[QueueMessage]:
        """Return what is there, at most so many; wait up to `timeout` seconds for a first one."""

    @abstractmethod
    def complete(self, messages: Sequence[QueueMessage]) -> None:
        """Tell the queue system that these are stored and need not be delivered again.

        Called once they are committed; a call that raised is repeated. Whatever is no longer
        this consumer's to complete is left alone.
        """

    @abstractmethod
    def abandon(self, message: QueueMessage, reason: str) -> None:
        """Give back a message that was not stored, to be delivered again, to whomever."""

    def keep_alive(self) -> None:  # noqa: B027 - most clients need nothing for it
        """Stay connected while nothing is to be received; called every few seconds meanwhile."""

    def is_ready(self) -> bool:
        """Tell whether an empty `receive` means that there is nothing, rather than not yet."""
        return True

    def publish(
        self, body: bytes, *, key: bytes | None = None, headers: Sequence[tuple[str, bytes]] = ()
    ) -> None:
        """Send a message and wait until the queue system has it; any thread may call this."""
        raise AdapterError(f"{type(self).__name__} cannot publish; it has no method for it.")
