"""Work done at the same time, each on a connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from django.db import OperationalError, connection, connections, transaction

from jobu.conf import settings
from jobu.dialects import dialect_of
from jobu.models import JobExecution

T = TypeVar("T")

_PATIENCE_SECONDS = 60


def together(*work: Callable[[], T]) -> list[T]:
    """Run each in a thread with a connection of its own, all let go at the same moment."""
    start = threading.Barrier(len(work))

    def run(function: Callable[[], T]) -> T:
        try:
            connections[settings.DATABASE].ensure_connection()
            start.wait(_PATIENCE_SECONDS)
            return function()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(work)) as pool:
        futures = [pool.submit(run, function) for function in work]
        return [future.result(_PATIENCE_SECONDS) for future in futures]


def patiently(function: Callable[[], T]) -> T:
    """Try again whenever the database says that trying again is all it takes, as a worker does."""
    for _ in range(100):
        try:
            return function()
        except OperationalError as error:
            if not dialect_of(connection).is_busy(error):
                raise
    raise AssertionError("The database was busy a hundred times in a row.")


@contextmanager
def rolled_back() -> Iterator[None]:
    """Be a caller whose transaction does not make it."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@contextmanager
def locked_elsewhere(*executions: JobExecution) -> Iterator[None]:
    """Let a second connection hold the executions' row locks; fail soon if we wait for them."""
    other = connection.copy()
    hurry, relax = {
        "mysql": ("SET innodb_lock_wait_timeout = 3", "SET innodb_lock_wait_timeout = DEFAULT"),
        "postgresql": ("SET lock_timeout = '3s'", "SET lock_timeout = DEFAULT"),
    }[connection.vendor]
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            # One by one: for several at once, MariaDB may scan a small table and lock all of it.
            for execution in executions:
                cursor.execute(
                    f"SELECT id FROM {JobExecution._meta.db_table} WHERE id = %s FOR UPDATE",
                    [execution.pk],
                )
                assert cursor.fetchone() == (execution.pk,)
        with connection.cursor() as cursor:
            cursor.execute(hurry)
            yield
    finally:
        other.rollback()
        other.close()
        with connection.cursor() as cursor:
            cursor.execute(relax)
