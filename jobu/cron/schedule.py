"""Schedule: the wall times that a cron expression names, whatever the zone."""

from __future__ import annotations

from bisect import bisect_left
from calendar import monthrange
from dataclasses import dataclass
from datetime import MAXYEAR, date, datetime, time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LAST = -1
"""Stands for the last day of a month, or the last such weekday in it."""

_LONGEST_WAIT_YEARS = 41
"""29 February on a given weekday comes after 40 years at the latest, as around 2100."""


@dataclass(frozen=True, slots=True)
class Schedule:
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    month_days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    """Sunday is 0."""
    nth_weekdays: frozenset[tuple[int, int]]
    """Such as (1, 2), the second Monday, or (5, LAST)."""
    both_days: bool
    """Must a day match both day fields, or is one enough?"""
    follows_elapsed_time: bool
    """Debian's wildcard jobs, which take no notice of clock changes."""

    def next_wall(self, start: datetime) -> datetime | None:
        """Return the first wall time at or after a whole minute, None if none comes."""
        today = start.date()
        for day in self.days_from(today):
            begin = start.time() if day == today else time.min
            moment = self._time_from(begin.hour, begin.minute)
            if moment is not None:
                return datetime.combine(day, moment)
        return None

    def days_from(self, start: date) -> Iterator[date]:
        """Iterate over the days that match, from `start` on; not for ever, as none may come."""
        year, month, first = start.year, start.month, start.day
        while year <= min(start.year + _LONGEST_WAIT_YEARS, MAXYEAR):
            if month in self.months:
                for day in self._month_days_from(year, month, first):
                    yield date(year, month, day)
            year, month, first = (year + 1, 1, 1) if month == 12 else (year, month + 1, 1)

    def _month_days_from(self, year: int, month: int, first: int) -> Iterator[int]:
        weekday_before, length = monthrange(year, month)
        for day in range(first, length + 1):
            weekday = (weekday_before + day) % 7
            in_month = day in self.month_days or (day == length and LAST in self.month_days)
            in_week = (
                weekday in self.weekdays
                or (weekday, (day + 6) // 7) in self.nth_weekdays
                or (day + 7 > length and (weekday, LAST) in self.nth_weekdays)
            )
            if (in_month and in_week) if self.both_days else (in_month or in_week):
                yield day

    def _time_from(self, hour: int, minute: int) -> time | None:
        at = bisect_left(self.hours, hour)
        if at < len(self.hours) and self.hours[at] == hour:
            past = bisect_left(self.minutes, minute)
            if past < len(self.minutes):
                return time(hour, self.minutes[past])
            at += 1
        return time(self.hours[at], self.minutes[0]) if at < len(self.hours) else None
