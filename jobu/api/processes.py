"""Processes: who is working."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router

from jobu.api.answers import answers
from jobu.api.auth import reading
from jobu.api.schemas import Processes
from jobu.conf import settings
from jobu.dialects import database_time
from jobu.reading import read_processes

router = Router(tags=["processes"])

_MAX_PROCESSES = 1_000


@router.get("", response=answers(200, Processes), auth=reading("view_process"))
def list_processes(request: HttpRequest) -> dict[str, Any]:
    """The started workers and dispatchers; a dead one is there until others have noticed."""
    return {"items": read_processes(database_time(settings.DATABASE), _MAX_PROCESSES)}
