"""What jobu asks of a database beyond the ORM."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.db import DataError, IntegrityError

from jobu.conf import settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from django.db.backends.base.base import BaseDatabaseWrapper

_MAX_CAUSES = 20
_SHORTEST_BOUND_SECONDS = 5.0


class Dialect:
    """One vendor's way of doing things; the defaults suit a database that needs nothing."""

    after_claimed_sql: tuple[str, ...] | None = None
    """Where rows that were just claimed stay in the index, in the way of the next claim: SQL for
    what comes after a row in it, and which of that row's columns its parameters are."""

    claims_alone = False
    """Whether one UPDATE can look for rows, skip those that are locked, and return the others."""

    steps_by_index = True
    """Whether a recursive query finds the beginning of its next step in an index."""

    epoch_sql = "'1970-01-01 00:00:00'"
    """The beginning of 1970, in UTC."""

    def now_sql(self, offset: str | None = None) -> str:
        """Return SQL for the clock in UTC, plus the seconds that the SQL `offset` gives."""
        raise NotImplementedError

    def seconds_until_sql(self, time: str) -> str:
        """Return SQL for the seconds from now, by the database's clock, to the SQL `time`."""
        raise NotImplementedError

    def join_one_by_one_sql(self, table: str, name: str, condition: str) -> str:
        """Return SQL that joins the table by its key, one row after the other."""
        return f"JOIN {table} {name} ON {condition}"

    def reach_rows_by_key(self, connection: BaseDatabaseWrapper, rows: int) -> None:
        """Let this transaction find so many rows by their keys, whatever a planner thinks."""

    def claim_alone_sql(self, update: str, ids: str, condition: str, returned: str) -> str:
        """Return the one statement that claims, where it `claims_alone`.

        It makes the `update` for the rows that the SELECT `ids` finds, that nobody has locked and
        for which the `condition` still holds. It returns the columns `returned`.
        """
        raise NotImplementedError

    def settle_sql(
        self, table: str, columns: Mapping[str, str], assignments: Mapping[str, str]
    ) -> str:
        """Return the UPDATE that makes the assignments, as far as the fence lets it.

        The fence: an outcome changes its execution only while that is RUNNING, in the process
        and the attempt that it was claimed for. The rows are reached by their primary key.

        The parameters are a JSON array of arrays with these columns (name → kind: bigint, int,
        float or text), which is `o` in the assignments, and the process that holds the rows `e`.
        """
        raise NotImplementedError

    def unpack_sql(self) -> str:
        """Return a FROM clause that makes of its one JSON parameter, an array of texts, `t.value`.

        In the array's order.
        """
        raise NotImplementedError

    def unpack_records_sql(self, columns: Mapping[str, str]) -> str:
        """Return a FROM clause that makes of its one JSON parameter, an array of objects, rows `t`.

        In the array's order. `columns` has each member's kind: bigint, int, text or time.
        """
        raise NotImplementedError

    def enqueue_sql(self, table: str, given: Mapping[str, str]) -> str | None:
        """Return a statement that is faster than an INSERT of one execution; None if there is none.

        `given` is column → SQL. Like the INSERT, it returns the execution's id and the time.
        """
        return None

    def insert_new_sql(self, insert: str, select: str, table: str) -> str:
        """Put the two together so that a row whose unique key is taken is left out.

        Any other reason not to insert one is still an error.
        """
        return f"{insert} {select} ON CONFLICT DO NOTHING"

    def max_bytes(self, connection: BaseDatabaseWrapper) -> int | None:
        """Return how many bytes of values a statement may carry, if few enough to come near it."""
        return None

    def append_sql(self, array: str, element: str) -> str:
        """Return SQL that appends the JSON text `element` to the JSON column `array`."""
        raise NotImplementedError

    def json_sql(self, text: str) -> str:
        """Return SQL that makes a JSON column's value of JSON text."""
        return text

    def json_text_column(self, connection: BaseDatabaseWrapper, column: str) -> Any:
        """Return `type` and `check` of a column for JSON, if the usual one changes numbers."""
        return {}

    def json_value_sql(self, connection: BaseDatabaseWrapper, column: str) -> str:
        """Return SQL for what a JSON column holds, to be compared with another JSON value."""
        return column

    def exact_collation(self, connection: BaseDatabaseWrapper) -> str | None:
        """Name a collation under which `a`, `A` and `a ` differ, if the default one is lax."""
        return None

    def missing_requirement(self, connection: BaseDatabaseWrapper) -> str | None:
        """Say which version is needed, if this server lacks what jobu rests on."""
        return None

    def advice(self, connection: BaseDatabaseWrapper) -> str | None:
        """Say how this database could be set up better for a worker."""
        return None

    def prepare_control_connection(self, connection: BaseDatabaseWrapper) -> None:
        """Open a process's own connection, so that neither side waits for the other for ever.

        It may lie idle for up to two `statement_bound()`s, outside of a transaction.
        """

    def drop_if_it_waits(self, connection: BaseDatabaseWrapper) -> bool:
        """Break another thread's connection if that thread waits for the server's answer.

        Not needed where the driver itself bounds how long it waits.
        """
        return False

    def bounds(self) -> dict[str, Any]:
        """Return the OPTIONS that bound how long a connection waits for a server that is lost."""
        return {}

    @contextmanager
    def writing(self, connection: BaseDatabaseWrapper) -> Iterator[None]:
        """Let the transaction that begins inside expect to write."""
        yield

    def begin_readonly(self, connection: BaseDatabaseWrapper) -> None:
        """Refuse writes in the transaction that has just begun."""
        raise NotImplementedError

    def end_readonly(self, connection: BaseDatabaseWrapper) -> None:
        """Undo `begin_readonly` where the end of the transaction does not."""

    def session_id(self, connection: BaseDatabaseWrapper) -> Any:
        """Identify the open connection for `abort`."""
        raise NotImplementedError

    def abort(self, connection: BaseDatabaseWrapper, session_id: Any) -> None:
        """End another thread's session, so that its transaction lets go of its locks."""
        raise NotImplementedError

    def is_alive(self, connection: BaseDatabaseWrapper) -> bool:
        """Ask the server whether another job can use the connection; raise, or say no, if not."""
        return connection.is_usable()

    def is_as_opened(self, connection: BaseDatabaseWrapper) -> bool:
        """Tell, without asking the server, whether a job left the connection as it was opened."""
        return True

    def is_out_of_connections(self, error: BaseException) -> bool:
        """Tell whether one connection more was refused: a temporary condition."""
        return False

    def is_busy(self, error: BaseException) -> bool:
        """Tell whether a lock could not be had and trying again is all it takes."""
        return False

    def refuses(self, error: BaseException) -> bool:
        """Tell whether what the statement carried is at fault: trying again would not help."""
        # The error itself, not what it came after: a lost connection may follow a refusal.
        return isinstance(error, DataError | IntegrityError)

    def announce(self, connection: BaseDatabaseWrapper, queues: Sequence[str]) -> None:
        """Wake the workers that listen for these queues."""

    def install_sql(
        self, table: str, cron_table: str, defaults: Mapping[str, str]
    ) -> Sequence[str]:
        """Return what a migration runs once the tables of executions and crons are there.

        `defaults` are those of the executions; see `default_literals`.
        """
        return ()

    def uninstall_sql(self, table: str, cron_table: str) -> Sequence[str]:
        return ()

    def is_installed(self, connection: BaseDatabaseWrapper, table: str) -> bool:
        """Tell whether what `install_sql` makes is there: tables can be made without migrations."""
        return True

    def success_assignments(self, result: str) -> dict[str, str]:
        """Return column → SQL: what a plain success `o` with this SQL result makes of `e`."""
        return {
            "status": "'SUCCESS'",
            "started_at": self.now_sql("-o.started_ago"),
            "finished_at": self.now_sql("-o.finished_ago"),
            "result": result,
            "error_message": "''",
        }

    def outcome_assignments(self) -> dict[str, str]:
        """Return column → SQL: what any outcome `o` makes of the execution `e`.

        An expression reads `e`'s own column or one that no assignment changes, because MySQL
        does not promise in which order it assigns.
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


def statement_bound() -> float:
    """Return how many seconds a statement of a process's own connections may take.

    Half a lease, so that a process that lost its connection has another one before it is taken
    for dead; but not so few that a busy machine is taken for a lost one.
    """
    return max(_SHORTEST_BOUND_SECONDS, settings.LEASE_SECONDS / 2)


def give_options(connection: BaseDatabaseWrapper, options: Mapping[str, Any]) -> None:
    """Let this thread's connection alone be opened with these OPTIONS; the project's own win."""
    database = connection.settings_dict
    connection.settings_dict = {**database, "OPTIONS": {**options, **database["OPTIONS"]}}


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and what caused it: Django wraps the driver's errors."""
    cause: BaseException | None = error
    # Not for ever: a handler may raise errors that cause each other.
    for _ in range(_MAX_CAUSES):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__ or cause.__context__
