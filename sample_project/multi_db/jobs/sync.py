"""From one database to the next: sqlite_2 to postgres_1 to mysql_1."""

from config.databases import DatabaseNotConfiguredError, require
from jobu import handler, transactional
from multi_db.copying import copy_customers
from multi_db.models import Customer


@handler(
    "sync_sqlite_to_postgres",
    timeout_seconds=120,
    no_retry_on=DatabaseNotConfiguredError,
    events=True,
)
def sync_sqlite_to_postgres(new_customers: int = 3) -> dict[str, int]:
    """Let some customers register in SQLite, and bring all to PostgreSQL, in one transaction."""
    require("sqlite_2", "postgres_1")
    with transactional("sqlite_2", "postgres_1"):
        register_customers(new_customers)
        return {"copied": copy_customers("sqlite_2", "postgres_1")}


@handler(
    "sync_postgres_to_mysql",
    timeout_seconds=120,
    no_retry_on=DatabaseNotConfiguredError,
    events=True,
)
def sync_postgres_to_mysql() -> dict[str, int]:
    require("postgres_1", "mysql_1")
    return {"copied": copy_customers("postgres_1", "mysql_1")}


def register_customers(count: int) -> None:
    """Make up to `count` of a hundred customers; a demo that runs for days stays small."""
    customers = Customer.objects.using("sqlite_2")
    for number in range(customers.count() + 1, min(customers.count() + count, 100) + 1):
        customers.get_or_create(
            email=f"customer{number}@example.com", defaults={"name": f"Customer {number}"}
        )
