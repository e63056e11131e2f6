"""PostgreSQL."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Any

from django.db import DataError, ProgrammingError

from jobu import logs
from jobu.conf import settings
from jobu.dialects import postgresql_schema as schema
from jobu.dialects.base import Dialect, causes
from jobu.dialects.bounds import give_options, statement_bound
from jobu.dialects.postgresql_schema import CHANNEL
from jobu.dialects.sessions import is_readable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from django.db.backends.base.base import BaseDatabaseWrapper

_TOO_MANY_CONNECTIONS = ("too many clients", "remaining connection slots", "too many connections")
_FEW_ROWS = 10
_IDLE = 0
"""The status of a connection without a transaction in libpq."""
_KEEPALIVES = 3
_COMMAND_IN_PROGRESS = 1
_MISSING_SQLSTATES = {"42P01", "42703", "42883"}
"""No such table, column, function."""
_BUSY_SQLSTATES = {"40001", "40P01", "55P03"}
_SESSION_SQL = "SELECT pg_backend_pid()"


class PostgreSQLDialect(Dialect):
    after_claimed_sql = ("(available_at, id) > (%s, %s)", "available_at", "id")
    claims_in_one_statement = True
    epoch_sql = "TIMESTAMPTZ 'epoch'"
    # These end with their transaction.
    plain_statements = ("set local", "set transaction", "set constraints", "lock", "notify")
    # Not pg_advisory_xact_lock, which ends with its transaction, too.
    session_words = ("set_config", "advisory_lock", "setseed", "dblink", " into temp")

    def now_sql(self, offset: str | None = None) -> str:
        now = "STATEMENT_TIMESTAMP()"
        return f"({now} + ({offset}) * INTERVAL '1 second')" if offset else now

    def seconds_until_sql(self, time: str) -> str:
        return f"EXTRACT(EPOCH FROM {time} - STATEMENT_TIMESTAMP())::float8"

    def join_one_by_one_sql(self, table: str, name: str, condition: str) -> str:
        # The planner guesses the number of rows to join, and may read the whole table. OFFSET keeps
        # it from merging the subquery.
        one = f"SELECT * FROM {table} {name} WHERE {condition} OFFSET 0"  # noqa: S608 - our names
        return f"CROSS JOIN LATERAL ({one}) AS {name}"

    def json_sql(self, text: str) -> str:
        return f"{text}::jsonb"

    def unpack_sql(self) -> str:
        texts = "jsonb_array_elements_text(%s::jsonb) WITH ORDINALITY AS t (value, place)"
        return f"{texts} ORDER BY t.place"

    def unpack_records_sql(self, columns: Mapping[str, str]) -> str:
        types = {**dict.fromkeys(("bigint", "int", "text")), "time": "timestamptz"}
        typed = ", ".join(f"{name} {types[kind] or kind}" for name, kind in columns.items())
        # Only in ROWS FROM a function may have both typed columns and an ordinality.
        rows = f"ROWS FROM (jsonb_to_recordset(%s::jsonb) AS ({typed})) WITH ORDINALITY"
        return f"{rows} AS t ({', '.join(columns)}, place) ORDER BY t.place"

    def enqueue_sql(self, table: str, given: Mapping[str, str]) -> str | None:
        if not given.keys() <= schema.ENQUEUE_PARAMETERS.keys():
            return None
        # A session plans the INSERT in a function once, a plain INSERT each time. Django does not
        # use prepared statements, because they do not work with every pooling proxy.
        arguments = ", ".join(f"{column} => {value}" for column, value in given.items())
        return f"SELECT {schema.enqueue_function(table)}({arguments}), {self.now_sql()}"

    def append_sql(self, array: str, element: str) -> str:
        return f"{array} || {element}::jsonb"

    def reach_rows_by_key(self, connection: BaseDatabaseWrapper, rows: int) -> None:
        # For a hundred of some ten thousand rows the planner prefers to read all of them, which
        # takes ten times as long. For a few rows it uses the key.
        if rows > _FEW_ROWS:
            # LOCAL, because a proxy may give the session to others after the transaction.
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL enable_seqscan = off")

    def claim_in_one_statement_sql(
        self, update: str, ids: str, condition: str, returned: str
    ) -> str:
        # ARRAY, so that the rows are looked for once, whatever the plan. Django itself would lock
        # them only in a transaction of its own.
        found = f"id = ANY(ARRAY({ids} FOR UPDATE SKIP LOCKED))"
        return f"{update} WHERE {found} AND {condition} RETURNING {returned}"

    def settle_sql(
        self, table: str, columns: Mapping[str, str], assignments: Mapping[str, str]
    ) -> str:
        types = {"bigint": "bigint", "int": "int", "float": "float8", "text": "text"}
        values = ", ".join(
            f"(r ->> {place})::{types[kind]} AS {name}"
            for place, (name, kind) in enumerate(columns.items())
        )
        assigned = ", ".join(f"{column} = {sql}" for column, sql in assignments.items())
        # In this form only the primary key can serve the fence. On a table that was never
        # analysed, the planner would otherwise prefer the partial index of running rows.
        return f"""
            UPDATE {table} AS e SET {assigned}
            FROM (SELECT {values} FROM jsonb_array_elements(%s::jsonb) AS t (r)) AS o
            WHERE e.id = o.id AND e.attempt = o.attempt
                AND (e.claimed_by, e.status) IS NOT DISTINCT FROM (%s::uuid, 'RUNNING')
        """  # noqa: S608 - every name in it is ours

    def bounds(self) -> dict[str, Any]:
        keepalives = {f"keepalives_{name}": value for name, value in _keepalives().items()}
        return {
            "connect_timeout": int(min(10, statement_bound())),
            **keepalives,
            "tcp_user_timeout": _milliseconds(statement_bound()),
        }

    def prepare_control_connection(self, connection: BaseDatabaseWrapper) -> None:
        give_options(connection, self.bounds())
        # The connections of a pool are the project's; they are opened with its OPTIONS.
        connection.settings_dict["OPTIONS"].pop("pool", None)
        connection.ensure_connection()
        raw: Any = connection.connection
        bounds = {
            **_session_bounds(),
            "statement_timeout": _milliseconds(statement_bound()),
            "idle_in_transaction_session_timeout": _milliseconds(2 * statement_bound()),
            "client_connection_check_interval": _milliseconds(statement_bound() / 2),
        }
        try:
            with connection.cursor() as cursor:
                # Behind a pooling proxy, which invents its own pids, the session is not ours.
                cursor.execute(
                    f"SELECT {_set_config_sql(bounds, 'FALSE')} WHERE pg_backend_pid() = %s",
                    [raw.info.backend_pid],
                )
        except (DataError, ProgrammingError) as error:
            # An old server, or one on a system that cannot check its clients' connections.
            logs.session_unbounded(error)

    def drop_if_it_waits(self, connection: BaseDatabaseWrapper) -> bool:
        postgres: Any = connection
        raw = postgres.connection
        if raw is None or raw.info.transaction_status != _COMMAND_IN_PROGRESS:
            return False
        try:
            with socket.socket(fileno=os.dup(raw.fileno())) as duplicate:
                # Checked after `dup`: the number of a closed socket may be another's by now.
                if raw.closed:
                    return False
                duplicate.shutdown(socket.SHUT_RDWR)
        except (OSError, postgres.Database.Error):
            # Its thread has noticed by itself in this moment.
            return False
        return True

    def begin_readonly(self, connection: BaseDatabaseWrapper) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")

    def session_id(self, connection: BaseDatabaseWrapper) -> Any:
        # Asked of the server: behind a pooling proxy the driver's own idea of it is made up. On
        # the way the transaction's locks are bound to its client: they end with its machine.
        with connection.cursor() as cursor:
            cursor.execute(f"{_SESSION_SQL}, {_set_config_sql(_session_bounds(), 'TRUE')}")
            return cursor.fetchone()[0]

    def abort(self, connection: BaseDatabaseWrapper, session_id: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", [session_id])

    def may_change_session(self, sql: object) -> bool:
        # What `session_id` sets is for the transaction.
        is_ours = isinstance(sql, str) and sql.startswith(_SESSION_SQL)
        return not is_ours and super().may_change_session(sql)

    def is_server_cursor(self, cursor: Any) -> bool:
        return hasattr(cursor, "name")

    def is_silent(self, connection: BaseDatabaseWrapper) -> bool:
        driver = connection.connection
        return not driver.closed and not is_readable(driver.fileno())

    def is_as_opened(self, connection: BaseDatabaseWrapper) -> bool:
        usual = connection.isolation_level  # type: ignore[attr-defined]
        driver = connection.connection
        return (
            driver.info.transaction_status == _IDLE
            and driver.isolation_level in {None, usual}
            and driver.read_only is None
            and driver.deferrable is None
        )

    def is_out_of_connections(self, error: BaseException) -> bool:
        return any(
            type(cause).__name__ == "PoolTimeout"
            or any(text in str(cause) for text in _TOO_MANY_CONNECTIONS)
            for cause in causes(error)
        )

    def is_busy(self, error: BaseException) -> bool:
        return any(getattr(cause, "sqlstate", None) in _BUSY_SQLSTATES for cause in causes(error))

    def refuses(self, error: BaseException) -> bool:
        # Class 54: beyond what the server can hold, such as elements of more than 256 MB.
        state = getattr(error.__cause__, "sqlstate", None) or ""
        return super().refuses(error) or state.startswith("54")

    def is_unmigrated(self, error: BaseException) -> bool:
        return getattr(error.__cause__, "sqlstate", None) in _MISSING_SQLSTATES

    def announce(self, connection: BaseDatabaseWrapper, queues: Sequence[str]) -> None:
        if not settings.NOTIFY:
            return
        with connection.cursor() as cursor:
            cursor.executemany("SELECT pg_notify(%s, %s)", [(CHANNEL, queue) for queue in queues])

    def install_sql(
        self, table: str, cron_table: str, defaults: Mapping[str, str]
    ) -> Sequence[str]:
        return schema.install(table, cron_table, defaults)

    def is_installed(self, connection: BaseDatabaseWrapper, table: str) -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT to_regproc(%s) IS NOT NULL", [schema.enqueue_function(table)])
            return bool(cursor.fetchone()[0])

    def switch_notifications(
        self, connection: BaseDatabaseWrapper, tables: Sequence[str], *, on: bool
    ) -> None:
        for table in tables:
            # Looked at first, because to switch a trigger takes a lock on its table.
            if _notifies(connection, table) is not on:
                with connection.cursor() as cursor:
                    verb = "ENABLE" if on else "DISABLE"
                    cursor.execute(f"ALTER TABLE {table} {verb} TRIGGER {schema.trigger(table)}")

    def advice(self, connection: BaseDatabaseWrapper, table: str) -> str | None:
        if _notifies(connection, table) is settings.NOTIFY:
            return None
        tables = "do not notify" if settings.NOTIFY else "still notify"
        return f"JOBU_NOTIFY is {settings.NOTIFY}, but the tables {tables}: run manage.py migrate."


def _notifies(connection: BaseDatabaseWrapper, table: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tgenabled <> 'D' FROM pg_trigger WHERE tgrelid = %s::regclass AND tgname = %s",
            [table, schema.trigger(table)],
        )
        found = cursor.fetchone()
    return bool(found and found[0])


def _keepalives() -> dict[str, int]:
    """Return when the peer of an idle connection is asked whether it is there, in seconds."""
    half = statement_bound() / 2
    return {"idle": int(half), "interval": max(1, int(half / _KEEPALIVES)), "count": _KEEPALIVES}


def _session_bounds() -> dict[str, int]:
    """Return the server's settings that find out that a client's machine has vanished."""
    keepalives = {f"tcp_keepalives_{name}": value for name, value in _keepalives().items()}
    return {**keepalives, "tcp_user_timeout": _milliseconds(statement_bound())}


def _set_config_sql(values: Mapping[str, int], is_local: str) -> str:
    return ", ".join(
        f"set_config('{name}', '{value}', {is_local})" for name, value in values.items()
    )


def _milliseconds(seconds: float) -> int:
    return int(1000 * seconds)
