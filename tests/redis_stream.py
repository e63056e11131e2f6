"""A stream of a test's own on the Redis server that JOBU_TEST_REDIS_URL names."""

from __future__ import annotations

import os
import shutil
import subprocess
import uuid
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import redis

from tests.servers import free_port, missing
from tests.waiting import wait_until

URL = os.environ.get("JOBU_TEST_REDIS_URL", "redis://127.0.0.1:6379/0")
GROUP = "jobu-queue-dispatcher"


class RedisStream:
    def __init__(self, url: str = URL) -> None:
        self.name = f"jobu-test-{uuid.uuid4().hex}"
        self._url = url
        self.server = redis.Redis.from_url(url)
        try:
            self.server.ping()
        except redis.ConnectionError:
            missing("A Redis server (JOBU_TEST_REDIS_URL)")

    @property
    def environment(self) -> dict[str, str]:
        """The settings for a process."""
        return {
            "JOBU_QUEUE_DISPATCHER_ADAPTER": "jobu.adapters.redis_streams.RedisStreamsAdapter",
            "JOBU_REDIS_URL": self._url,
            "JOBU_REDIS_STREAM": self.name,
            "JOBU_REDIS_CLAIM_IDLE_SECONDS": "1",
        }

    def send(
        self,
        bodies: Iterable[bytes],
        key: bytes | None = None,
        headers: Sequence[tuple[str, bytes]] = (),
    ) -> None:
        fields: dict[Any, Any] = {**dict(headers), **({} if key is None else {"key": key})}
        pipeline = self.server.pipeline()
        for body in bodies:
            pipeline.xadd(self.name, {"body": body, **fields})
        pipeline.execute()

    def pending(self) -> int:
        """Return how many entries were received and not completed."""
        count: int = self.server.xpending(self.name, GROUP)["pending"]
        return count

    def drop(self) -> None:
        self.server.delete(self.name)
        self.server.close()


class PrivateRedis:
    """A server of our own, which writes everything down before it answers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self.url = f"redis://127.0.0.1:{self._port}/0"
        if shutil.which("redis-server") is None:
            missing("redis-server")

    def start(self) -> None:
        options = {"port": str(self._port), "dir": str(self._folder), "save": ""}
        durable = {"appendonly": "yes", "appendfsync": "always"}
        self._process = subprocess.Popen(
            [
                "redis-server",
                *(w for k, v in {**options, **durable}.items() for w in (f"--{k}", v)),
            ],
            stdout=subprocess.DEVNULL,
        )
        wait_until(self._answers, "the Redis server")

    def stop(self) -> None:
        """Stop it the hard way, as a machine that loses power would."""
        self._process.kill()
        self._process.wait()

    def _answers(self) -> bool:
        with redis.Redis.from_url(self.url) as client, suppress(redis.ConnectionError):
            return bool(client.ping())
        return False
