"""Fixtures that many tests share."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from typing import Any

import django
import pytest
from django.core import mail
from django.db import connections
from django.utils import translation
from django.utils.log import AdminEmailHandler

from jobu import signals
from jobu.handlers.context import find_current_job
from jobu.handlers.registry import handlers
from jobu.models import JobExecution
from jobu.reading.troubles import forget_troubles
from tests import kafka as kafkas
from tests.browser import browser, chromium
from tests.memory_adapter import Outbox
from tests.redis_stream import RedisStream
from tests.workers import WorkerProcesses

__all__ = ["browser", "chromium"]


@pytest.fixture
def workers(transactional_db: None, tmp_path: object) -> Iterator[WorkerProcesses]:
    """Start real `runworker` processes; whatever is left of them is killed after the test."""
    processes = WorkerProcesses(str(tmp_path))
    try:
        yield processes
    finally:
        processes.kill_all()
        connections.close_all()


@pytest.fixture(scope="session")
def kafka() -> Iterator[kafkas.Kafka]:
    """The Kafka of this run; each test makes a topic of its own in it."""
    started = kafkas.start()
    yield started
    started.close()


@pytest.fixture
def redis_stream() -> Iterator[RedisStream]:
    stream = RedisStream()
    yield stream
    stream.drop()


@pytest.fixture(autouse=True)
def _speak_english() -> Iterator[None]:
    """Forget, after the test, the language that a request in it asked for: its thread keeps it."""
    yield
    translation.deactivate()


@pytest.fixture(autouse=True)
def _leave_nothing_behind() -> Iterator[None]:
    """Fail the test that leaves something behind, rather than a later one that meets it."""
    yield
    assert find_current_job() is None
    changed = [
        connection.alias
        for connection in connections.all(initialized_only=True)
        if connection.settings_dict["OPTIONS"] != connections.settings[connection.alias]["OPTIONS"]
    ]
    assert changed == []


@pytest.fixture(autouse=True)
def vendor() -> str:
    """Name the database; to Django's `connection.vendor`, MariaDB is "mysql", too."""
    return os.environ.get("JOBU_TEST_DATABASE", "sqlite")


@pytest.fixture(autouse=True)
def _look_anew() -> None:
    """Let no test see in a page what another one's processes left undone."""
    forget_troubles()


@pytest.fixture
def error_reports(settings: Any) -> Iterator[Callable[[], str]]:
    """Mail errors to the site's admins, with all that Django can tell; return what was mailed."""
    address = "ann@example.com"
    # Django 5.2 wants a name with it, later ones do not.
    settings.ADMINS = [("ann", address)] if django.VERSION < (6,) else [address]
    mailing = AdminEmailHandler(include_html=True)
    log = logging.getLogger("django.request")
    log.addHandler(mailing)
    mails: list[Any] = mail.outbox
    yield lambda: str([(each.body, each.alternatives) for each in mails])
    log.removeHandler(mailing)


@pytest.fixture
def temporary_handlers() -> Iterator[None]:
    """Forget, after the test, the handlers that it registered."""
    before = dict(handlers._specs)
    try:
        yield
    finally:
        handlers._specs.clear()
        handlers._specs.update(before)


@pytest.fixture
def enqueued() -> Iterator[list[JobExecution]]:
    """Collect what `execution_enqueued` is sent for."""
    executions: list[JobExecution] = []

    def collect(execution: JobExecution, **_: Any) -> None:
        executions.append(execution)

    signals.execution_enqueued.connect(collect)
    yield executions
    signals.execution_enqueued.disconnect(collect)


@pytest.fixture
def outbox(settings: Any, monkeypatch: pytest.MonkeyPatch) -> list[tuple[bytes, bytes | None]]:
    """Publish to a list of bodies and keys instead of a queue system."""
    settings.JOBU_QUEUE_DISPATCHER_ADAPTER = "tests.memory_adapter.Outbox"
    monkeypatch.setattr(Outbox, "sent", [])
    return Outbox.sent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what has no meaning on a database, or the same one on each.

    SQLite locks the database, not rows; what is pure, or in a browser, is tried once, with SQLite.
    """
    is_sqlite = os.environ.get("JOBU_TEST_DATABASE", "sqlite") == "sqlite"
    markers = ("row_locks",) if is_sqlite else ("pure", "browser")
    pointless = [item for item in items if any(map(item.get_closest_marker, markers))]
    items[:] = [item for item in items if item not in pointless]
    config.hook.pytest_deselected(items=pointless)
