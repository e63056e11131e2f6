"""A database of MariaDB, which is measured in the place of MySQL."""

from __future__ import annotations

from typing import Any, Self

from benchmarks.stores.server import Store, StoreUnavailableError, address

_SETTINGS = ("version", "innodb_flush_log_at_trx_commit", "innodb_buffer_pool_size", "log_bin")


class MariaDB(Store):
    @classmethod
    def make(cls, name: str) -> Self:
        MariaDB("").execute(f"CREATE DATABASE `{name}` CHARACTER SET utf8mb4")
        return cls(name)

    def drop(self) -> None:
        MariaDB("").execute(f"DROP DATABASE IF EXISTS `{self.name}`")

    def connect(self) -> Any:
        try:
            import MySQLdb
        except ImportError as error:
            raise StoreUnavailableError(f"MariaDB: {error}") from error
        at = address("MARIADB", "3306", "root")
        try:
            return MySQLdb.connect(
                host=at.host,
                port=int(at.port),
                user=at.user,
                password=at.password,
                database=self.name,
                charset="utf8mb4",
            )
        except MySQLdb.OperationalError as error:
            raise StoreUnavailableError(f"MariaDB: {error}") from error

    def execute(self, sql: str) -> list[tuple[Any, ...]]:
        connection = self.connect()
        try:
            cursor = connection.cursor()
            cursor.execute(sql)
            return list(cursor.fetchall())
        finally:
            connection.close()

    def django(self) -> dict[str, Any]:
        return {
            "ENGINE": "django.db.backends.mysql",
            "NAME": self.name,
            "OPTIONS": {"charset": "utf8mb4"},
            **address("MARIADB", "3306", "root").django(),
        }

    def facts(self) -> dict[str, str]:
        names = ", ".join(f"@@{name}" for name in _SETTINGS)
        values = self.execute(f"SELECT {names}")[0]
        return dict(zip(_SETTINGS, map(str, values), strict=True))
