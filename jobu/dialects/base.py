"""The interface of a dialect: everything that jobu needs of a database beyond the ORM."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.db import DataError, IntegrityError

from jobu.dialects.sessions import may_change_session

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from django.db.backends.base.base import BaseDatabaseWrapper

_MAX_CAUSES = 20


class Dialect:
    """The SQL and the ways of one vendor; the defaults are for a database that needs nothing."""

    after_claimed_sql: tuple[str, ...] | None = None
    """SQL for the rows behind a claimed row in the index, and the columns of that row that are its
    parameters; for databases in which claimed rows stay in the index for a while."""

    claims_in_one_statement = False
    """Whether one UPDATE can find rows, skip locked ones, and return those that it changed."""

    steps_by_index = True
    """Whether a recursive query uses an index to find the row of its next step."""

    plain_statements: tuple[str, ...] = ()
    session_words: tuple[str, ...] = ()
    """What `may_change_session` is to know, in lower case."""

    epoch_sql = "'1970-01-01 00:00:00'"
    """The beginning of 1970, in UTC."""

    def now_sql(self, offset: str | None = None) -> str:
        """Return SQL for the current time in UTC, plus the seconds of the SQL `offset`."""
        raise NotImplementedError

    def seconds_until_sql(self, time: str) -> str:
        """Return SQL for the seconds from now to the SQL `time`, by the database's clock."""
        raise NotImplementedError

    def join_one_by_one_sql(self, table: str, name: str, condition: str) -> str:
        """Return SQL that joins the table by its key, row by row."""
        return f"JOIN {table} {name} ON {condition}"

    def not_by_primary_key_sql(self, connection: BaseDatabaseWrapper) -> str:
        """Return what follows a table in FROM that is not to be read by its primary key.

        Needed if the optimizer reads the rows in the order of the primary key until enough match,
        although an index has those that match, in the same order.
        """
        return ""

    def reach_rows_by_key(self, connection: BaseDatabaseWrapper, rows: int) -> None:
        """Let this transaction find so many rows by their keys, whatever the planner estimates."""

    def claim_in_one_statement_sql(
        self, update: str, ids: str, condition: str, returned: str
    ) -> str:
        """Return the one statement that claims, where it `claims_in_one_statement`.

        It makes the `update` for the rows that the SELECT `ids` finds, that nobody has locked and
        for which the `condition` still holds. It returns the columns `returned`.
        """
        raise NotImplementedError

    def settle_sql(
        self, table: str, columns: Mapping[str, str], assignments: Mapping[str, str]
    ) -> str:
        """Return the UPDATE that makes the assignments behind the fence.

        The fence: an outcome changes its execution only while that is RUNNING, in the process
        and the attempt that it was claimed for. The rows are found by their primary key.

        It has two parameters: a JSON array of arrays with these columns (name → kind: bigint, int,
        float or text), and the process that holds the rows. The assignments call a row of the
        array `o`, and the execution `e`.
        """
        raise NotImplementedError

    def unpack_sql(self) -> str:
        """Return a FROM clause with one JSON parameter, an array of texts; each is a `t.value`.

        The rows keep the order of the array.
        """
        raise NotImplementedError

    def unpack_records_sql(self, columns: Mapping[str, str]) -> str:
        """Return a FROM clause with one JSON parameter, an array of objects; each is a row `t`.

        The rows keep the order of the array. `columns` has the kind of each member: bigint, int,
        text or time.
        """
        raise NotImplementedError

    def enqueue_sql(self, table: str, given: Mapping[str, str]) -> str | None:
        """Return a statement that is faster than an INSERT of one execution; None if there is none.

        `given` is column → SQL. Like the INSERT, it returns the execution's id and the time.
        """
        return None

    def insert_new_sql(self, insert: str, select: str, table: str) -> str:
        """Join the two to a statement that leaves out rows whose unique key is taken.

        Anything else that keeps a row from being inserted is still an error.
        """
        return f"{insert} {select} ON CONFLICT DO NOTHING"

    def max_bytes(self, connection: BaseDatabaseWrapper) -> int | None:
        """Return how many bytes of values a statement may carry; None if there is no low limit."""
        return None

    def append_sql(self, array: str, element: str) -> str:
        """Return SQL that appends the JSON text `element` to the JSON column `array`."""
        raise NotImplementedError

    def json_sql(self, text: str) -> str:
        """Return SQL that converts JSON text to the value of a JSON column."""
        return text

    def json_text_column(self, connection: BaseDatabaseWrapper, column: str) -> Any:
        """Return `type` and `check` of a JSON column, if the usual type changes numbers."""
        return {}

    def json_value_sql(self, connection: BaseDatabaseWrapper, column: str) -> str:
        """Return SQL for the value of a JSON column, for comparison with another JSON value."""
        return column

    def exact_collation(self, connection: BaseDatabaseWrapper) -> str | None:
        """Return a collation in which `a`, `A` and `a ` differ, if they do not by default."""
        return None

    def missing_requirement(self, connection: BaseDatabaseWrapper) -> str | None:
        """Say which version is needed, if this server is too old."""
        return None

    def advice(self, connection: BaseDatabaseWrapper, table: str) -> str | None:
        """Say how to set up this database, with executions in the table, better for a process."""
        return None

    def prepare_control_connection(self, connection: BaseDatabaseWrapper) -> None:
        """Open a process's own connection; neither side waits for the other for ever.

        Outside of a transaction it may be idle for up to two `statement_bound()`s.
        """

    def drop_if_it_waits(self, connection: BaseDatabaseWrapper) -> bool:
        """Break another thread's connection if that thread waits for the server's answer.

        Not needed if the driver itself limits how long it waits.
        """
        return False

    def bounds(self) -> dict[str, Any]:
        """Return the OPTIONS that limit how long a connection waits for a lost server."""
        return {}

    @contextmanager
    def writing(self, connection: BaseDatabaseWrapper) -> Iterator[None]:
        """Prepare the transaction that begins inside for writing."""
        yield

    def begin_readonly(self, connection: BaseDatabaseWrapper) -> None:
        """Refuse writes in the transaction that has just begun."""
        raise NotImplementedError

    def end_readonly(self, connection: BaseDatabaseWrapper) -> None:
        """Undo `begin_readonly`, if the end of the transaction does not."""

    def session_id(self, connection: BaseDatabaseWrapper) -> Any:
        """Identify the open connection for `abort`."""
        raise NotImplementedError

    def abort(self, connection: BaseDatabaseWrapper, session_id: Any) -> None:
        """End another thread's session, so that its transaction releases its locks."""
        raise NotImplementedError

    def may_change_session(self, sql: object) -> bool:
        """Tell whether later statements of the session may do something else after this one."""
        return may_change_session(sql, self.plain_statements, self.session_words)

    def is_server_cursor(self, cursor: Any) -> bool:
        """Tell whether the driver's cursor takes up room in the server until it is closed."""
        return False

    def is_silent(self, connection: BaseDatabaseWrapper) -> bool:
        """Tell, without asking the server, that it has said nothing: neither a word nor goodbye."""
        return False

    def is_as_opened(self, connection: BaseDatabaseWrapper) -> bool:
        """Tell whether a job left the connection as it was opened, without asking the server."""
        return True

    def is_out_of_connections(self, error: BaseException) -> bool:
        """Tell whether the server refused one more connection, which is temporary."""
        return False

    def is_busy(self, error: BaseException) -> bool:
        """Tell whether a lock was not available, so that a second try will do."""
        return False

    def refuses(self, error: BaseException) -> bool:
        """Tell whether the statement's values cause the error: a second try would not help."""
        # Only the error itself, not its causes: a lost connection may follow a refusal.
        return isinstance(error, DataError | IntegrityError)

    def is_unmigrated(self, error: BaseException) -> bool:
        """Tell whether a table, column or function is missing: `migrate` was not run."""
        return False

    def announce(self, connection: BaseDatabaseWrapper, queues: Sequence[str]) -> None:
        """Wake the workers that listen for these queues."""

    def install_sql(
        self, table: str, cron_table: str, defaults: Mapping[str, str]
    ) -> Sequence[str]:
        """Return the statements that complete tables that were made without migrations.

        `defaults` are those of the executions; see `default_literals`. Migrations do not call it:
        each has the statements of its time.
        """
        return ()

    def is_installed(self, connection: BaseDatabaseWrapper, table: str) -> bool:
        """Tell whether the tables are complete, by a migration or by `install_sql`."""
        return True

    def switch_notifications(
        self, connection: BaseDatabaseWrapper, tables: Sequence[str], *, on: bool
    ) -> None:
        """Let the tables announce what is written to them, or keep them from it."""

    def success_assignments(self, result: str) -> dict[str, str]:
        """Return column → SQL that a plain success `o`, with this SQL result, assigns to `e`."""
        return {
            "status": "'SUCCESS'",
            "started_at": self.now_sql("-o.started_ago"),
            "finished_at": self.now_sql("-o.finished_ago"),
            "result": result,
            "error_message": "''",
        }

    def outcome_assignments(self) -> dict[str, str]:
        """Return column → SQL that any outcome `o` assigns to the execution `e`.

        An expression reads the column that it assigns, or columns of `e` that no assignment
        changes: the order of assignments is not certain on MySQL.
        """
        back = "(o.status = 'PENDING' AND NOT e.cancel_requested)"
        return {
            "status": f"CASE WHEN {back} OR o.status <> 'PENDING' THEN o.status "
            "ELSE 'CANCELLED' END",
            "attempt": "e.attempt - o.uncounted",
            "retry_count": "o.retry_count",
            "available_at": f"CASE WHEN {back} AND o.delay IS NOT NULL "
            f"THEN {self.now_sql('o.delay')} ELSE e.available_at END",
            "claimed_by": f"CASE WHEN {back} THEN NULL ELSE e.claimed_by END",
            "started_at": f"CASE WHEN {back} THEN NULL WHEN o.started_ago IS NULL "
            f"THEN e.started_at ELSE {self.now_sql('-o.started_ago')} END",
            "finished_at": f"CASE WHEN {back} THEN NULL ELSE {self.now_sql('-o.finished_ago')} END",
            "result": self.json_sql("o.result"),
            "error_message": "COALESCE(o.message, e.error_message)",
            "errors": "CASE WHEN o.error IS NULL THEN e.errors "
            f"ELSE {self.append_sql('e.errors', 'o.error')} END",
            "progress": f"COALESCE({self.json_sql('o.progress')}, e.progress)",
        }


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and its causes: Django wraps the errors of drivers."""
    cause: BaseException | None = error
    # With a limit, because a handler may raise errors that cause each other.
    for _ in range(_MAX_CAUSES):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__ or cause.__context__
