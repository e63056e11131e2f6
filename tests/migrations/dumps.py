"""Dumps: the statements that made jobu's tables at one time, as plain SQL."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

DUMPS = Path(__file__).parent / "dumps"
DUMPED = sorted(folder.name for folder in DUMPS.glob("0*"))
"""The migrations up to which there is an installation."""
_MAKES_SOMETHING = re.compile(r"(CREATE|ALTER|DROP|COMMENT) ", re.IGNORECASE)
_DJANGO_OWN = "django_migrations"
_END = ";\n\n"
_COLUMN = re.compile(r", (?=[\"`]\w+[\"`] [^)]|CONSTRAINT )")


def newest_migration() -> str:
    [(_app, name)] = MigrationLoader(None).graph.leaf_nodes("jobu")
    return str(name)


def migrate_to(connection: BaseDatabaseWrapper, migration: str | None) -> None:
    """Apply only jobu's migrations, up to this one, and not what the command does at its end."""
    MigrationExecutor(connection).migrate([("jobu", migration)])


def statements_of(connection: BaseDatabaseWrapper, migration: str) -> list[str]:
    """Migrate to this migration, and return the statements that make such tables."""
    statements: list[str] = []

    def note(execute: Callable[..., Any], sql: str, params: Any, *rest: Any) -> Any:
        text = textwrap.dedent(str(sql)).strip()
        if _MAKES_SOMETHING.match(text) and _DJANGO_OWN not in text:
            statements.append(text if params is None else _filled_in(connection, text, params))
        return execute(sql, params, *rest)

    with connection.execute_wrapper(note):
        migrate_to(connection, migration)
    # SQLite makes a table anew for each change; its catalogue has what came of it.
    return _catalogue(connection) if connection.vendor == "sqlite" else statements


def _filled_in(connection: BaseDatabaseWrapper, sql: str, params: Sequence[Any]) -> str:
    driver: Any = connection.connection
    return sql % tuple(driver.literal(value).decode() for value in params)


def _catalogue(connection: BaseDatabaseWrapper) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sql FROM sqlite_master WHERE tbl_name LIKE 'jobu%' AND sql IS NOT NULL "
            "ORDER BY type = 'index', name"
        )
        return [sql for (sql,) in cursor.fetchall()]


def readable(statement: str) -> str:
    """Give each column and each constraint of a table a line."""
    if not statement.startswith("CREATE TABLE"):
        return statement
    head, body = statement.split(" (", 1)
    columns = ",\n    ".join(_COLUMN.split(body.removesuffix(")")))
    return f"{head} (\n    {columns}\n)"


def load_dump(connection: BaseDatabaseWrapper, migration: str, database: str) -> None:
    """Make the tables as an installation has them that was migrated up to this migration."""
    statements = (DUMPS / migration / f"{database}.sql").read_text().split(_END)
    with connection.cursor() as cursor:
        for statement in filter(str.strip, statements):
            cursor.execute(statement)
    applied = MigrationLoader(None).graph.forwards_plan(("jobu", migration))
    recorder = MigrationRecorder(connection)
    recorder.ensure_schema()
    for app, name in applied:
        recorder.record_applied(app, name)
