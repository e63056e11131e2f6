"""Insert executions: one, or many with one statement and one JSON parameter."""

from __future__ import annotations

import json
import re
from datetime import datetime
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from django.db import connections
from django.db.models import JSONField
from django.db.models.base import ModelState

from jobu.conf import settings
from jobu.dialects import dialect_for
from jobu.exceptions import MessageError
from jobu.jsonable import json_arrays
from jobu.models import JobExecution
from jobu.models.job_execution import IN_LANE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models import Field

_CHUNK_CHARACTERS = 2_000_000
_COMPILED_STATEMENTS = 1024
_PLAIN_TYPES = {str, int}
_MADE = "id, created_at"
_PLAIN_TEXT = re.compile(r"[\w.:/-]+", re.ASCII)
"""Nothing that any database would take for something else between two quotes."""

EVENT_COLUMNS = {
    "job_id": "bigint",
    "handler_name": "text",
    "params": "text",
    "queue": "text",
    "priority": "int",
    "available_at": "time",
    "max_retry": "int",
    "timeout_seconds": "int",
    "dedupe_key": "text",
    "extra": "text",
}
"""What differs between the executions of two events, with the kind of each column."""


def insert_returning(
    connection: BaseDatabaseWrapper, fields: dict[str, Any], encoded_params: str
) -> JobExecution:
    """Insert one row. `create` does the same in several times the time."""
    plain = [value if type(value) in _PLAIN_TYPES else None for value in fields.values()]
    sql, parameters = _insert_returning_sql(connection.alias, *fields, *plain)
    given = [*_prepared({name: fields[name] for name in parameters}, connection), encoded_params]
    with connection.cursor() as cursor:
        cursor.execute(sql, given)
        if not connection.features.can_return_columns_from_insert:
            cursor.execute(_created_sql(), [cursor.lastrowid])
        pk, now = cursor.fetchone()
    now = _converted_time(now, connection)
    execution = JobExecution.__new__(JobExecution)
    # All at once: `from_db` sets one field after another, and sends `post_init`.
    execution.__dict__ = {
        "_state": _saved_in(connection.alias),
        **_defaults(),
        "id": pk,
        "created_at": now,
        "available_at": now,
        "aside_until": IN_LANE,
        **fields,
        "params": json.loads(encoded_params),
        "errors": [],
    }
    return execution


def insert_alike(fields: dict[str, Any], encoded_params: list[str]) -> None:
    """Insert rows that differ in their params alone, which travel as one JSON parameter."""
    connection = connections[settings.DATABASE]
    dialect = dialect_for(settings.DATABASE)
    values = {**_values_sql(settings.DATABASE, fields), "params": dialect.json_sql("t.value")}
    with connection.cursor() as cursor:
        cursor.execute(
            f"{_insert_into(values)} SELECT {', '.join(values.values())} "  # noqa: S608 - our names
            f"FROM {dialect.unpack_sql()}",
            [*_prepared(fields, connection), json.dumps(encoded_params)],
        )


def insert_new(fields: dict[str, Any], rows: Sequence[dict[str, Any]], limit: int | None) -> None:
    """Insert executions that differ in the `EVENT_COLUMNS`; one whose dedupe_key is there is not.

    An `available_at` of None is now. `limit` is what `statement_bytes` returns.
    """
    connection = connections[settings.DATABASE]
    dialect = dialect_for(settings.DATABASE)
    selected = _values_sql(settings.DATABASE, fields)
    selected.update({name: f"t.{name}" for name in EVENT_COLUMNS})
    selected["params"] = dialect.json_sql("t.params")
    selected["extra"] = dialect.json_sql("t.extra")
    selected["available_at"] = f"COALESCE(t.available_at, {dialect.now_sql()})"
    sql = dialect.insert_new_sql(
        _insert_into(selected),
        f"SELECT {', '.join(selected.values())} "  # noqa: S608 - our names
        f"FROM {dialect.unpack_records_sql(EVENT_COLUMNS)}",
        connection.ops.quote_name(JobExecution._meta.db_table),
    )
    most = min(limit or _CHUNK_CHARACTERS, _CHUNK_CHARACTERS)
    with connection.cursor() as cursor:
        for chunk in json_arrays((json_row(row, limit) for row in rows), most):
            cursor.execute(sql, [*_prepared(fields, connection), chunk])


def statement_bytes() -> int | None:
    """Return how many bytes of values one statement may carry; None if that is no worry."""
    return dialect_for(settings.DATABASE).most_bytes(connections[settings.DATABASE])


