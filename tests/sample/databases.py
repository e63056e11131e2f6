"""Databases on the servers that are here, for handlers of the sample project."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from tests.__main__ import mariadb_problem, mysql_problem, postgres_problem
from tests.addresses import address
from tests.servers import missing

NAME = f"jobu_sample_{os.environ.get('JOBU_TEST_RUN', 'local')}"


def _url(scheme: str, server: dict[str, str]) -> str:
    login = f"{quote(server['user'])}:{quote(server['password'])}"
    return f"{scheme}://{login}@{server['host']}:{server['port']}/{NAME}"


@contextmanager
def postgres_database() -> Iterator[str]:
    """Make a database and drop it afterwards; yield its URL."""
    if problem := postgres_problem():
        missing(f"PostgreSQL ({problem})")
    import psycopg

    server: dict[str, Any] = address("postgres")
    with psycopg.connect(**server, dbname="postgres", autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {NAME} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {NAME}")
        try:
            yield _url("postgres", server)
        finally:
            connection.execute(f"DROP DATABASE {NAME} WITH (FORCE)")


@contextmanager
def mysql_database() -> Iterator[str]:
    """Make a database of MySQL, or else MariaDB, and drop it afterwards; yield its URL."""
    problem = mysql_problem()
    if problem and mariadb_problem():
        missing(f"MySQL ({problem})")
    import MySQLdb

    server = address("mariadb" if problem else "mysql")
    connection = MySQLdb.connect(**{**server, "port": int(server["port"])})
    try:
        connection.query(f"DROP DATABASE IF EXISTS {NAME}")
        connection.query(f"CREATE DATABASE {NAME} CHARACTER SET utf8mb4")
        yield _url("mysql", server)
    finally:
        connection.query(f"DROP DATABASE IF EXISTS {NAME}")
        connection.close()
