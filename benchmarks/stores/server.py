"""What the stores have in common: a name, a server and its address.

JOBU_TEST_POSTGRES_*, JOBU_TEST_MARIADB_* and JOBU_TEST_REDIS_* say where the servers are, as for
the tests.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Self


class StoreUnavailableError(Exception):
    """Nothing answers, or the driver is not installed."""


@dataclass(frozen=True)
class Store:
    name: str

    @classmethod
    def make(cls, name: str) -> Self:
        """Create it, empty."""
        raise NotImplementedError

    def drop(self) -> None:
        """Leave nothing of it behind."""
        raise NotImplementedError

    def django(self) -> dict[str, Any]:
        """Return it as an entry of Django's DATABASES."""
        raise NotImplementedError

    def facts(self) -> dict[str, str]:
        """Return the server's version and the settings that speed depends on."""
        raise NotImplementedError


@dataclass(frozen=True)
class Address:
    host: str
    port: str
    user: str
    password: str

    def django(self) -> dict[str, Any]:
        return {
            "HOST": self.host,
            "PORT": self.port,
            "USER": self.user,
            "PASSWORD": self.password,
        }


def address(server: str, port: str, user: str = "") -> Address:
    """Return where a server is: what the environment says, or these defaults."""

    def part(name: str, default: str) -> str:
        return os.environ.get(f"JOBU_TEST_{server}_{name}", default)

    return Address(
        host=part("HOST", "127.0.0.1"),
        port=part("PORT", port),
        user=part("USER", user),
        password=part("PASSWORD", ""),
    )
