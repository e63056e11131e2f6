"""Everything that the dashboard shows, at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobu.conf import settings
from jobu.dialects import database_time
from jobu.reading.depth import waiting
from jobu.reading.present import next_ticks, read_processes
from jobu.reading.ranges import Range, live_since
from jobu.reading.summarize import missing_steps
from jobu.reading.timeline import read_timeline

if TYPE_CHECKING:
    from datetime import datetime

    from jobu.reading.depth import QueueDepth
    from jobu.reading.present import ProcessState, Tick
    from jobu.reading.timeline import HandlerStats, Step


@dataclass(frozen=True, slots=True)
class Overview:
    """The executions that finished in a range, and those that wait and run now.

    `unsummarized` counts the steps of the range that are missing here, because no process has
    summarised them yet (see `summarize`).
    """

    range: Range
    now: datetime
    step_seconds: int
    steps: list[Step]
    total: Step
    handlers: list[HandlerStats]
    waiting: list[QueueDepth]
    ticks: list[Tick]
    processes: list[ProcessState]
    unsummarized: int


def read_overview(chosen: Range) -> Overview:
    """Read everything; the time for it does not grow with the number of executions."""
    now = database_time(settings.DATABASE)
    timeline = read_timeline(chosen, now)
    return Overview(
        range=chosen,
        now=now,
        step_seconds=chosen.step.seconds,
        steps=timeline.steps,
        total=timeline.total,
        handlers=timeline.handlers,
        waiting=waiting(),
        ticks=next_ticks(),
        processes=read_processes(now),
        unsummarized=sum(
            begin + chosen.step < live_since(now) for begin in missing_steps(chosen, now)
        ),
    )
