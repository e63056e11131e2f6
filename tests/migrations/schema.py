"""What stands in a database's catalogue about jobu, in a form that can be compared.

The order of columns is left out: a column that a migration adds is the last one, in a new table it
is not.
"""

from __future__ import annotations

import re
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

Schema = dict[str, list[str]]
"""Kind and name of a thing → its parts as SQL, sorted."""

_OURS = "jobu%"
_POSTGRES = {
    "table": """
        SELECT c.relname, concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod),
            CASE WHEN a.attnotnull THEN 'NOT NULL' END, 'identity ' || a.attidentity::text,
            'generated ' || a.attgenerated::text, 'collation ' || a.attcollation::regcollation,
            'default ' || pg_get_expr(d.adbin, d.adrelid))
        FROM pg_class c
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
        WHERE c.relkind = 'r' AND c.relname LIKE %s
    """,
    "constraint": """
        SELECT c.relname, concat_ws(' ', o.conname, pg_get_constraintdef(o.oid))
        FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid
        WHERE o.contype <> 'n' AND c.relname LIKE %s
    """,
    "index": "SELECT indexname, indexdef FROM pg_indexes WHERE indexname LIKE %s",
    "trigger": """
        SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger
        WHERE NOT tgisinternal AND tgname LIKE %s
    """,
    "function": "SELECT proname, pg_get_functiondef(oid) FROM pg_proc WHERE proname LIKE %s",
}
_COMMA = re.compile(r",\s*(?=[\"`][^\"`]+[\"`] [^)]|CONSTRAINT )")


def schema_of(connection: BaseDatabaseWrapper) -> Schema:
    read = {"postgresql": _postgres, "mysql": _mysql, "sqlite": _sqlite}[connection.vendor]
    schema: Schema = {}
    for thing, part in read(connection):
        schema.setdefault(thing, []).append(_plain(part))
    return {thing: sorted(schema[thing]) for thing in sorted(schema)}


def _plain(sql: str) -> str:
    """Return the SQL without spaces that mean nothing, and as every version of Django writes it."""
    spaced = re.sub(r"\s*([()])\s*", r" \1 ", sql)
    return " ".join(re.sub(r"(\"is_enabled\") = 1\b", r"\1", spaced).split())


def _postgres(connection: BaseDatabaseWrapper) -> list[tuple[str, str]]:
    return [
        (f"{kind} {name}", part)
        for kind, sql in _POSTGRES.items()
        for name, part in _rows(connection, sql, _OURS)
    ]


def _mysql(connection: BaseDatabaseWrapper) -> list[tuple[str, str]]:
    names = [name for (name,) in _rows(connection, "SHOW TABLES LIKE %s", _OURS)]
    tables = {name: _rows(connection, f"SHOW CREATE TABLE {name}")[0][1] for name in names}
    return [
        # The server numbers the checks without a name, and tells how many rows there were.
        (f"table {name}", re.sub(r"_chk_\d+|AUTO_INCREMENT=\d+ ?", "", line.strip(" ,")))
        for name, table in tables.items()
        for line in table.splitlines()
    ]


def _sqlite(connection: BaseDatabaseWrapper) -> list[tuple[str, str]]:
    found = _rows(
        connection,
        "SELECT type, name, sql FROM sqlite_master WHERE tbl_name LIKE %s AND sql IS NOT NULL",
        _OURS,
    )
    return [
        (f"{kind} {name}", part)
        for kind, name, sql in found
        for part in (_COMMA.split(sql.split("(", 1)[1].strip()[:-1]) if kind == "table" else [sql])
    ]


def _rows(connection: BaseDatabaseWrapper, sql: str, *params: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params or None)
        return list(cursor.fetchall())
