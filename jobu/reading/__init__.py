"""Reading: what ran, how it ended, what waits, who works; for dashboard, API and metrics.

overview = read_overview(Range.HOUR)
overview.total.outcomes["FAILED"], overview.steps[-1].run, overview.waiting[0].due
"""

from jobu.reading.depth import QueueDepth, waiting
from jobu.reading.failures import FailureGroup, Failures, ids_of_failure, read_failures
from jobu.reading.overview import Overview, read_overview
from jobu.reading.present import ProcessState, Tick, next_ticks, read_processes
from jobu.reading.queues import known_queues
from jobu.reading.ranges import Range
from jobu.reading.summarize import summarize
from jobu.reading.timeline import HandlerStats, Percentiles, Step, Timeline, read_timeline
from jobu.reading.troubles import Trouble, find_troubles, recent_troubles
from jobu.reading.waits import Reason, Waits

__all__ = [
    "FailureGroup",
    "Failures",
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
    "ids_of_failure",
    "known_queues",
    "next_ticks",
    "read_failures",
    "read_overview",
    "read_processes",
    "read_timeline",
    "recent_troubles",
    "summarize",
    "waiting",
]
