"""Keep a database from reading a table by its primary key, where another index is much better."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models.sql.datastructures import BaseTable

from jobu.dialects.lookup import dialect_of

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models.sql import Query
    from django.db.models.sql.compiler import SQLCompiler


class _ByAnotherIndex(BaseTable):
    """The table of a FROM clause, with the vendor's words for it."""

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> Any:
        sql, params = super().as_sql(compiler, connection)
        return sql + dialect_of(connection).not_by_primary_key_sql(connection), params


def pass_over_primary_key(query: Query) -> None:
    """Let the query find its rows, and their order, by another index than the primary key's."""
    alias = query.get_initial_alias()
    query.alias_map[alias] = _ByAnotherIndex(query.alias_map[alias].table_name, alias)
