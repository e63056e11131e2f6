"""The numbers of the dashboard."""

from __future__ import annotations

from datetime import datetime

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from jobu.api.answers import answers
from jobu.api.auth import reading
from jobu.reading import Overview, Range, read_overview

router = Router(tags=["stats"])


class PercentilesOfSeconds(Schema):
    p50: float
    p95: float
    p99: float


class Step(Schema):
    begins_at: datetime
    outcomes: dict[str, int] = Field(description="Final status → how many executions ended so.")
    run: PercentilesOfSeconds | None
    wait: PercentilesOfSeconds | None
    waiting: dict[str, int] | None = Field(
        description="Queue → the most that were due at once; null if nobody looked."
    )


class HandlerNumbers(Schema):
    name: str
    finished: int
    dead: int
    failure_rate: float
    run: PercentilesOfSeconds | None


class QueueNumbers(Schema):
    queue: str
    due: int
    later: int
    oldest_seconds: float
    is_capped: bool = Field(description="Whether there are more than were counted.")


class NextTick(Schema):
    cron_id: int
    name: str
    handler_name: str
    at: datetime


class Stats(Schema):
    range: Range
    now: datetime
    step_seconds: int
    steps: list[Step]
    total: Step
    handlers: list[HandlerNumbers]
    waiting: list[QueueNumbers]
    ticks: list[NextTick]
    unsummarized: int = Field(description="How many steps are still missing from these numbers.")


@router.get(
    "/stats", response=answers(200, Stats), auth=reading("view_jobexecution", "view_cronjob")
)
def stats(request: HttpRequest, range: Query[Range] = Range.HOUR) -> Overview:  # noqa: A002
    """What finished lately and how, what waits, which cron jobs are next."""
    return read_overview(range)