def json_row(row: dict[str, Any], limit: int | None) -> str:
    """Return the row as the dialects unpack it, or raise MessageError; its params are JSON text."""
    if (time := row["available_at"]) is not None:
        adapt = connections[settings.DATABASE].ops.adapt_datetimefield_value
        row = {**row, "available_at": str(adapt(time))}
    text = json.dumps(row)
    if limit is not None and len(text) > limit:
        raise MessageError(
            f"It takes {len(text):,} bytes to store; the database takes at most {limit:,} at once."
        )
    return text


@lru_cache(maxsize=_COMPILED_STATEMENTS)
def _insert_returning_sql(alias: str, *given: str | int | None) -> tuple[str, tuple[str, ...]]:
    """Return the statement for these names and their values, and which are its parameters.

    A parameter costs time each time, so plain values are written into the statement: a project has
    only so many handlers, queues and options. None stands for a value of another kind.
    """
    middle = len(given) // 2
    values = dict(zip(map(str, given[:middle]), given[middle:], strict=True))
    written = {
        name: _literal(value)
        for name, value in values.items()
        if isinstance(value, int) or (value and _PLAIN_TEXT.fullmatch(value))
    }
    dialect = dialect_for(alias)
    columns = {
        **{name: written.get(name, "%s") for name in values},
        "params": dialect.json_sql("%s"),
    }
    sql = dialect.enqueue_sql(JobExecution._meta.db_table, columns)
    parameters = tuple(name for name in values if name not in written)
    return sql or _insert_one_sql(alias, columns), parameters


def _insert_one_sql(alias: str, given: dict[str, str]) -> str:
    values = {**_values_sql(alias, given), **given}
    insert = f"{_insert_into(values)} VALUES ({', '.join(values.values())})"
    # What the database makes; an `available_at` that nobody gave is the same time.
    can_return = connections[alias].features.can_return_columns_from_insert
    return f"{insert} RETURNING {_MADE}" if can_return else insert


def _created_sql() -> str:
    quote = connections[settings.DATABASE].ops.quote_name
    table = quote(JobExecution._meta.db_table)
    return f"SELECT {_MADE} FROM {table} WHERE id = %s"  # noqa: S608 - our names


def _insert_into(columns: Iterable[str]) -> str:
    quote = connections[settings.DATABASE].ops.quote_name
    names = ", ".join(map(quote, columns))
    return f"INSERT INTO {quote(JobExecution._meta.db_table)} ({names})"


def _values_sql(alias: str, given: Iterable[str]) -> dict[str, str]:
    """Return column → SQL of all but the params: a parameter for each given field, at the end.

    What nobody gave is a literal: a parameter costs time each time. NULL and what the database
    makes itself are left to it.
    """
    values = {c: sql for c, sql in _default_literals(alias).items() if c not in given}
    return {**values, **{str(_fields_by_name()[name].column): "%s" for name in given}}


def _prepared(fields: dict[str, Any], connection: BaseDatabaseWrapper) -> list[Any]:
    """Return the values as the database takes them; every driver takes texts and numbers."""
    return [
        value
        if type(value) in _PLAIN_TYPES
        else _fields_by_name()[name].get_db_prep_save(value, connection)
        for name, value in fields.items()
    ]


@cache
def _default_literals(alias: str) -> dict[str, str]:
    defaults = {
        str(field.column): (field, field.get_default())
        for name, field in _fields_by_name().items()
        if not (field.primary_key or field.has_db_default() or name == "params")
    }
    return {
        column: dialect_for(alias).json_sql(_literal(json.dumps(value)))
        if isinstance(field, JSONField)
        else _literal(value)
        for column, (field, value) in defaults.items()
        if value is not None
    }


def _literal(value: str | int) -> str:
    """Return one of our own defaults as SQL, for a statement that has parameters as well."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    text = str(value).replace("'", "''").replace("%", "%%")
    return f"'{text}'"


@cache
def _defaults() -> dict[str, Any]:
    """Return what an instance has that nobody gave anything, in the order of the fields.

    A default that is made anew each time is not among them.
    """
    return {
        field.attname: None if callable(field.default) else field.get_default()
        for field in _fields_by_name().values()
    }


@cache
def _fields_by_name() -> dict[str, Field[Any, Any]]:
    return {field.name: field for field in JobExecution._meta.concrete_fields}


def _converted_time(value: Any, connection: BaseDatabaseWrapper) -> Any:
    """Return a time as a datetime; SQLite and MariaDB return it in their own ways."""
    if isinstance(value, datetime) and value.tzinfo:
        return value
    column = _fields_by_name()["created_at"].get_col(JobExecution._meta.db_table)
    for convert in connection.ops.get_db_converters(column):
        value = convert(value, column, connection)
    return value


def _saved_in(alias: str) -> ModelState:
    state = ModelState()
    state.adding = False
    state.db = alias
    return state
