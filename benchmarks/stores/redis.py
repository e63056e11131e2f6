"""A numbered database of Redis that has no keys."""

from __future__ import annotations

from typing import Any, Self

from benchmarks.stores.server import Store, StoreUnavailableError, address

_DATABASES = 16
_SETTINGS = ("appendonly", "appendfsync", "save")


class Redis(Store):
    @classmethod
    def make(cls, name: str) -> Self:  # noqa: ARG003 - a number is all the name it can have
        """Take an empty database."""
        for number in reversed(range(_DATABASES)):
            store = cls(str(number))
            if not store.connect().dbsize():
                return store
        raise StoreUnavailableError(f"Redis: each of its {_DATABASES} databases has keys")

    def drop(self) -> None:
        self.connect().flushdb()

    @property
    def url(self) -> str:
        at = address("REDIS", "6379")
        account = f":{at.password}@" if at.password else ""
        return f"redis://{account}{at.host}:{at.port}/{self.name}"

    def connect(self) -> Any:
        try:
            import redis
        except ImportError as error:
            raise StoreUnavailableError(f"Redis: {error}") from error
        client = redis.Redis.from_url(self.url)
        try:
            client.ping()
        except redis.RedisError as error:
            raise StoreUnavailableError(f"Redis: {error}") from error
        return client

    def facts(self) -> dict[str, str]:
        client = self.connect()
        settings = {name: client.config_get(name).get(name, "") for name in _SETTINGS}
        return {"version": client.info("server")["redis_version"], **settings}
