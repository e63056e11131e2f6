"""The statements that insert executions: one, or many with one JSON parameter.

Only `jobu.queue.enqueue` and `enqueue_rows` call them.
"""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from django.db import Error, connections
from django.db.models.base import ModelState

from jobu.conf import settings
from jobu.dialects import default_literals, dialect_for, literal, not_migrated
from jobu.exceptions import MessageError
from jobu.jsonable import json_arrays
from jobu.models import JobExecution
from jobu.models.job_execution import IN_LANE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.backends.utils import CursorWrapper
    from django.db.models import Field

_CHUNK_CHARACTERS = 2_000_000
_COMPILED_STATEMENTS = 1024
_PLAIN_TYPES = {str, int}
_MADE = "id, created_at"
_DIFFERENT = {"job_id", "dedupe_key"}
"""Fields that have too many values to write them into a statement; see `_insert_returning_sql`."""
_PLAIN_TEXT = re.compile(r"[\w.:/-]+", re.ASCII)
"""Characters that mean the same between two quotes in every database."""

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
"""The columns in which the executions of two events differ, with the kind of each."""

TICK_COLUMNS = {
    "job_id": "bigint",
    "handler_name": "text",
    "params": "text",
    "queue": "text",
    "priority": "int",
    "scheduled_time": "time",
    "available_at": "time",
    "max_retry": "int",
    "timeout_seconds": "int",
}
"""The same for the executions of two ticks."""

_JSON_COLUMNS = ("params", "extra")


def insert_returning(
    connection: BaseDatabaseWrapper, fields: dict[str, Any], encoded_params: str, params: Any
) -> JobExecution:
    """Insert one row; several times faster than `create`. `params` are what was encoded."""
    plain = [
        value if type(value) in _PLAIN_TYPES and name not in _DIFFERENT else None
        for name, value in fields.items()
    ]
    sql, parameters = _insert_returning_sql(connection.alias, *fields, *plain)
    given = [*_prepared({name: fields[name] for name in parameters}, connection), encoded_params]
    with connection.cursor() as cursor:
        _execute(cursor, sql, given)
        if not connection.features.can_return_columns_from_insert:
            cursor.execute(_created_sql(), [cursor.lastrowid])
        pk, now = cursor.fetchone()
    now = _converted_time(now, connection)
    if "delay" in fields:
        fields = {**fields, "available_at": now + timedelta(seconds=fields["delay"])}
        del fields["delay"]
    execution = JobExecution.__new__(JobExecution)
    # All fields at once: `from_db` sets one after another, and sends `post_init`.
    execution.__dict__ = {
        "_state": _saved_in(connection.alias),
        **_defaults(),
        "id": pk,
        "created_at": now,
        "available_at": now,
        "aside_until": IN_LANE,
        **fields,
        "params": params,
        "errors": [],
    }
    return execution


def insert_alike(fields: dict[str, Any], encoded_params: list[str]) -> None:
    """Insert rows that differ only in their params, which are sent as one JSON parameter."""
    connection = connections[settings.DATABASE]
    dialect = dialect_for(settings.DATABASE)
    given = _given_sql(settings.DATABASE, fields)
    values = {
        **_values_sql(settings.DATABASE, given),
        **given,
        "params": dialect.json_sql("t.value"),
    }
    with connection.cursor() as cursor:
        _execute(
            cursor,
            f"{_insert_into(values)} SELECT {', '.join(values.values())} "  # noqa: S608 - our names
            f"FROM {dialect.unpack_sql()}",
            [*_prepared(fields, connection), json.dumps(encoded_params)],
        )


def insert_new(
    fields: dict[str, Any],
    rows: Sequence[dict[str, Any]],
    columns: Mapping[str, str],
    limit: int | None = None,
) -> None:
    """Insert rows that differ in these columns; leave out a row whose unique key is taken.

    An `available_at` of None is now. `limit` is what `statement_bytes` returns.
    """
    connection = connections[settings.DATABASE]
    dialect = dialect_for(settings.DATABASE)
    selected = _values_sql(settings.DATABASE, fields)
    selected.update({name: f"t.{name}" for name in columns})
    selected.update({n: dialect.json_sql(f"t.{n}") for n in _JSON_COLUMNS if n in columns})
    selected["available_at"] = f"COALESCE(t.available_at, {dialect.now_sql()})"
    sql = dialect.insert_new_sql(
        _insert_into(selected),
        f"SELECT {', '.join(selected.values())} "  # noqa: S608 - our names
        f"FROM {dialect.unpack_records_sql(columns)}",
        connection.ops.quote_name(JobExecution._meta.db_table),
    )
    maximum = min(limit or _CHUNK_CHARACTERS, _CHUNK_CHARACTERS)
    with connection.cursor() as cursor:
        for chunk in json_arrays((json_row(row, limit) for row in rows), maximum):
            cursor.execute(sql, [*_prepared(fields, connection), chunk])


