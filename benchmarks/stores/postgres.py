"""A database of PostgreSQL."""

from __future__ import annotations

from typing import Any, Self

from benchmarks.stores.server import Store, StoreUnavailableError, address

_SETTINGS = (
    "server_version",
    "synchronous_commit",
    "fsync",
    "autovacuum",
    "shared_buffers",
    "max_wal_size",
)


class PostgreSQL(Store):
    @classmethod
    def make(cls, name: str) -> Self:
        with PostgreSQL("postgres").connect() as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return cls(name)

    def drop(self) -> None:
        with PostgreSQL("postgres").connect() as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{self.name}" WITH (FORCE)')

    @property
    def url(self) -> str:
        at = address("POSTGRES", "5432", "postgres")
        account = f"{at.user}:{at.password}" if at.password else at.user
        return f"postgresql://{account}@{at.host}:{at.port}/{self.name}"

    def connect(self) -> Any:
        try:
            import psycopg
        except ImportError as error:
            raise StoreUnavailableError(f"PostgreSQL: {error}") from error
        try:
            return psycopg.connect(self.url, autocommit=True)
        except psycopg.OperationalError as error:
            raise StoreUnavailableError(f"PostgreSQL: {error}") from error

    def django(self) -> dict[str, Any]:
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": self.name,
            **address("POSTGRES", "5432", "postgres").django(),
        }

    def facts(self) -> dict[str, str]:
        with self.connect() as connection:
            return {
                name: connection.execute(f"SHOW {name}").fetchone()[0].split(" ")[0]
                for name in _SETTINGS
            }
