"""Reading: what ran, how it ended, what waits, who works; for dashboard, API and metrics.

overview = read_overview(Range.HOUR)
overview.total.outcomes["FAILED"], overview.steps[-1].run, overview.waiting[0].due
"""

from jobu.reading.depth import QueueDepth, waiting
from jobu.reading.overview import Overview, read_overview
from jobu.reading.present import ProcessState, Tick, next_ticks, read_processes
from jobu.reading.ranges import Range
from jobu.reading.summarize import summarize
from jobu.reading.timeline import HandlerStats, Percentiles, Step, Timeline, read_timeline
from jobu.reading.troubles import Trouble, find_troubles, recent_troubles
from jobu.reading.waits import Reason, Waits

__all__ = [
    "HandlerStats",
    "Overview",
    "Percentiles",
    "ProcessState",
    "QueueDepth",
    "Range",
    "Reason",
    "Step",
    "Tick",
    "Timeline",
    "Trouble",
    "Waits",
    "find_troubles",
    "next_ticks",
    "read_overview",
    "read_processes",
    "read_timeline",
    "recent_troubles",
    "summarize",
    "waiting",
]
