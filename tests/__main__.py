"""Run the tests on every database that is here: `python -m tests [pytest options]`.

SQLite is always here. PostgreSQL, MariaDB and MySQL are used where they answer (JOBU_TEST_*_HOST
and the like say where), Chromium where it is installed; each gets one line that tells whether it
was used. With JOBU_TEST_REQUIRE=postgres,mysql a missing one is a failure instead of a skip; with
JOBU_TEST_SERVICES=sqlite,postgres the other databases are left alone. Kafka is librdkafka's mock
cluster, or the real one that JOBU_TEST_KAFKA_BOOTSTRAP_SERVERS (and JOBU_TEST_KAFKA_OPTIONS) name.
With JOBU_TEST_COVERAGE=FOLDER each run writes there which lines and branches of jobu it ran.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests import kafka
from tests.addresses import address, variable

NOTHING_TO_DO = 5
"""The exit code of pytest that was left with no test."""


@dataclass(frozen=True)
class Service:
    name: str
    title: str
    problem: Callable[[], str | None]


@dataclass(frozen=True)
class Run:
    """What came of the tests on one database."""

    title: str
    passed: bool
    failed: list[str]


def postgres_problem() -> str | None:
    return _driver_problem("psycopg") or _port_problem("postgres")


def mariadb_problem() -> str | None:
    return _driver_problem("MySQLdb") or _port_problem("mariadb") or _product_problem("mariadb")


def mysql_problem() -> str | None:
    return _driver_problem("MySQLdb") or _port_problem("mysql") or _product_problem("mysql")


def _driver_problem(module: str) -> str | None:
    if importlib.util.find_spec(module) is None:
        return f"the Python module {module} is not installed"
    return None


def _port_problem(service: str) -> str | None:
    at = address(service)
    try:
        socket.create_connection((at["host"], int(at["port"])), timeout=2).close()
    except OSError as error:
        return f"nothing answers at {_place(service)}: {error}"
    return None


def _product_problem(service: str) -> str | None:
    """Tell MariaDB and MySQL apart: both answer the other's driver."""
    import MySQLdb

    at = address(service)
    try:
        connection = MySQLdb.connect(**{**at, "port": int(at["port"])})
    except MySQLdb.Error as error:
        return f"no connection to {_place(service)}: {error}"
    version = connection.get_server_info()
    connection.close()
    found = "MariaDB" if "MariaDB" in version else "MySQL"
    if found.lower() == service:
        return None
    return f"{_place(service)} is {found}, version {version}"


def _place(service: str) -> str:
    at = address(service)
    return f"{at['host']}:{at['port']} ({variable(service, 'host')}, _PORT)"


def _chromium_problem() -> str | None:
    if shutil.which("chromium") and shutil.which("chromedriver"):
        return None
    return "it is not installed; on Debian install chromium and chromium-driver"


SERVICES = (
    Service("sqlite", "SQLite", lambda: None),
    Service("postgres", "PostgreSQL", postgres_problem),
    Service("mariadb", "MariaDB", mariadb_problem),
    Service("mysql", "MySQL", mysql_problem),
)
# Used by some tests on one of the databases, rather than by all of them once more.
HELPERS = (Service("chromium", "Chromium", _chromium_problem),)


def main(arguments: list[str]) -> int:
    names = [service.name for service in SERVICES]
    required = _names_in("JOBU_TEST_REQUIRE")
    wanted = _names_in("JOBU_TEST_SERVICES") or set(names)
    helpers = {service.name for service in HELPERS}
    if unknown := (required | wanted) - set(names) - helpers:
        known = ", ".join([*names, *sorted(helpers)])
        print(f"Unknown services: {', '.join(sorted(unknown))}; known are {known}")
        return 2
    problems = {
        service.name: service.problem() if service.name in wanted else "not in JOBU_TEST_SERVICES"
        for service in SERVICES
    }
    problems |= {service.name: service.problem() for service in HELPERS}
    for service in (*SERVICES, *HELPERS):
        problem = problems[service.name]
        state = "used" if problem is None else f"skipped: {problem}"
        print(f"{service.title}: {state}", flush=True)
    print(f"Kafka: {kafka.describe()}", flush=True)
    if missing := sorted(
        name for name in required & (wanted | helpers) if problems[name] is not None
    ):
        print(f"Required, but missing: {', '.join(missing)}")
        return 1
    runs = [_run_on(each, arguments) for each in SERVICES if problems[each.name] is None]
    for run in runs:
        for test in run.failed:
            print(f"FAILED on {run.title}: {test}")
    failed = [run.title for run in runs if not run.passed]
    print(f"FAILED on {', '.join(failed)}" if failed else "All tests passed.")
    return 1 if failed else 0


def _names_in(variable: str) -> set[str]:
    return set(filter(None, os.environ.get(variable, "").split(",")))


def _run_on(service: Service, arguments: list[str]) -> Run:
    print(f"\n=== {service.title} ===", flush=True)
    # Apart from that of other runs in this folder, such as those of another Python.
    with tempfile.TemporaryDirectory(prefix="jobu-tests-") as cache:
        code = _pytest(service, cache, arguments)
        failed = _last_failed(cache)
    # What is pure is tried with SQLite only: to have nothing to do is no failure elsewhere.
    passed = code == 0 or (code == NOTHING_TO_DO and service.name != "sqlite")
    return Run(service.title, passed, failed)


def _pytest(service: Service, cache: str, arguments: list[str]) -> int:
    environment = {
        **os.environ,
        "JOBU_TEST_DATABASE": service.name,
        "JOBU_TEST_RUN": str(os.getpid()),
    }
    coverage, options = [], []
    if folder := os.environ.get("JOBU_TEST_COVERAGE"):
        environment["COVERAGE_FILE"] = str(Path(folder, ".coverage").resolve())
        coverage = ["-m", "coverage", "run", "--parallel-mode"]
        options = ["-p", "tests.measuring"]
    options += ["-o", f"cache_dir={cache}", *arguments]
    command = [sys.executable, *coverage, "-m", "pytest", *options]
    return subprocess.run(command, env=environment, check=False).returncode


def _last_failed(cache: str) -> list[str]:
    file = Path(cache, "v", "cache", "lastfailed")
    return sorted(json.loads(file.read_text())) if file.exists() else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
