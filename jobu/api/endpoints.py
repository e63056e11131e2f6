"""The API with all its endpoints."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import NinjaAPI
from ninja.operation import Operation

from jobu.api import crons, health, jobs, metrics, processes, stats
from jobu.api.auth import reading
from jobu.api.errors import install_handlers

OPENAPI_PATH = "openapi.json"


class _Api(NinjaAPI):
    def get_openapi_operation_id(self, operation: Operation) -> str:
        """Return the name that generated clients use for the operation."""
        return operation.view_func.__name__


api = _Api(
    title="jobu",
    version="1",
    description="Cron jobs, executions and the processes that run them. For a write, a user needs "
    "its permission and the permission to view what it answers with.",
    urls_namespace="jobu-api",
    # Ninja's own pages need a change in the project, or files from another server.
    docs_url=None,
    openapi_url=None,
)
install_handlers(api)
api.add_router("/crons", crons.router)
api.add_router("/jobs", jobs.router)
api.add_router("/processes", processes.router)
api.add_router("", stats.router)
api.add_router("", health.router)
api.add_router("", metrics.router)


@api.get(f"/{OPENAPI_PATH}", auth=reading(), include_in_schema=False)
def openapi(request: HttpRequest) -> Any:
    """Describe the API, at the paths where the project has put it."""
    return api.get_openapi_schema(path_prefix=request.path.removesuffix(OPENAPI_PATH))
