"""The oldest servers that each dialect can speak to."""

from __future__ import annotations

import sqlite3
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connections

from jobu.dialects.mysql import MySQLDialect
from jobu.dialects.sqlite import SQLiteDialect


def test_sqlite_before_3_35_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.34.1")
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    assert SQLiteDialect().missing_requirement(connections["default"]) == (
        "SQLite 3.34.1 lacks UPDATE … FROM; SQLite 3.35 has it"
    )
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 35, 0))
    assert SQLiteDialect().missing_requirement(connections["default"]) is None


@pytest.mark.parametrize(
    ("is_mariadb", "version", "expected"),
    [
        (
            True,
            (10, 5, 27),
            "MariaDB 10.5.27 lacks SKIP LOCKED or JSON_TABLE; MariaDB 10.6 has both",
        ),
        (True, (10, 6, 0), None),
        (False, (8, 0, 3), "MySQL 8.0.3 lacks SKIP LOCKED or JSON_TABLE; MySQL 8.0.4 has both"),
        (False, (8, 0, 4), None),
    ],
)
def test_mysql_and_mariadb_have_their_own_oldest_versions(
    is_mariadb: bool, version: tuple[int, ...], expected: str | None
) -> None:
    server: Any = SimpleNamespace(mysql_is_mariadb=is_mariadb, mysql_version=version)
    assert MySQLDialect().missing_requirement(server) == expected
