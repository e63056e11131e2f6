"""Insert executions: one, or many with one statement and one JSON parameter."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from django.db import connections

from jobu.conf import settings
from jobu.dialects import dialect_for
from jobu.jsonable import json_arrays
from jobu.models import JobExecution

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models import Field

_CHUNK_CHARACTERS = 2_000_000
_COMPILED_STATEMENTS = 64

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


def insert_returning(fields: dict[str, Any], encoded_params: str) -> JobExecution:
    """Insert one row. `create` does the same in several times the time."""
    alias = settings.DATABASE
    connection = connections[alias]
    columns = _columns(fields)
    with connection.cursor() as cursor:
        cursor.execute(
            _insert_returning_sql(alias, tuple(columns)), [*columns.values(), encoded_params]
        )
        row = cursor.fetchone()
    made = {
        field.attname: _converted(value, field, connection)
        for field, value in zip(_made_by_database(), row, strict=True)
    }
    values = {**made, **fields, "params": json.loads(encoded_params)}
    every = JobExecution._meta.concrete_fields
    return JobExecution.from_db(
        alias,
        [field.attname for field in every],
        [values[f.attname] if f.attname in values else f.get_default() for f in every],
    )


def insert_alike(fields: dict[str, Any], encoded_params: list[str]) -> None:
    """Insert rows that differ in their params alone, which travel as one JSON parameter."""
    dialect = dialect_for(settings.DATABASE)
    columns = _columns(fields)
    values = ", ".join([*["%s"] * len(columns), dialect.json_sql("t.value")])
    with connections[settings.DATABASE].cursor() as cursor:
        cursor.execute(
            f"{_insert_into([*columns, 'params'])} SELECT {values} FROM {dialect.unpack_sql()}",  # noqa: S608 - our names
            [*columns.values(), json.dumps(encoded_params)],
        )


def insert_new(fields: dict[str, Any], rows: Sequence[dict[str, Any]]) -> None:
    """Insert executions that differ in the `EVENT_COLUMNS`; one whose dedupe_key is there is not.

    An `available_at` of None is now.
    """
    connection = connections[settings.DATABASE]
    dialect = dialect_for(settings.DATABASE)
    constants = {c: v for c, v in _columns(fields).items() if c not in EVENT_COLUMNS}
    selected = {name: f"t.{name}" for name in EVENT_COLUMNS}
    selected["params"] = dialect.json_sql("t.params")
    selected["extra"] = dialect.json_sql("t.extra")
    selected["available_at"] = f"COALESCE(t.available_at, {dialect.now_sql()})"
    values = ", ".join([*["%s"] * len(constants), *selected.values()])
    sql = dialect.insert_new_sql(
        _insert_into([*constants, *selected]),
        f"SELECT {values} FROM {dialect.unpack_records_sql(EVENT_COLUMNS)}",  # noqa: S608
        connection.ops.quote_name(JobExecution._meta.db_table),
    )
    with connection.cursor() as cursor:
        for chunk in json_arrays(map(_json_row, rows), _CHUNK_CHARACTERS):
            cursor.execute(sql, [*constants.values(), chunk])


def _json_row(row: dict[str, Any]) -> str:
    """Return the row as the dialects unpack it; its params are JSON text already."""
    time = row["available_at"]
    if time is None:
        return json.dumps(row)
    adapt = connections[settings.DATABASE].ops.adapt_datetimefield_value
    return json.dumps({**row, "available_at": str(adapt(time))})


@lru_cache(maxsize=_COMPILED_STATEMENTS)
def _insert_returning_sql(alias: str, columns: tuple[str, ...]) -> str:
    marks = ", ".join(["%s"] * len(columns))
    params = dialect_for(alias).json_sql("%s")
    made = ", ".join(str(field.column) for field in _made_by_database())
    return f"{_insert_into([*columns, 'params'])} VALUES ({marks}, {params}) RETURNING {made}"


def _insert_into(columns: Sequence[str]) -> str:
    quote = connections[settings.DATABASE].ops.quote_name
    names = ", ".join(map(quote, columns))
    return f"INSERT INTO {quote(JobExecution._meta.db_table)} ({names})"


def _columns(fields: dict[str, Any]) -> dict[str, Any]:
    """Return column → value, as the database takes it, of all columns but the params."""
    connection = connections[settings.DATABASE]
    columns = dict(_default_columns(settings.DATABASE))
    for name, value in fields.items():
        field = _fields_by_name()[name]
        columns[str(field.column)] = field.get_db_prep_save(value, connection)
    return columns


@cache
def _default_columns(alias: str) -> dict[str, Any]:
    """Return column → value of what no caller gave; NULL and the database's own are left to it."""
    template = JobExecution()
    made = _made_by_database()
    values = {
        str(field.column): field.get_db_prep_save(
            field.pre_save(template, add=True), connections[alias]
        )
        for name, field in _fields_by_name().items()
        if field not in made and name != "params"
    }
    return {column: value for column, value in values.items() if value is not None}


@cache
def _fields_by_name() -> dict[str, Field[Any, Any]]:
    return {field.name: field for field in JobExecution._meta.concrete_fields}


@cache
def _made_by_database() -> list[Field[Any, Any]]:
    return [f for f in _fields_by_name().values() if f.primary_key or f.has_db_default()]


def _converted(value: Any, field: Field[Any, Any], connection: BaseDatabaseWrapper) -> Any:
    column = field.get_col(JobExecution._meta.db_table)
    for convert in connection.ops.get_db_converters(column):
        value = convert(value, column, connection)
    return value
