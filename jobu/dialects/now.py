"""The database's clock as an ORM expression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import connections
from django.db.models import DateTimeField, Expression, FloatField, Func

from jobu.dialects.lookup import dialect_of

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models.sql.compiler import SQLCompiler


class DatabaseNow(Expression):
    """The time of the database's clock, plus `seconds`.

    All decisions use this clock, so that the clocks of machines may differ. Not Django's `Now()`:
    on MySQL it depends on the session's time zone.
    """

    output_field = DateTimeField()
    allowed_default = True

    def __init__(self, seconds: float = 0) -> None:
        super().__init__()
        self.seconds = seconds

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[str | int, ...]]:
        offset = repr(float(self.seconds)) if self.seconds else None
        return dialect_of(connection).now_sql(offset), ()

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        # The path that migrations import it from.
        return "jobu.models.fields.DatabaseNow", [self.seconds] if self.seconds else [], {}


class SecondsUntil(Func):
    """The seconds from now, by the database's clock, to a time; negative if it is in the past."""

    arity = 1
    output_field = FloatField()

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, *_args: Any, **_kwargs: Any
    ) -> tuple[str, tuple[str | int, ...]]:
        sql, params = compiler.compile(self.source_expressions[0])
        return dialect_of(connection).seconds_until_sql(sql), tuple(params)


def database_time(alias: str) -> datetime:
    """Ask the database what time it is."""
    connection = connections[alias]
    now = DatabaseNow()
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {dialect_of(connection).now_sql()}", [])
        [time] = cursor.fetchone()
    for convert in connection.ops.get_db_converters(now):
        time = convert(time, now, connection)
    return time  # type: ignore[no-any-return]
