"""For probes: whether this process is up, and whether jobs are run."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from django.db import Error as DatabaseFailure
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest
from django.utils import translation
from ninja import Router

from jobu import logs
from jobu.api.auth import open_or_reading
from jobu.api.errors import ApiError
from jobu.api.schemas import Error, Health, Ready
from jobu.conf import settings
from jobu.models.process import STARTED_BY
from jobu.reading.troubles import (
    NO_DISPATCHER,
    UNSERVED,
    Trouble,
    is_cron_due_without_dispatcher,
    unserved_queues,
)
from jobu.reading.waits import living_processes
from jobu.router import APP_LABEL

if TYPE_CHECKING:
    from jobu.api.errors import Fields

router = Router(tags=["health"])


@router.get("/health", response={200: Health, 401: Error, 403: Error}, auth=open_or_reading)
def health(request: HttpRequest) -> dict[str, str]:
    """Answers as long as the web process runs; checks nothing else."""
    return {"status": "ok"}


@router.get(
    "/ready", response={200: Ready, 401: Error, 403: Error, 503: Error}, auth=open_or_reading
)
def ready(request: HttpRequest) -> dict[str, Any]:
    """Tells whether the database answers and is migrated, and whether jobs are run.

    What is missing is named in the fields of the 503; what `JOBU_READY_FAILS_ON` does not name is
    a warning of the 200.
    """
    failures, warnings = _find_missing()
    if failures:
        message = f"Not ready: {', '.join(failures)}."
        raise ApiError(503, "not_ready", message, failures)
    return {"status": "ready", "warnings": warnings}


def _find_missing() -> tuple[Fields, Fields]:
    """Return what fails the probe and what is a warning, each with a sentence."""
    try:
        if names := _unapplied_migrations():
            return {"migrations": [f"Not applied: {', '.join(names)}; run manage.py migrate."]}, {}
        found = _what_keeps_jobs_waiting()
    except DatabaseFailure as error:
        logs.api_database_failed(error)
        return {"database": ["The database does not answer."]}, {}
    fails_on = settings.READY_FAILS_ON
    return (
        {name: text for name, text in found.items() if name in fails_on},
        {name: text for name, text in found.items() if name not in fails_on},
    )


def _what_keeps_jobs_waiting() -> Fields:
    """Return sentences by the names that `JOBU_READY_FAILS_ON` may have."""
    living = living_processes()
    kinds = {each.kind for each in living}
    found: Fields = {
        kind.value: [
            f"No {kind.value} beat within the last {settings.LEASE_SECONDS:g} seconds; "
            f"start manage.py {command}."
        ]
        for kind, command in STARTED_BY.items()
        if kind not in kinds
    }
    # Probes are read by programs: not in a reader's language.
    with translation.override(None):
        if queues := unserved_queues(living):
            found["queue"] = [Trouble(UNSERVED, tuple(queues)).text]
        if is_cron_due_without_dispatcher(living):
            found["cron"] = [Trouble(NO_DISPATCHER).text]
    return found


def _unapplied_migrations() -> list[str]:
    """Return jobu's migrations that the database lacks, without loading every app's."""
    module, _ = MigrationLoader.migrations_module(APP_LABEL)
    if module is None:
        return []
    names = {each.name for each in iter_modules(import_module(module).__path__)}
    applied = MigrationRecorder(connections[settings.DATABASE]).applied_migrations()
    return sorted(names - {name for app, name in applied if app == APP_LABEL})
