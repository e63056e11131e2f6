"""The databases that handlers work on, and which of them are configured."""

from pathlib import Path
from typing import Any

import environ
from django.conf import settings

VARIABLES = {
    "sqlite_2": "SQLITE_2_URL",
    "postgres_1": "POSTGRES_1_URL",
    "mysql_1": "MYSQL_1_URL",
}
FILES = {"default": "db.sqlite3", "sqlite_2": "second.sqlite3"}
EXAMPLES = {
    "sqlite_2": "sqlite:////tmp/second.sqlite3",
    "postgres_1": "postgres://user:password@localhost:5432/name",
    "mysql_1": "mysql://user:password@localhost:3306/name",
}
SQLITE_OPTIONS = {
    "transaction_mode": "IMMEDIATE",
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    "timeout": 20,
}


class DatabaseNotConfiguredError(Exception):
    """A handler needs a database whose URL is not set; another attempt would not help."""


def databases(env: environ.Env, folder: Path) -> dict[str, dict[str, Any]]:
    """Return what DATABASES should be: those with a URL, and files in `folder` for SQLite."""
    found = {}
    for alias, variable in {"default": "DATABASE_URL", **VARIABLES}.items():
        if url := env.str(variable, default=""):
            found[alias] = env.db_url_config(url)
        elif alias in FILES:
            found[alias] = {"ENGINE": "django.db.backends.sqlite3", "NAME": folder / FILES[alias]}
    for config in found.values():
        if config["ENGINE"] == "django.db.backends.sqlite3":
            config["OPTIONS"] = SQLITE_OPTIONS
    return found


def configured() -> list[str]:
    """Return the aliases of the handlers' databases that have a URL."""
    return [alias for alias in VARIABLES if alias in settings.DATABASES]


def require(*aliases: str) -> None:
    """Refuse to go on, with words, if one of the databases is not configured."""
    for alias in aliases:
        if alias not in settings.DATABASES:
            variable = VARIABLES[alias]
            raise DatabaseNotConfiguredError(
                f"The database {alias} is not configured. Set {variable}, for example "
                f"{variable}={EXAMPLES[alias]}, run manage.py migrate_all, and restart the worker."
            )
