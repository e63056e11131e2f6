"""Find the dialect of a database."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from django.core.exceptions import ImproperlyConfigured
from django.db import connections

from jobu.dialects.mysql import MySQLDialect
from jobu.dialects.postgresql import PostgreSQLDialect
from jobu.dialects.sqlite import SQLiteDialect

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

    from jobu.dialects.base import Dialect

_DIALECTS: dict[str, type[Dialect]] = {
    "mysql": MySQLDialect,
    "postgresql": PostgreSQLDialect,
    "sqlite": SQLiteDialect,
}


def dialect_for(alias: str) -> Dialect:
    return _dialect(connections[alias].vendor)


def dialect_of(connection: BaseDatabaseWrapper) -> Dialect:
    return _dialect(connection.vendor)


@cache
def _dialect(vendor: str) -> Dialect:
    if vendor not in _DIALECTS:
        known = ", ".join(sorted(_DIALECTS))
        raise ImproperlyConfigured(f"jobu runs on {known}; {vendor} is not supported.")
    return _DIALECTS[vendor]()
