"""Measure what the dashboard reads, among a million executions that finished within a week.

python -m benchmarks.dashboard --database postgres --executions 1000000

The database is made for it and dropped afterwards; JOBU_TEST_* says where the server is.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_TEMPLATE_ROWS = 10_000
_HANDLERS = 20
_QUEUES = 5
_PENDING = 50_000


def main() -> int:
    arguments = _parse()
    os.environ["JOBU_TEST_DATABASE"] = arguments.database
    os.environ["JOBU_TEST_RUN"] = f"bench_{os.getpid()}"
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.settings"
    import django

    django.setup()
    from django.db import connection

    name = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    try:
        _measure(arguments.executions)
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)
    return 0


def _measure(executions: int) -> None:
    from jobu.reading import Range, read_overview, summarize

    took, _ = _timed(_fill, executions)
    print(f"{executions:,} finished executions and {_PENDING:,} pending ones made in {took:.0f} s")
    took, _ = _timed(summarize, 3600)
    print(f"summarised in {took:.1f} s\n")
    for chosen in Range:
        read_overview(chosen)
        with _recorded() as queries:
            took, overview = _timed(read_overview, chosen)
        count = sum(overview.total.outcomes.values())
        in_database = sum(seconds for seconds, _sql in queries)
        print(
            f"{chosen.label}: {1000 * took:.0f} ms for {count:,} executions, of them "
            f"{1000 * in_database:.0f} ms in {len(queries)} queries"
        )
        for seconds, sql in sorted(queries, reverse=True):
            print(f"{1000 * seconds:>10.1f} ms  {' '.join(sql.split())[:110]}")


@contextmanager
def _recorded() -> Iterator[list[tuple[float, str]]]:
    """Collect each query inside the block with the seconds it took."""
    from django.db import connection

    queries: list[tuple[float, str]] = []

    def record(execute: Any, *query: Any) -> Any:
        took, result = _timed(execute, *query)
        queries.append((took, query[0]))
        return result

    with connection.execute_wrapper(record):
        yield queries


def _fill(executions: int) -> None:
    """Make some rows in Python, and let the database copy them."""
    from django.db import connection
    from django.utils import timezone

    from jobu import enqueue_many
    from jobu.models import JobExecution, Process, Status

    now = timezone.now()
    rows = []
    for number in range(_TEMPLATE_ROWS):
        end = now - timedelta(days=7) * (number / _TEMPLATE_ROWS)
        begin = end - timedelta(seconds=0.001 * 1.001 ** (number % 9000))
        rows.append(
            JobExecution(
                handler_name=f"shop.jobs.handler_{number % _HANDLERS}",
                queue=f"queue_{number % _QUEUES}",
                params={"order": number, "to": "somebody@example.com"},
                status=Status.FAILED if number % 40 == 0 else Status.SUCCESS,
                attempt=1,
                available_at=begin - timedelta(seconds=number % 5),
                started_at=begin,
                finished_at=end,
                result={"sent": True},
            )
        )
    JobExecution.objects.bulk_create(rows, batch_size=1000)
    table = connection.ops.quote_name(JobExecution._meta.db_table)
    columns = ", ".join(
        connection.ops.quote_name(str(field.column))
        for field in JobExecution._meta.concrete_fields
        if not field.primary_key
    )
    copy = f"INSERT INTO {table} ({columns}) SELECT {columns} FROM {table} ORDER BY id LIMIT %s"
    with connection.cursor() as cursor:
        made = len(rows)
        while made < executions:
            more = min(made, executions - made)
            cursor.execute(copy, [more])
            made += more
    enqueue_many("noop", ({} for _ in range(_PENDING)))
    for number in range(10):
        Process.objects.create(kind="worker", host="here", pid=number + 1, slots=10)


def _timed(work: Callable[..., Any], *args: Any) -> tuple[float, Any]:
    begin = time.perf_counter()
    result = work(*args)
    return time.perf_counter() - begin, result


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.dashboard",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--executions", type=int, default=1_000_000)
    databases = ("sqlite", "postgres", "mariadb", "mysql")
    parser.add_argument("--database", choices=databases, default="postgres")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
