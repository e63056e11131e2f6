"""Redis Streams, through redis-py: the extra `redis`."""

from __future__ import annotations

import os
import socket
import time
import uuid
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ImproperlyConfigured

from jobu.adapters.base import BaseQueueAdapter, QueueMessage
from jobu.adapters.names import names_in
from jobu.conf import settings
from jobu.exceptions import AdapterError
from jobu.installed import install_command

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_BATCH_BYTES = 8 * 1024 * 1024
_TYPICAL_BYTES = 8 * 1024
_ANSWER_SECONDS = 5.0
_BODY = b"body"
_KEY = b"key"


class RedisStreamsAdapter(BaseQueueAdapter):
    """A consumer of a group, which takes over the entries of consumers that died.

    An entry has its body in the field `body`, and may have a `key`; other fields are headers.
    """

    name = "redis"

    def __init__(self) -> None:
        self._library = _library()
        self._client: Any = None
        self._consumer = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._entry_bytes = _TYPICAL_BYTES
        self._look_for_dead_at = 0.0

    def connect(self) -> None:
        streams = self._streams()
        with self._outages():
            for stream in streams:
                self._create_group(stream)

    def disconnect(self) -> None:
        client, self._client = self._client, None
        if client is None:
            return
        try:
            for stream in self._streams():
                # A consumer that is deleted takes its unfinished entries with it.
                if not client.xpending_range(
                    stream, settings.REDIS_GROUP, "-", "+", 1, self._consumer
                ):
                    client.xgroup_delconsumer(stream, settings.REDIS_GROUP, self._consumer)
        except self._library.RedisError as error:
            raise AdapterError(f"Redis: {error}") from error
        finally:
            client.close()

    def receive(self, max_messages: int, timeout: float) -> list[QueueMessage]:
        streams = self._streams()
        # Redis counts entries, not bytes: ask for as many as fit if they are like the last ones.
        count = max(1, min(max_messages // len(streams), _BATCH_BYTES // self._entry_bytes))
        with self._outages():
            entries = self._entries_of_the_dead(count) or self._new_entries(count, timeout)
        messages = [_message(*entry) for entry in entries]
        if messages:
            largest = max(message.size for message in messages)
            # It grows at once and shrinks slowly: large ones may come between small ones.
            self._entry_bytes = max(1, largest, self._entry_bytes // 2)
        return messages

    def complete(self, messages: Sequence[QueueMessage]) -> None:
        ids: dict[str, list[bytes]] = defaultdict(list)
        for message in messages:
            stream, entry_id = message.receipt
            ids[stream].append(entry_id)
        with self._outages():
            for stream, completed in ids.items():
                self._connection().xack(stream, settings.REDIS_GROUP, *completed)

    def abandon(self, message: QueueMessage, reason: str) -> None:
        stream, entry_id = message.receipt
        with self._outages():
            # As if it had been lying idle for long enough: the next who looks takes it over.
            self._connection().xclaim(
                stream,
                settings.REDIS_GROUP,
                self._consumer,
                min_idle_time=0,
                message_ids=[entry_id],
                idle=self._idle_milliseconds(),
                justid=True,
            )

    def publish(
        self, body: bytes, *, key: bytes | None = None, headers: Sequence[tuple[str, bytes]] = ()
    ) -> None:
        fields: dict[Any, Any] = {**dict(headers), _BODY: body}
        if key is not None:
            fields[_KEY] = key
        with self._outages():
            self._connection().xadd(self._streams()[0], fields)

    def _connection(self) -> Any:
        if self._client is None:
            self._client = self._library.Redis.from_url(
                settings.REDIS_URL,
                socket_connect_timeout=_ANSWER_SECONDS,
                socket_timeout=_ANSWER_SECONDS,
                # The dispatcher tries again by itself; and an XADD that is repeated is two entries.
                retry=self._library.retry.Retry(self._library.backoff.NoBackoff(), 0),
            )
        return self._client

    def _streams(self) -> list[str]:
        streams = names_in(settings.REDIS_STREAM)
        if not streams:
            raise ImproperlyConfigured("JOBU_REDIS_STREAM names no stream.")
        return streams

    def _create_group(self, stream: str) -> None:
        try:
            # From the beginning: what was sent before the first dispatcher started is wanted, too.
            self._connection().xgroup_create(stream, settings.REDIS_GROUP, id="0", mkstream=True)
        except self._library.ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise

    def _new_entries(self, count: int, timeout: float) -> list[tuple[str, bytes, Any]]:
        reply = self._connection().xreadgroup(
            settings.REDIS_GROUP,
            self._consumer,
            dict.fromkeys(self._streams(), ">"),
            count=count,
            # None does not wait, while 0 would wait for ever.
            block=int(min(timeout, _ANSWER_SECONDS / 2) * 1000) or None,
        )
        found = reply.items() if isinstance(reply, dict) else reply
        return [
            (stream.decode(), *entry)
            for stream, entries in found
            for entry in (entries[0] if isinstance(reply, dict) else entries)
        ]

    def _entries_of_the_dead(self, count: int) -> list[tuple[str, bytes, Any]]:
        """Take over what another consumer received long ago and never completed."""
        if time.monotonic() < self._look_for_dead_at:
            return []
        found: list[tuple[str, bytes, Any]] = []
        for stream in self._streams():
            _next, entries, *_deleted = self._connection().xautoclaim(
                stream,
                settings.REDIS_GROUP,
                self._consumer,
                min_idle_time=self._idle_milliseconds(),
                count=count,
            )
            found += [(stream, entry_id, fields) for entry_id, fields in entries if fields]
        if not found:
            self._look_for_dead_at = time.monotonic() + settings.REDIS_CLAIM_IDLE_SECONDS / 4
        return found

    def _idle_milliseconds(self) -> int:
        return int(settings.REDIS_CLAIM_IDLE_SECONDS * 1000)

    @contextmanager
    def _outages(self) -> Iterator[None]:
        try:
            yield
        except self._library.RedisError as error:
            if "NOGROUP" in str(error):
                # Somebody deleted the stream: the next call finds it empty, with a group.
                self._client = None
                raise ConnectionResetError(f"Redis: {error}") from error
            raise AdapterError(f"Redis: {error}") from error


def _message(stream: str, entry_id: bytes, fields: dict[bytes, bytes]) -> QueueMessage:
    return QueueMessage(
        id=f"{stream}:{entry_id.decode()}",
        body=fields.get(_BODY, b""),
        source=stream,
        key=fields.get(_KEY),
        headers=tuple(
            (name.decode(errors="backslashreplace"), value)
            for name, value in fields.items()
            if name not in {_BODY, _KEY}
        ),
        receipt=(stream, entry_id),
    )


def _library() -> Any:
    try:
        import redis
        import redis.backoff
        import redis.retry
    except ImportError as error:
        raise ImproperlyConfigured(
            f"The Redis adapter needs redis-py: {install_command('redis')}"
        ) from error
    return redis
