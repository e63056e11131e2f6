"""SQLite."""

from __future__ import annotations

import re
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.db import OperationalError

from jobu.dialects.base import Dialect, causes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from django.db.backends.base.base import BaseDatabaseWrapper

_NEEDED = (3, 35, 0)
_MISSING = re.compile(r"^no such (table|column): |^table \w+ has no column named ")
_CONTROL_BUSY_TIMEOUT_MS = 20_000


class SQLiteDialect(Dialect):
    # `is_as_opened` sees a transaction that is left open.
    plain_statements = ("begin",)

    def now_sql(self, offset: str | None = None) -> str:
        # Doubled percent signs, because Django converts placeholders.
        modifier = f", PRINTF('%%+.3f seconds', {offset})" if offset else ""
        return f"STRFTIME('%%Y-%%m-%%d %%H:%%M:%%f', 'now'{modifier})"

    def seconds_until_sql(self, time: str) -> str:
        return f"((JULIANDAY({time}) - JULIANDAY('now')) * 86400)"

    def unpack_sql(self) -> str:
        return "JSON_EACH(%s) AS t"

    def unpack_records_sql(self, columns: Mapping[str, str]) -> str:
        extracted = ", ".join(f"JSON_EXTRACT(value, '$.{name}') AS {name}" for name in columns)
        return f"(SELECT {extracted} FROM JSON_EACH(%s)) AS t"  # noqa: S608 - our names

    def insert_new_sql(self, insert: str, select: str, table: str) -> str:
        # Without a WHERE, the parser reads ON as a part of a join.
        return f"{insert} {select} WHERE TRUE ON CONFLICT DO NOTHING"

    def append_sql(self, array: str, element: str) -> str:
        return f"JSON_INSERT({array}, '$[#]', JSON({element}))"

    def settle_sql(
        self, table: str, columns: Mapping[str, str], assignments: Mapping[str, str]
    ) -> str:
        values = ", ".join(
            f"JSON_EXTRACT(value, '$[{place}]') AS {name}" for place, name in enumerate(columns)
        )
        assigned = ", ".join(f"{column} = {sql}" for column, sql in assignments.items())
        # The plus keeps SQLite from using the index of running rows, with all of the process.
        return f"""
            UPDATE {table} AS e SET {assigned}
            FROM (SELECT {values} FROM JSON_EACH(%s)) AS o
            WHERE e.id = o.id AND e.attempt = o.attempt
                AND +e.claimed_by = %s AND e.status = 'RUNNING'
        """  # noqa: S608 - every name in it is ours

    def missing_requirement(self, connection: BaseDatabaseWrapper) -> str | None:
        if sqlite3.sqlite_version_info >= _NEEDED:
            return None
        return f"SQLite {sqlite3.sqlite_version} lacks UPDATE … FROM; SQLite 3.35 has it"

    def advice(self, connection: BaseDatabaseWrapper, table: str) -> str | None:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA journal_mode")
            mode = cursor.fetchone()[0]
        if mode in {"wal", "memory"}:
            return None
        return (
            f"SQLite works in journal mode '{mode}', where readers and writers wait for each "
            "other. Add to the database's OPTIONS: "
            '"transaction_mode": "IMMEDIATE", "init_command": "PRAGMA journal_mode=WAL;"'
        )

    def prepare_control_connection(self, connection: BaseDatabaseWrapper) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA busy_timeout = {_CONTROL_BUSY_TIMEOUT_MS}")

    @contextmanager
    def writing(self, connection: BaseDatabaseWrapper) -> Iterator[None]:
        # A deferred transaction that reads and then writes fails at once if another connection
        # wrote in between. An IMMEDIATE one waits for its turn.
        connection.ensure_connection()
        sqlite: Any = connection
        usual = sqlite.transaction_mode
        sqlite.transaction_mode = "IMMEDIATE"
        try:
            yield
        finally:
            sqlite.transaction_mode = usual

    def begin_readonly(self, connection: BaseDatabaseWrapper) -> None:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA query_only = ON")

    def end_readonly(self, connection: BaseDatabaseWrapper) -> None:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA query_only = OFF")

    def session_id(self, connection: BaseDatabaseWrapper) -> Any:
        return connection.connection

    def abort(self, connection: BaseDatabaseWrapper, session_id: Any) -> None:
        # Closed, not rolled back: the next statement of the abandoned handler must fail.
        session_id.interrupt()
        session_id.close()

    def is_silent(self, connection: BaseDatabaseWrapper) -> bool:
        # There is no server.
        return True

    def is_as_opened(self, connection: BaseDatabaseWrapper) -> bool:
        driver = connection.connection
        return not driver.in_transaction and driver.isolation_level is None

    def is_unmigrated(self, error: BaseException) -> bool:
        return isinstance(error, OperationalError) and _MISSING.search(str(error)) is not None

    def is_busy(self, error: BaseException) -> bool:
        return any(
            isinstance(cause, sqlite3.OperationalError | OperationalError)
            and "locked" in str(cause)
            for cause in causes(error)
        )
