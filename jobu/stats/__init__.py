"""The numbers of the dashboard: what ran, how it ended, what waits, who works.

overview = read_overview(Range.HOUR)
overview.total.outcomes["FAILED"], overview.steps[-1].run, overview.waiting[0].due
"""

from jobu.stats.depth import QueueDepth, waiting
from jobu.stats.history import HandlerStats, History, Percentiles, Step, read_history
from jobu.stats.overview import Overview, read_overview
from jobu.stats.present import ProcessState, Tick, next_ticks, read_processes
from jobu.stats.ranges import Range
from jobu.stats.summarize import summarize

__all__ = [
    "HandlerStats",
    "History",
    "Overview",
    "Percentiles",
    "ProcessState",
    "QueueDepth",
    "Range",
    "Step",
    "Tick",
    "next_ticks",
    "read_history",
    "read_overview",
    "read_processes",
    "summarize",
    "waiting",
]
