"""PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jobu.dialects.base import Dialect, causes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from django.db.backends.base.base import BaseDatabaseWrapper

CHANNEL = "jobu"
CRON_CHANNEL = "jobu_crons"
_TOO_MANY_CONNECTIONS = ("too many clients", "remaining connection slots", "too many connections")
_FEW_ROWS = 10
_BUSY_SQLSTATES = {"40001", "40P01", "55P03"}


class PostgreSQLDialect(Dialect):
    after_claimed_sql = ("(available_at, id) > (%s, %s)", "available_at", "id")
    claims_alone = True

    def now_sql(self, offset: str | None = None) -> str:
        now = "STATEMENT_TIMESTAMP()"
        return f"({now} + ({offset}) * INTERVAL '1 second')" if offset else now

    def seconds_until_sql(self, time: str) -> str:
        return f"EXTRACT(EPOCH FROM {time} - STATEMENT_TIMESTAMP())::float8"

    def json_sql(self, text: str) -> str:
        return f"{text}::jsonb"

    def unpack_sql(self) -> str:
        texts = "jsonb_array_elements_text(%s::jsonb) WITH ORDINALITY AS t (value, place)"
        return f"{texts} ORDER BY t.place"

    def unpack_records_sql(self, columns: Mapping[str, str]) -> str:
        types = {**dict.fromkeys(("bigint", "int", "text")), "time": "timestamptz"}
        typed = ", ".join(f"{name} {types[kind] or kind}" for name, kind in columns.items())
        # ROWS FROM: only there a function may have both typed columns and an ordinality.
        rows = f"ROWS FROM (jsonb_to_recordset(%s::jsonb) AS ({typed})) WITH ORDINALITY"
        return f"{rows} AS t ({', '.join(columns)}, place) ORDER BY t.place"

    def enqueue_sql(self, table: str, given: Mapping[str, str]) -> str | None:
        # A session plans what is inside a function once, an INSERT each time: Django has prepared
        # statements off, because they are in the way of a pooling proxy.
        arguments = ", ".join(f"{column} => {value}" for column, value in given.items())
        return f"SELECT {table}_enqueue({arguments}), {self.now_sql()}"

    def append_sql(self, array: str, element: str) -> str:
        return f"{array} || {element}::jsonb"

    def reach_rows_by_key(self, connection: BaseDatabaseWrapper, rows: int) -> None:
        # For a hundred rows among some ten thousand the planner takes reading all of them for
        # cheaper, which takes ten times as long; for a few it finds the key by itself.
        if rows > _FEW_ROWS:
            # LOCAL, for who shares connections with others.
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL enable_seqscan = off")

    def settle_sql(
        self, table: str, columns: Mapping[str, str], assignments: Mapping[str, str]
    ) -> str:
        types = {"bigint": "bigint", "int": "int", "float": "float8", "text": "text"}
        values = ", ".join(
            f"(r ->> {place})::{types[kind]} AS {name}"
            for place, (name, kind) in enumerate(columns.items())
        )
        assigned = ", ".join(f"{column} = {sql}" for column, sql in assignments.items())
        # The fence is written so that only the primary key can serve it: on a table that was
        # never analysed the planner would take the partial index of running rows for better.
        return f"""
            UPDATE {table} AS e SET {assigned}
            FROM (SELECT {values} FROM jsonb_array_elements(%s::jsonb) AS t (r)) AS o
            WHERE e.id = o.id AND e.attempt = o.attempt
                AND (e.claimed_by, e.status) IS NOT DISTINCT FROM (%s::uuid, 'RUNNING')
        """  # noqa: S608 - every name in it is ours

    def begin_readonly(self, connection: BaseDatabaseWrapper) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")

    def session_id(self, connection: BaseDatabaseWrapper) -> Any:
        # Asked of the server: behind a pooling proxy the driver's own idea of it is made up.
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            return cursor.fetchone()[0]

    def abort(self, connection: BaseDatabaseWrapper, session_id: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", [session_id])

    def is_out_of_connections(self, error: BaseException) -> bool:
        return any(
            type(cause).__name__ == "PoolTimeout"
            or any(text in str(cause) for text in _TOO_MANY_CONNECTIONS)
            for cause in causes(error)
        )

    def is_busy(self, error: BaseException) -> bool:
        return any(getattr(cause, "sqlstate", None) in _BUSY_SQLSTATES for cause in causes(error))

    def announce(self, connection: BaseDatabaseWrapper, queues: Sequence[str]) -> None:
        with connection.cursor() as cursor:
            cursor.executemany("SELECT pg_notify(%s, %s)", [(CHANNEL, queue) for queue in queues])

    def install_sql(self, table: str, cron_table: str) -> Sequence[str]:
        """Let the database itself announce executions and edited crons, however they came."""
        function = f"{table}_announce"
        cron_function = f"{cron_table}_announce"
        return (
            # Few among very many, looked for by people: the admin lists them newest first. Where
            # there are no partial indexes, one that is led by the status has to do.
            f"""
            CREATE INDEX jobu_exec_unsuccessful ON {table} (id)
            WHERE status IN ('FAILED', 'TIMEOUT', 'CANCELLED')
            """,
            # See `enqueue_sql`. The rest are the defaults of the model, which a test compares.
            f"""
            CREATE FUNCTION {table}_enqueue(
                handler_name text, queue text, priority int, max_retry int, timeout_seconds int,
                params jsonb, available_at timestamptz DEFAULT STATEMENT_TIMESTAMP()
            ) RETURNS bigint LANGUAGE plpgsql AS $$
            DECLARE
                made bigint;
            BEGIN
                INSERT INTO {table} (
                    handler_name, queue, priority, max_retry, timeout_seconds, params,
                    available_at, param_source, status, retry_count, attempt, error_message,
                    errors, cancel_requested
                ) VALUES (
                    $1, $2, $3, $4, $5, $6, $7, 'api', 'PENDING', 0, 0, '', '[]', FALSE
                ) RETURNING id INTO made;
                RETURN made;
            END $$
            """,  # noqa: S608 - our names
            # For each row, although a transaction announces a queue once: what it would take to see
            # the rows of a statement together costs more for one than this does for many.
            f"""
            CREATE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql AS $$
            DECLARE
                nothing text;
            BEGIN
                -- An assignment takes half the time of a PERFORM, which is a statement.
                nothing := pg_notify('{CHANNEL}', NEW.queue);
                RETURN NULL;
            END $$
            """,
            f"""
            CREATE TRIGGER {function} AFTER INSERT ON {table}
            FOR EACH ROW EXECUTE FUNCTION {function}()
            """,
            f"""
            CREATE FUNCTION {cron_function}() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                PERFORM pg_notify('{CRON_CHANNEL}', '');
                RETURN NULL;
            END $$
            """,
            f"""
            CREATE TRIGGER {cron_function}
            AFTER INSERT OR UPDATE OF name, cron_expression, timezone, is_enabled ON {cron_table}
            FOR EACH STATEMENT EXECUTE FUNCTION {cron_function}()
            """,
        )

    def uninstall_sql(self, table: str, cron_table: str) -> Sequence[str]:
        return (
            f"DROP FUNCTION IF EXISTS {table}_enqueue",
            *(
                statement
                for each in (table, cron_table)
                for statement in (
                    f"DROP TRIGGER IF EXISTS {each}_announce ON {each}",
                    f"DROP FUNCTION IF EXISTS {each}_announce()",
                )
            ),
        )
