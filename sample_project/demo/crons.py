"""The cron jobs of the demo: each sample handler on its own schedule."""

from typing import Any, NamedTuple

from django.conf import settings

from jobu.models import CronJob


class Cron(NamedTuple):
    handler: str
    expression: str
    description: str
    params: dict[str, Any] = {}  # noqa: RUF012 - never changed
    needs: tuple[str, ...] = ()


CRONS = (
    Cron("sqlite_crud", "* * * * *", "Create, read, update, delete on SQLite.", {"rows": 10}),
    Cron("postgres_crud", "* * * * *", "The same on PostgreSQL.", needs=("postgres_1",)),
    Cron("mysql_crud", "* * * * *", "The same on MySQL or MariaDB.", needs=("mysql_1",)),
    Cron(
        "sync_sqlite_to_postgres",
        "*/2 * * * *",
        "Copy customers from SQLite to PostgreSQL.",
        needs=("postgres_1",),
    ),
    Cron(
        "sync_postgres_to_mysql",
        "*/2 * * * *",
        "Copy customers from PostgreSQL to MySQL.",
        needs=("postgres_1", "mysql_1"),
    ),
    Cron("multi_db_report", "*/5 * * * *", "Count what is in each database."),
    Cron("service_layer", "*/2 * * * *", "Restock what is short."),
    Cron("do_work_pattern", "* * * * *", "Sell some apples.", {"name": "apples", "quantity": 3}),
    Cron("concurrent_queries", "* * * * *", "Ask every database at the same time."),
    Cron("import_products", "*/10 * * * *", "Import the price list, with progress."),
)


def make_crons() -> list[CronJob]:
    """Make those that are missing and whose databases are configured; leave the others alone."""
    jobs = []
    for cron in CRONS:
        if all(alias in settings.DATABASES for alias in cron.needs):
            job, _ = CronJob.objects.get_or_create(
                name=cron.handler,
                defaults={
                    "handler_name": cron.handler,
                    "cron_expression": cron.expression,
                    "description": cron.description,
                    "handler_params": cron.params,
                },
            )
            jobs.append(job)
    return jobs
