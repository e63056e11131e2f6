"""For probes: whether this process is up, and whether jobs are run."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from django.db import Error as DatabaseFailure
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest
from ninja import Router

from jobu import logs
from jobu.api.auth import open_or_reading
from jobu.api.errors import ApiError
from jobu.api.schemas import Error, Health
from jobu.conf import settings
from jobu.models import Process
from jobu.models.process import ProcessKind
from jobu.router import APP_LABEL

if TYPE_CHECKING:
    from jobu.api.errors import Fields

router = Router(tags=["health"])

_STARTED_BY = {ProcessKind.WORKER: "runworker", ProcessKind.DISPATCHER: "rundispatcher"}


@router.get("/health", response={200: Health, 401: Error, 403: Error}, auth=open_or_reading)
def health(request: HttpRequest) -> dict[str, str]:
    """Answers as long as the web process runs; checks nothing else."""
    return {"status": "ok"}


@router.get(
    "/ready", response={200: Health, 401: Error, 403: Error, 503: Error}, auth=open_or_reading
)
def ready(request: HttpRequest) -> dict[str, str]:
    """Tells whether the database answers and is migrated, and a worker and a dispatcher beat.

    If not, the fields of the 503 are what is missing.
    """
    if missing := _find_missing():
        message = f"Not ready: {', '.join(missing)}."
        raise ApiError(503, "not_ready", message, missing)
    return {"status": "ready"}


def _find_missing() -> Fields:
    """Return what is missing, each with a sentence; empty if jobs are run."""
    try:
        if names := _unapplied_migrations():
            return {"migrations": [f"Not applied: {', '.join(names)}; run manage.py migrate."]}
        beating = set(Process.objects.alive().values_list("kind", flat=True))
    except DatabaseFailure as error:
        logs.api_database_failed(error)
        return {"database": ["The database does not answer."]}
    return {
        kind.value: [
            f"No {kind.value} beat within the last {settings.LEASE_SECONDS:g} seconds; "
            f"start manage.py {command}."
        ]
        for kind, command in _STARTED_BY.items()
        if kind not in beating
    }


def _unapplied_migrations() -> list[str]:
    """Return jobu's migrations that the database lacks, without loading every app's."""
    module, _ = MigrationLoader.migrations_module(APP_LABEL)
    if module is None:
        return []
    names = {each.name for each in iter_modules(import_module(module).__path__)}
    applied = MigrationRecorder(connections[settings.DATABASE]).applied_migrations()
    return sorted(names - {name for app, name in applied if app == APP_LABEL})
