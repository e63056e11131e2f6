"""One handler for each database; what is not configured is not retried."""

from basic.crud import CrudReport, crud
from config.databases import DatabaseNotConfiguredError, require
from jobu import handler


@handler("sqlite_crud", timeout_seconds=60, events=True)
def sqlite_crud(rows: int = 5) -> CrudReport:
    return crud("sqlite_2", rows)


@handler("postgres_crud", timeout_seconds=60, no_retry_on=DatabaseNotConfiguredError, events=True)
def postgres_crud(rows: int = 5) -> CrudReport:
    require("postgres_1")
    return crud("postgres_1", rows)


@handler("mysql_crud", timeout_seconds=60, no_retry_on=DatabaseNotConfiguredError, events=True)
def mysql_crud(rows: int = 5) -> CrudReport:
    require("mysql_1")
    return crud("mysql_1", rows)
