"""Catch the statements that jobu runs, and ask each database how it goes about them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connection

from jobu.models import JobExecution

TABLE = JobExecution._meta.db_table
# What the executions' table is called in a statement.
_OURS = (TABLE, "e", "f", "n")
# Reading these from end to end reads nothing but pending, or running, executions.
_PARTIAL = ("jobu_exec_pending", "jobu_exec_running")


@dataclass(frozen=True)
class Statement:
    sql: str
    params: Any


@dataclass(frozen=True)
class Plan:
    """How the executions' table is read: by which indexes, and if it is scanned or sorted."""

    indexes: frozenset[str]
    scans: bool
    sorts: bool
    text: str


@contextmanager
def caught() -> Iterator[list[Statement]]:
    """Collect what runs on this thread's connection inside the block, word by word."""
    statements: list[Statement] = []

    def catch(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        statements.append(Statement(sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(catch):
        yield statements


def plan_of(statement: Statement) -> Plan:
    readers = {"sqlite": _sqlite_plan, "postgresql": _postgresql_plan, "mysql": _mysql_plan}
    return readers[connection.vendor](statement)


def _sqlite_plan(statement: Statement) -> Plan:
    steps = [row["detail"] for row in _explain("EXPLAIN QUERY PLAN", statement)]
    # A step reads like SEARCH e USING INTEGER PRIMARY KEY, or SCAN e USING COVERING INDEX name.
    ours = [words for words in map(str.split, steps) if len(words) > 1 and words[1] in _OURS]
    indexes = {_sqlite_index(words) for words in ours if words[0] == "SEARCH"}
    scanned = {_sqlite_index(words) for words in ours if words[0] == "SCAN"}
    return Plan(
        indexes=frozenset(indexes | scanned),
        scans=not scanned.issubset(_PARTIAL),
        sorts=any("TEMP B-TREE" in step for step in steps),
        text="\n".join(steps),
    )


def _sqlite_index(words: list[str]) -> str:
    if "PRIMARY" in words:
        return "PRIMARY"
    return words[words.index("INDEX") + 1] if "INDEX" in words else ""


def _postgresql_plan(statement: Statement) -> Plan:
    [row] = _explain("EXPLAIN (FORMAT JSON, COSTS OFF)", statement)
    answer = row["QUERY PLAN"]
    root = answer if isinstance(answer, list) else json.loads(answer)
    nodes = list(_nodes(root[0]["Plan"]))
    names = {node["Index Name"] for node in nodes if "Index Name" in node}
    return Plan(
        indexes=frozenset(
            "PRIMARY" if name == f"{TABLE}_pkey" else name
            for name in names
            if name.startswith(("jobu_exec", TABLE))
        ),
        scans=any(n["Node Type"] == "Seq Scan" and n["Relation Name"] == TABLE for n in nodes),
        sorts=any("Sort" in node["Node Type"] for node in nodes),
        text=json.dumps(root, indent=1),
    )


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", ()):
        yield from _nodes(child)


def _mysql_plan(statement: Statement) -> Plan:
    # As a table, with the same names on both, which MariaDB has no other word for.
    is_mariadb = connection.mysql_is_mariadb  # type: ignore[attr-defined]
    steps = _explain("EXPLAIN" if is_mariadb else "EXPLAIN FORMAT=TRADITIONAL", statement)
    ours = [step for step in steps if step["table"] in _OURS]
    remarks = [step["Extra"] or "" for step in ours]
    return Plan(
        indexes=frozenset(step["key"] for step in ours if step["key"]),
        scans=any(step["type"] in ("ALL", "index") for step in ours),
        sorts=any("filesort" in remark or "temporary" in remark for remark in remarks),
        text="\n".join(map(str, steps)),
    )


def _explain(prefix: str, statement: Statement) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(f"{prefix} {statement.sql}", statement.params)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
