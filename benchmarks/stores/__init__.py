"""The places that hold a subject's jobs: databases made for it, an empty one of Redis.

The process that starts a subject makes its stores and drops them; the subject and its workers find
them through the environment.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from benchmarks.stores.mysql import MariaDB
from benchmarks.stores.postgres import PostgreSQL
from benchmarks.stores.redis import Redis
from benchmarks.stores.server import Store, StoreUnavailableError
from benchmarks.stores.sqlite import SQLite

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["STORES", "Store", "StoreUnavailableError", "announce", "current", "make"]

STORES: dict[str, type[Store]] = {
    "postgres": PostgreSQL,
    "mysql": MariaDB,
    "sqlite": SQLite,
    "redis": Redis,
}


def make(kind: str, subject: str) -> Store:
    """Create an empty store for a subject."""
    return STORES[kind].make(f"jobu_bench_{os.getpid()}_{re.sub('[^a-z0-9]', '_', subject)}")


def announce(stores: Iterable[Store]) -> dict[str, str]:
    """Return the environment in which `current` finds them."""
    kinds = {store_class: kind for kind, store_class in STORES.items()}
    return {_variable(kinds[type(store)]): store.name for store in stores}


def current(kind: str) -> Any:
    """Return the store of this kind that was made for the subject of this process."""
    return STORES[kind](os.environ[_variable(kind)])


def _variable(kind: str) -> str:
    return f"JOBU_BENCH_{kind.upper()}"
