"""The statuses that an operation may answer with, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from jobu.api.schemas import Error

_ALWAYS = (401, 403, 422, 503)


def answers(status: int, schema: Any, *errors: int) -> dict[int, Any]:
    """Return ninja's `response`: the success, these errors, and those of every operation."""
    return {status: schema, **dict.fromkeys(sorted({*errors, *_ALWAYS}), Error)}


def written(status: int, schema: Any, *errors: int) -> dict[int, Any]:
    """Like `answers`, for an operation that reads a body."""
    return answers(status, schema, 400, 413, *errors)
