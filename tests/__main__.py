"""Run the tests on every database that is here: `python -m tests [pytest options]`.

SQLite is always here. PostgreSQL and MariaDB are used where they answer (JOBU_TEST_*_HOST
and the like say where), Chromium where it is installed; each gets one line that tells whether it
was used. With JOBU_TEST_REQUIRE=postgres,mysql a missing one is a failure instead of a skip; with
JOBU_TEST_SERVICES=sqlite,postgres the other databases are left alone. Kafka is librdkafka's mock
cluster, or the real one that JOBU_TEST_KAFKA_BOOTSTRAP_SERVERS (and JOBU_TEST_KAFKA_OPTIONS) name.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

from tests import kafka

NOTHING_TO_DO = 5
"""pytest's exit code when it was left with no test."""


@dataclass(frozen=True)
class Service:
    name: str
    title: str
    problem: Callable[[], str | None]


def postgres_problem() -> str | None:
    return _driver_problem("psycopg") or _port_problem("POSTGRES", 5432)


def mysql_problem() -> str | None:
    return _driver_problem("MySQLdb") or _port_problem("MYSQL", 3306)


def _driver_problem(module: str) -> str | None:
    if importlib.util.find_spec(module) is None:
        return f"the Python module {module} is not installed"
    return None


def _port_problem(name: str, default_port: int) -> str | None:
    host = os.environ.get(f"JOBU_TEST_{name}_HOST", "127.0.0.1")
    port = int(os.environ.get(f"JOBU_TEST_{name}_PORT", default_port))
    try:
        socket.create_connection((host, port), timeout=2).close()
    except OSError as error:
        return f"nothing answers at {host}:{port} ({error}); JOBU_TEST_{name}_HOST says where it is"
    return None


def _chromium_problem() -> str | None:
    if shutil.which("chromium") and shutil.which("chromedriver"):
        return None
    return "it is not installed; on Debian install chromium and chromium-driver"


SERVICES = (
    Service("sqlite", "SQLite", lambda: None),
    Service("postgres", "PostgreSQL", postgres_problem),
    Service("mysql", "MariaDB/MySQL", mysql_problem),
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
    failed = [
        service.title
        for service in SERVICES
        if problems[service.name] is None and not _passes_on(service, arguments)
    ]
    print(f"FAILED on {', '.join(failed)}" if failed else "All tests passed.")
    return 1 if failed else 0


def _names_in(variable: str) -> set[str]:
    return set(filter(None, os.environ.get(variable, "").split(",")))


def _passes_on(service: Service, arguments: list[str]) -> bool:
    print(f"\n=== {service.title} ===", flush=True)
    environment = {
        **os.environ,
        "JOBU_TEST_DATABASE": service.name,
        "JOBU_TEST_RUN": str(os.getpid()),
    }
    command = [sys.executable, "-m", "pytest", *arguments]
    code = subprocess.run(command, env=environment, check=False).returncode
    # What is pure is tried with SQLite only: to have nothing to do is no failure elsewhere.
    return code == 0 or (code == NOTHING_TO_DO and service.name != "sqlite")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