def _execute(cursor: CursorWrapper, sql: str, parameters: list[Any]) -> None:
    """Say to the caller of `enqueue` what is wrong if the table is not there."""
    try:
        cursor.execute(sql, parameters)
    except Error as error:
        if missing := not_migrated(error):
            raise missing from error
        raise


def statement_bytes() -> int | None:
    """Return how many bytes of values one statement may carry; None if there is no low limit."""
    return dialect_for(settings.DATABASE).max_bytes(connections[settings.DATABASE])


def json_row(row: dict[str, Any], limit: int | None) -> str:
    """Return the row as the dialects unpack it, or raise MessageError if it is too long.

    JSON columns of the row are text already.
    """
    adapt = connections[settings.DATABASE].ops.adapt_datetimefield_value
    times = {n: str(adapt(value)) for n, value in row.items() if isinstance(value, datetime)}
    text = json.dumps({**row, **times})
    if limit is not None and len(text) > limit:
        raise MessageError(
            f"It takes {len(text):,} bytes to store; the database takes at most {limit:,} at once."
        )
    return text


@lru_cache(maxsize=_COMPILED_STATEMENTS)
def _insert_returning_sql(alias: str, *given: str | int | None) -> tuple[str, tuple[str, ...]]:
    """Return the statement for these names and their values, and which are its parameters.

    A parameter costs time with each statement, so plain values are written into it: a project has
    a limited number of handlers, queues and options. None stands for any other value.
    """
    middle = len(given) // 2
    values = dict(zip(map(str, given[:middle]), given[middle:], strict=True))
    written = {
        name: literal(value)
        for name, value in values.items()
        if isinstance(value, int) or (value and _PLAIN_TEXT.fullmatch(value))
    }
    dialect = dialect_for(alias)
    columns = {**_given_sql(alias, values), **written, "params": dialect.json_sql("%s")}
    sql = dialect.enqueue_sql(JobExecution._meta.db_table, columns)
    parameters = tuple(name for name in values if name not in written)
    return sql or _insert_one_sql(alias, columns), parameters


def _insert_one_sql(alias: str, given: dict[str, str]) -> str:
    values = {**_values_sql(alias, given), **given}
    insert = f"{_insert_into(values)} VALUES ({', '.join(values.values())})"
    # The default of `available_at` is the same time as `created_at`.
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

    A default is a literal, because a parameter costs time with each statement. NULL and the
    defaults of the database are left to the database.
    """
    values = {c: sql for c, sql in _default_literals(alias).items() if c not in given}
    return {**values, **dict.fromkeys(given, "%s")}


def _given_sql(alias: str, names: Iterable[str]) -> dict[str, str]:
    """Return column → SQL of the given fields, each with one parameter.

    A `delay`, in seconds, becomes a time by the database's clock.
    """
    return {
        "available_at" if name == "delay" else name: dialect_for(alias).now_sql("%s")
        if name == "delay"
        else "%s"
        for name in names
    }


def _prepared(fields: dict[str, Any], connection: BaseDatabaseWrapper) -> list[Any]:
    """Return the values in the form the driver needs; all drivers take texts and numbers."""
    return [
        value
        if type(value) in _PLAIN_TYPES or name == "delay"
        else _fields_by_name()[name].get_db_prep_save(value, connection)
        for name, value in fields.items()
    ]


@cache
def _default_literals(alias: str) -> dict[str, str]:
    literals = default_literals(JobExecution, dialect_for(alias))
    del literals["params"]
    return literals


@cache
def _defaults() -> dict[str, Any]:
    """Return the values of an instance without any given, in the order of the fields.

    A default that is made anew for each instance is not among them.
    """
    return {
        name: None if callable(field.default) else field.get_default()
        for name, field in _fields_by_name().items()
    }


@cache
def _fields_by_name() -> dict[str, Field[Any, Any]]:
    """Return the fields by the names of their columns."""
    return {field.attname: field for field in JobExecution._meta.concrete_fields}


def _converted_time(value: Any, connection: BaseDatabaseWrapper) -> Any:
    """Return a time as a datetime; some drivers return it in another form."""
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
