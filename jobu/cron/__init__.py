"""Cron expressions: when they come, what is wrong with them, how they read.

Pure: no database, no clock. croniter reads the fields; what they mean when clocks change is Debian
cron's rule, and is decided in `jobu.cron.ticks`.
"""

from __future__ import annotations

from jobu.cron.preview import preview
from jobu.cron.problems import problem_with_expression
from jobu.cron.ticks import latest_time, next_times, ticks_between
from jobu.cron.words import describe
from jobu.cron.zones import problem_with_timezone

__all__ = [
    "describe",
    "latest_time",
    "next_times",
    "preview",
    "problem_with_expression",
    "problem_with_timezone",
    "ticks_between",
]
