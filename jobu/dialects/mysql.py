"""MySQL and MariaDB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from jobu.dialects.base import Dialect, causes
from jobu.dialects.bounds import give_options, statement_bound
from jobu.dialects.sessions import is_readable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.backends.mysql.base import DatabaseWrapper

_TOO_MANY_CONNECTIONS = {1040, 1203, 1226}
_BUSY = {1205, 1213, 3572}
_MISSING = {1054, 1146}
"""No such column, table."""
_STATEMENT_BYTES = 16 * 1024
# A statement that is too long, and JSON that the server refuses, in MySQL and in MariaDB.
_REFUSALS = {1153, *range(3140, 3159), *range(4035, 4043)}


class MySQLDialect(Dialect):
    # Claimed rows stay in the index until they are purged, under load for long. The optimizer
    # reads this condition as a range of the index.
    after_claimed_sql = (
        "(available_at > %s OR (available_at = %s AND id > %s))",
        "available_at",
        "available_at",
        "id",
    )

    # The optimizer chooses the range of an index before the statement runs, so it cannot depend
    # on what a step finds.
    steps_by_index = False

    # User variables begin with @, and one statement may set what LAST_INSERT_ID() is in the next.
    session_words = ("@", "get_lock", "last_insert_id")

    def may_change_session(self, sql: object) -> bool:
        # A variable of the server's, which a SELECT only reads; Django itself reads some.
        return super().may_change_session(sql.replace("@@", "") if isinstance(sql, str) else sql)

    def now_sql(self, offset: str | None = None) -> str:
        now = "UTC_TIMESTAMP(6)"
        return f"({now} + INTERVAL ROUND(({offset}) * 1000000) MICROSECOND)" if offset else now

    def seconds_until_sql(self, time: str) -> str:
        return f"(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), {time}) / 1e6)"

    def not_by_primary_key_sql(self, connection: BaseDatabaseWrapper) -> str:
        # MySQL takes the rows that match for evenly spread over the table, so that the first ones
        # come soon. Those of a cron job may all be old.
        return "" if _is_mariadb(connection) else " IGNORE INDEX (PRIMARY)"

    def unpack_sql(self) -> str:
        return "JSON_TABLE(%s, '$[*]' COLUMNS (value LONGTEXT PATH '$')) AS t"

    def unpack_records_sql(self, columns: Mapping[str, str]) -> str:
        types = {"bigint": "BIGINT", "int": "INT", "text": "LONGTEXT", "time": "DATETIME(6)"}
        typed = ", ".join(f"{name} {types[kind]} PATH '$.{name}'" for name, kind in columns.items())
        return f"JSON_TABLE(%s, '$[*]' COLUMNS ({typed})) AS t"

    def insert_new_sql(self, insert: str, select: str, table: str) -> str:
        # Not INSERT IGNORE, which also cuts values that are too long.
        return f"{insert} {select} ON DUPLICATE KEY UPDATE id = {table}.id"

    def max_bytes(self, connection: BaseDatabaseWrapper) -> int | None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT @@max_allowed_packet")
            packet: int = cursor.fetchone()[0]
        # A value may be twice as long on its way, where bytes are escaped; the rest is small.
        return max(2, packet - _STATEMENT_BYTES) // 2

    def append_sql(self, array: str, element: str) -> str:
        return f"JSON_MERGE_PRESERVE({array}, CONCAT('[', {element}, ']'))"

    def settle_sql(
        self, table: str, columns: Mapping[str, str], assignments: Mapping[str, str]
    ) -> str:
        types = {"bigint": "BIGINT", "int": "INT", "float": "DOUBLE", "text": "LONGTEXT"}
        values = ", ".join(
            f"{name} {types[kind]} PATH '$[{place}]'"
            for place, (name, kind) in enumerate(columns.items())
        )
        assigned = ", ".join(f"e.{column} = {sql}" for column, sql in assignments.items())
        # From the outcomes to their rows by primary key, whatever the optimizer estimates: with
        # any other index it would wait for locks on other rows.
        return f"""
            UPDATE JSON_TABLE(%s, '$[*]' COLUMNS ({values})) AS o
            STRAIGHT_JOIN {table} AS e FORCE INDEX (PRIMARY)
                ON e.id = o.id AND e.attempt = o.attempt
                AND e.claimed_by = %s AND e.status = 'RUNNING'
            SET {assigned}
        """  # noqa: S608 - every name in it is ours

    def json_text_column(self, connection: BaseDatabaseWrapper, column: str) -> Any:
        # MySQL's JSON type keeps a number as 64 bits or a double, and some versions do not take
        # the nearest double. MariaDB keeps JSON as text.
        if _is_mariadb(connection):
            return {}
        return {
            "type": "longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
            "check": f"JSON_VALID({column})",
        }

    def json_value_sql(self, connection: BaseDatabaseWrapper, column: str) -> str:
        return column if _is_mariadb(connection) else f"CAST({column} AS JSON)"

    def exact_collation(self, connection: BaseDatabaseWrapper) -> str | None:
        return "utf8mb4_nopad_bin" if _is_mariadb(connection) else "utf8mb4_0900_bin"

    def missing_requirement(self, connection: BaseDatabaseWrapper) -> str | None:
        mysql = cast("DatabaseWrapper", connection)
        name, needed = ("MariaDB", (10, 6)) if mysql.mysql_is_mariadb else ("MySQL", (8, 0, 4))
        if mysql.mysql_version >= needed:
            return None
        found = ".".join(map(str, mysql.mysql_version))
        return f"{name} {found} lacks SKIP LOCKED or JSON_TABLE; {name} {_dotted(needed)} has both"

    def bounds(self) -> dict[str, Any]:
        seconds = int(statement_bound())
        # One second more, so that the server reports a lock first, if it waits for one.
        timeout = seconds + 1
        return {"connect_timeout": seconds, "read_timeout": timeout, "write_timeout": timeout}

    def prepare_control_connection(self, connection: BaseDatabaseWrapper) -> None:
        give_options(connection, self.bounds())
        seconds = int(statement_bound())
        with connection.cursor() as cursor:
            # `wait_timeout` ends the session and the locks of a machine that vanished.
            cursor.execute(
                "SET SESSION wait_timeout = %s, net_read_timeout = %s, net_write_timeout = %s, "
                "lock_wait_timeout = %s, innodb_lock_wait_timeout = %s",
                [3 * seconds, seconds, seconds, seconds, seconds],
            )

    def begin_readonly(self, connection: BaseDatabaseWrapper) -> None:
        # Allowed, because without autocommit the transaction begins with the next statement.
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")

    def session_id(self, connection: BaseDatabaseWrapper) -> Any:
        with connection.cursor() as cursor:
            cursor.execute("SELECT CONNECTION_ID()")
            return cursor.fetchone()[0]

    def abort(self, connection: BaseDatabaseWrapper, session_id: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("KILL %s", [session_id])

    def refuses(self, error: BaseException) -> bool:
        return super().refuses(error) or _errno(error) in _REFUSALS

    def is_silent(self, connection: BaseDatabaseWrapper) -> bool:
        return not is_readable(connection.connection.fileno())

    def is_unmigrated(self, error: BaseException) -> bool:
        return _errno(error) in _MISSING

    def is_as_opened(self, connection: BaseDatabaseWrapper) -> bool:
        # The server reports it with each answer.
        return bool(connection.connection.get_autocommit()) is connection.get_autocommit()

    def is_out_of_connections(self, error: BaseException) -> bool:
        return any(_errno(cause) in _TOO_MANY_CONNECTIONS for cause in causes(error))

    def is_busy(self, error: BaseException) -> bool:
        return any(_errno(cause) in _BUSY for cause in causes(error))


def _is_mariadb(connection: BaseDatabaseWrapper) -> bool:
    return cast("DatabaseWrapper", connection).mysql_is_mariadb


def _errno(error: BaseException) -> Any:
    return error.args[0] if error.args else None


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
