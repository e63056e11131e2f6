"""Where the database servers are that the tests use."""

from __future__ import annotations

import os

# Port and user. MySQL's own port is MariaDB's, too.
_DEFAULTS = {
    "postgres": ("5432", "postgres"),
    "mariadb": ("3306", "root"),
    "mysql": ("33306", "root"),
}


def variable(service: str, part: str) -> str:
    """Name the environment variable that says it otherwise, such as JOBU_TEST_MYSQL_PORT."""
    return f"JOBU_TEST_{service}_{part}".upper()


def address(service: str) -> dict[str, str]:
    """Return host, port, user and password of a service."""
    port, user = _DEFAULTS[service]
    defaults = {"host": "127.0.0.1", "port": port, "user": user, "password": ""}
    return {
        part: os.environ.get(variable(service, part), default) for part, default in defaults.items()
    }
