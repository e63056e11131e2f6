"""An attempt: one run of an execution, as claimed by one process."""

from __future__ import annotations

from typing import Any, NamedTuple
from uuid import UUID  # noqa: TC003 - a NamedTuple's types are looked at when it is made


class Attempt(NamedTuple):
    """What a worker knows of an execution while it holds it; `number` fences the outcome.

    The repr leaves out the params, because it is written to logs and error reports.
    """

    execution_id: int
    number: int
    claimed_by: UUID
    handler_name: str
    params: dict[str, Any]
    queue: str
    retry_count: int
    max_retry: int
    timeout_seconds: int

    @property
    def key(self) -> tuple[int, int]:
        """Identify the attempt among those of its process."""
        return self.execution_id, self.number

    def __repr__(self) -> str:
        return f"<Attempt {self.number} of execution {self.execution_id} ({self.handler_name})>"
