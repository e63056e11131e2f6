"""For probes: whether this process is up, and whether jobs are run."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Router

from jobu.api.auth import open_or_reading
from jobu.api.errors import ApiError
from jobu.api.readiness import find_missing
from jobu.api.schemas import Error, Health

router = Router(tags=["health"])


@router.get("/health", response={200: Health, 401: Error, 403: Error}, auth=open_or_reading)
def health(request: HttpRequest) -> dict[str, str]:
    """Answers as long as the web process does; looks at nothing else."""
    return {"status": "ok"}


@router.get(
    "/ready", response={200: Health, 401: Error, 403: Error, 503: Error}, auth=open_or_reading
)
def ready(request: HttpRequest) -> dict[str, str]:
    """Tells whether the database answers and is migrated, and a worker and a dispatcher beat.

    If not, the fields of the 503 are what is missing.
    """
    if missing := find_missing():
        message = f"Not ready: {', '.join(missing)}."
        raise ApiError(503, "not_ready", message, missing)
    return {"status": "ready"}
