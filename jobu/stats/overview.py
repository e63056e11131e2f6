"""Everything the dashboard shows, as of one moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobu.conf import settings
from jobu.dialects import database_time
from jobu.stats.depth import waiting
from jobu.stats.history import read_history
from jobu.stats.present import next_ticks, read_processes
from jobu.stats.ranges import Range, live_since
from jobu.stats.summarize import missing_steps

if TYPE_CHECKING:
    from datetime import datetime

    from jobu.stats.depth import QueueDepth
    from jobu.stats.history import HandlerStats, Step
    from jobu.stats.present import ProcessState, Tick


@dataclass(frozen=True, slots=True)
class Overview:
    """What finished in a range, and what is going on now.

    `unsummarized` counts the steps of the range whose executions are missing here, because no
    process has summarised them yet (see `summarize`).
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
    """Read it; the time that this takes does not grow with the number of executions."""
    now = database_time(settings.DATABASE)
    history = read_history(chosen, now)
    return Overview(
        range=chosen,
        now=now,
        step_seconds=chosen.step.seconds,
        steps=history.steps,
        total=history.total,
        handlers=history.handlers,
        waiting=waiting(),
        ticks=next_ticks(),
        processes=read_processes(now),
        unsummarized=sum(
            begin + chosen.step < live_since(now) for begin in missing_steps(chosen, now)
        ),
    )
