"""The instants at which a cron expression fires in a zone, clock changes included.

Debian's cron decides. A job with a fixed time fires once for each wall time that it names: right
after the gap if clocks skip it, at its first occurrence if they repeat it. A job whose minute or
hour field starts with `*` follows elapsed time: it fires whenever clocks show a matching time.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from jobu.cron.parsing import parse
from jobu.cron.zones import change_between, end_of_gap, instants_of, wall_of, zone_named

if TYPE_CHECKING:
    from collections.abc import Iterator
    from zoneinfo import ZoneInfo

    from jobu.cron.schedule import Schedule

_MINUTE = timedelta(minutes=1)


def next_times(
    expression: str, timezone: str, after: datetime, count: int, *, seed: str = ""
) -> list[datetime]:
    """Return the next `count` ticks strictly after an instant, in UTC; fewer if the calendar ends.

    `seed` is what `H` in the expression is derived from: the cron's name.
    """
    return list(islice(_ticks(expression, timezone, after, seed), max(count, 0)))


def ticks_between(
    expression: str,
    timezone: str,
    after: datetime,
    until: datetime,
    *,
    seed: str = "",
    limit: int,
) -> list[datetime]:
    """Return the first `limit` ticks after one instant, up to and including another."""
    ticks = takewhile(lambda tick: tick <= until, _ticks(expression, timezone, after, seed))
    return list(islice(ticks, max(limit, 0)))


def latest_time(
    expression: str, timezone: str, after: datetime, until: datetime, *, seed: str = ""
) -> datetime | None:
    """Return the newest tick of `ticks_between`, without listing those before it."""

    def first_after(instant: datetime) -> datetime | None:
        tick = next(_ticks(expression, timezone, instant, seed), None)
        return None if tick is None or tick > until else tick

    latest, end = first_after(after), until
    while latest is not None and end - latest > _MINUTE:
        middle = latest + (end - latest) / 2
        tick = first_after(middle)
        if tick is None:
            end = middle
        else:
            latest = tick
    return latest and (first_after(latest) or latest)


def _ticks(expression: str, timezone: str, after: datetime, seed: str) -> Iterator[datetime]:
    schedule, zone = parse(expression, seed), zone_named(timezone)
    if after.tzinfo is None:
        raise ValueError(f"{after!r} needs a time zone to be an instant")
    next_tick = _next_elapsed if schedule.follows_elapsed_time else _next_fixed
    tick: datetime | None = after.astimezone(UTC)
    while tick is not None:
        try:
            tick = next_tick(schedule, zone, tick)
        except OverflowError:
            # The year 9999 ends in UTC and in the zone at different times.
            return
        if tick is not None:
            yield tick


def _next_fixed(schedule: Schedule, zone: ZoneInfo, after: datetime) -> datetime | None:
    wall: datetime | None = wall_of(after, zone)
    while wall is not None:
        wall = schedule.next_wall(_minute_after(wall))
        if wall is not None:
            shown = instants_of(wall, zone)
            tick = shown[0] if shown else end_of_gap(wall, zone)
            if tick > after:
                return tick
    return None


def _next_elapsed(schedule: Schedule, zone: ZoneInfo, after: datetime) -> datetime | None:
    now = wall_of(after, zone)
    going_on = _next_going_on(schedule, zone, after, now)
    again = instants_of(now, zone)[-1]
    if again <= after:
        return going_on
    # Clocks are about to go back behind `now`: what matches in between comes once more.
    change = change_between(after, again, zone)
    wall = schedule.next_wall(_minute_from(wall_of(change, zone)))
    if wall is None or going_on is None or wall > now:
        return going_on
    return min(going_on, instants_of(wall, zone)[-1])


def _next_going_on(
    schedule: Schedule, zone: ZoneInfo, after: datetime, now: datetime
) -> datetime | None:
    """Find the next tick whose wall time is later than now's."""
    wall = schedule.next_wall(_minute_after(now))
    while wall is not None:
        for instant in instants_of(wall, zone):
            if instant > after:
                return instant
        wall = schedule.next_wall(_minute_from(wall_of(end_of_gap(wall, zone), zone)))
    return None


def _minute_after(wall: datetime) -> datetime:
    return wall.replace(second=0, microsecond=0) + _MINUTE


def _minute_from(wall: datetime) -> datetime:
    return _minute_after(wall - timedelta(microseconds=1))
