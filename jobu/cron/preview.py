"""The next times of a cron expression as a person wants to see them, clock changes marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobu.cron.parsing import parse
from jobu.cron.ticks import next_times
from jobu.cron.zones import change_between, wall_of, zone_named

if TYPE_CHECKING:
    from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class ClockChange:
    """When clocks change, in the zone as it is from then on; and by how much."""

    at: datetime
    by: timedelta


@dataclass(frozen=True, slots=True)
class Tick:
    """A time to come, in the schedule's zone.

    `change` is the clock change since the one before. `is_moved` if clocks skip the time that the
    expression names, so that it comes right after the gap.
    """

    at: datetime
    change: ClockChange | None
    is_moved: bool


def preview(
    expression: str, timezone: str, after: datetime, count: int, *, seed: str = ""
) -> list[Tick]:
    """Return the next ticks; the expression and the zone must be valid."""
    zone, schedule = zone_named(timezone), parse(expression, seed)
    ticks: list[Tick] = []
    before = after
    for tick in next_times(expression, timezone, after, count, seed=seed):
        old, new = before.astimezone(zone).utcoffset(), tick.astimezone(zone).utcoffset()
        change = None
        if old is not None and new is not None and old != new:
            change = ClockChange(change_between(before, tick, zone).astimezone(zone), new - old)
        wall = wall_of(tick, zone)
        ticks.append(Tick(tick.astimezone(zone), change, schedule.next_wall(wall) != wall))
        before = tick
    return ticks
