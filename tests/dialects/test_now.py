"""The database's clock: in UTC, moving, and readable ahead and back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import connection, transaction

from jobu.dialects import DatabaseNow
from jobu.models import JobExecution
from tests.builders import column, database_now, pending

pytestmark = pytest.mark.django_db


@contextmanager
def session_in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Move the session nine hours ahead of UTC, and this process, which is SQLite's server."""
    there, back = {
        "postgresql": ("SET TIME ZONE 'Asia/Tokyo'", "SET TIME ZONE 'UTC'"),
        "mysql": ("SET time_zone = '+09:00'", "SET time_zone = @@global.time_zone"),
        "sqlite": ("SELECT 1", "SELECT 1"),
    }[connection.vendor]
    with monkeypatch.context() as patch, connection.cursor() as cursor:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        cursor.execute(there)
        yield
        cursor.execute(back)
    time.tzset()


def test_the_databases_clock_is_utc_whatever_the_zone_of_the_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = database_now()
    written_here = pending()
    with session_in_tokyo(monkeypatch):
        written_there = pending()
        recent = set(
            JobExecution.objects.filter(
                available_at__gt=DatabaseNow(-1800), available_at__lte=DatabaseNow()
            )
        )
    assert recent == {written_here, written_there}
    assert before <= column(written_there, "available_at") <= database_now()


def test_the_databases_clock_moves_inside_a_transaction() -> None:
    with transaction.atomic():
        first = database_now()
        assert any(database_now() > first for _ in range(100_000))


def test_the_databases_clock_can_be_read_ahead_and_back() -> None:
    before = database_now()
    ahead = column(pending(available_at=DatabaseNow(3600)), "available_at")
    back = column(pending(available_at=DatabaseNow(-0.5)), "available_at")
    after = database_now()
    millisecond = timedelta(milliseconds=1)
    assert before - millisecond <= ahead - timedelta(hours=1) <= after + millisecond
    assert before - millisecond <= back + timedelta(seconds=0.5) <= after + millisecond
