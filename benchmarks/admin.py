"""How quick are the admin's pages with a million executions? `python -m benchmarks.admin`

On PostgreSQL, in a database made for it and dropped afterwards; JOBU_TEST_POSTGRES_* says where.
Each page is asked for several times through Django's own test client, so that what is measured is
the view, its queries and its template; the first time of each does not count. A page that reads
the whole table of executions is marked.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from typing import Any


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.admin", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="(default: 1000000)")
    parser.add_argument("--rounds", type=int, default=5, help="(default: 5)")
    arguments = parser.parse_args()
    os.environ["JOBU_TEST_DATABASE"] = "postgres"
    os.environ["JOBU_TEST_RUN"] = f"bench_{os.getpid()}"
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.project.settings"
    import django
    from django.db import OperationalError, connection

    django.setup()
    name = connection.settings_dict["NAME"]
    try:
        connection.creation.create_test_db(verbosity=0, autoclobber=True)
    except OperationalError as error:
        print(f"PostgreSQL cannot be used here: {error}", file=sys.stderr)
        return 1
    try:
        measure(arguments.rows, arguments.rounds)
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)
    return 0


def measure(rows: int, rounds: int) -> None:
    from django.contrib.auth.models import User
    from django.test import Client

    from tests.admin.million import fill
    from tests.admin.tour import tour

    begin = time.perf_counter()
    fill(rows)
    print(f"{rows:,} executions made in {time.perf_counter() - begin:.0f} s")
    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.create_superuser("operator"))
    print(f"{'':48}{'median':>10}{'slowest':>10}{'queries':>10}{'in SQL':>10}")
    medians: dict[str, float] = {}
    for name, address in tour().items():
        timed = [_visit(client, address) for _ in range(rounds + 1)][1:]
        seconds = [each[0] for each in timed]
        medians[name] = statistics.median(seconds)
        in_sql = statistics.median(each[2] for each in timed)
        mark = "  reads the whole table!" if _scans(client, address) else ""
        print(
            f"{name:48}{medians[name] * 1000:>7.0f} ms{max(seconds) * 1000:>7.0f} ms"
            f"{timed[0][1]:>10}{in_sql * 1000:>7.0f} ms{mark}",
            flush=True,
        )
    slowest = max(medians, key=lambda name: medians[name])
    print(f"The slowest page: {slowest}, {medians[slowest] * 1000:.0f} ms.")


def _visit(client: Any, address: str) -> tuple[float, int, float]:
    """Return the seconds that a page took, its number of queries, and the seconds in them."""
    from django.db import connection

    in_sql: list[float] = []

    def timed(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        begin = time.perf_counter()
        try:
            return execute(sql, params, many, context)
        finally:
            in_sql.append(time.perf_counter() - begin)

    begin = time.perf_counter()
    with connection.execute_wrapper(timed):
        response = client.get(address)
    seconds = time.perf_counter() - begin
    if response.status_code != 200:
        raise SystemExit(f"{address} answered {response.status_code}")
    return seconds, len(in_sql), sum(in_sql)


def _scans(client: Any, address: str) -> bool:
    from tests.plans import TABLE, caught, plan_of

    with caught() as statements:
        client.get(address)
    reading = [s for s in statements if s.sql.startswith("SELECT") and TABLE in s.sql]
    return any(plan_of(statement).scans for statement in reading)


if __name__ == "__main__":
    sys.exit(main())
