"""What PostgreSQL has beside the tables, as of this code. All of the statements may run again.

Installations have it from the migrations, each of which has the SQL of its time in it. So a change
here needs a migration that makes the same change; a test compares what both come to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

CHANNEL = "jobu"
CRON_CHANNEL = "jobu_crons"
ENQUEUE_PARAMETERS = {
    "handler_name": "text",
    "queue": "text",
    "priority": "int",
    "max_retry": "int",
    "timeout_seconds": "int",
    "params": "jsonb",
    "available_at": "timestamptz",
    "param_source": "text",
}
"""What `enqueue_function` takes. The last two may be left out."""


def install(table: str, cron_table: str, defaults: Mapping[str, str]) -> tuple[str, ...]:
    return (
        # For the lists of the admin: few executions among very many, newest first. Databases
        # without partial indexes use an index that begins with the status.
        f"""
        CREATE INDEX IF NOT EXISTS jobu_exec_unsuccessful ON {table} (id)
        WHERE status IN ('FAILED', 'TIMEOUT', 'CANCELLED')
        """,
        *_announce_executions(table),
        *_announce_crons(cron_table),
        # The last one: `PostgreSQLDialect.is_installed` checks only this.
        _enqueue(table, defaults),
    )


def enqueue_function(table: str) -> str:
    return f"{table}_enqueue"


def trigger(table: str) -> str:
    """Return the name of the trigger that announces what is written to the table."""
    return f"{table}_announce"


def _enqueue(table: str, defaults: Mapping[str, str]) -> str:
    """See `PostgreSQLDialect.enqueue_sql`."""
    optional = {
        "available_at": "STATEMENT_TIMESTAMP()",
        "param_source": defaults["param_source"],
    }
    parameters = ", ".join(
        f"{name} {kind} DEFAULT {optional[name]}" if name in optional else f"{name} {kind}"
        for name, kind in ENQUEUE_PARAMETERS.items()
    )
    places = {name: f"${place}" for place, name in enumerate(ENQUEUE_PARAMETERS, 1)}
    values = {**defaults, **places}
    return f"""
        CREATE OR REPLACE FUNCTION {enqueue_function(table)}({parameters})
        RETURNS bigint LANGUAGE plpgsql AS $$
        DECLARE
            made bigint;
        BEGIN
            INSERT INTO {table} ({", ".join(values)}) VALUES ({", ".join(values.values())})
            RETURNING id INTO made;
            RETURN made;
        END $$
    """  # noqa: S608 - our names


def _announce_executions(table: str) -> tuple[str, ...]:
    """Let the database itself announce executions, whoever inserts them.

    For each row, although a transaction announces a queue once: a trigger for each statement costs
    more for one row than this one does for many.
    """
    return (
        f"""
        CREATE OR REPLACE FUNCTION {table}_announce() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE
            nothing text;
        BEGIN
            -- An assignment takes half the time of a PERFORM, which is a statement.
            nothing := pg_notify('{CHANNEL}', NEW.queue);
            RETURN NULL;
        END $$
        """,
        f"""
        CREATE OR REPLACE TRIGGER {table}_announce AFTER INSERT ON {table}
        FOR EACH ROW EXECUTE FUNCTION {table}_announce()
        """,
    )


def _announce_crons(table: str) -> tuple[str, ...]:
    """Let the database announce crons, whoever edits them."""
    return (
        f"""
        CREATE OR REPLACE FUNCTION {table}_announce() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM pg_notify('{CRON_CHANNEL}', '');
            RETURN NULL;
        END $$
        """,
        f"""
        CREATE OR REPLACE TRIGGER {table}_announce
        AFTER INSERT OR UPDATE OF name, cron_expression, timezone, is_enabled ON {table}
        FOR EACH STATEMENT EXECUTE FUNCTION {table}_announce()
        """,
    )
