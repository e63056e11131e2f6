"""Time zones: which instants a zone's clocks show as a wall time, and when they change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def problem_with_timezone(name: str) -> str | None:
    """Say what is wrong with a time zone's name, or None."""
    try:
        zone_named(name)
    except ValueError as error:
        return str(error)
    return None


def zone_named(name: str) -> ZoneInfo:
    """Return the zone, or raise ValueError with words for whoever named it."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(
            f"{name!r} is not a time zone; use a name such as 'Europe/Berlin' or 'UTC'"
        ) from None


def wall_of(instant: datetime, zone: ZoneInfo) -> datetime:
    """Return what the zone's clocks show, as a naive datetime."""
    return instant.astimezone(zone).replace(tzinfo=None)


def instants_of(wall: datetime, zone: ZoneInfo) -> list[datetime]:
    """Return the UTC instants that show a wall time: none if it is skipped, two if repeated."""
    before, after = _with_either_offset(wall, zone)
    if before == after:
        return [before]
    return [before, after] if before < after else []


def end_of_gap(wall: datetime, zone: ZoneInfo) -> datetime:
    """Return the instant at which the clocks jumped over a skipped wall time."""
    before, after = _with_either_offset(wall, zone)
    return change_between(after, before, zone)


def change_between(early: datetime, late: datetime, zone: ZoneInfo) -> datetime:
    """Return the instant after `early`, at `late` at the latest, of the one clock change there."""
    # Changes come at whole seconds.
    early, late = early.replace(microsecond=0), late.replace(microsecond=0)
    offset = early.astimezone(zone).utcoffset()
    low, high = 0, int((late - early).total_seconds())
    while high - low > 1:
        middle = (low + high) // 2
        unchanged = (early + timedelta(seconds=middle)).astimezone(zone).utcoffset() == offset
        low, high = (middle, high) if unchanged else (low, middle)
    return early + timedelta(seconds=high)


def _with_either_offset(wall: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Read a wall time with the offset before and the one after a clock change (PEP 495)."""
    return (
        wall.replace(tzinfo=zone, fold=0).astimezone(UTC),
        wall.replace(tzinfo=zone, fold=1).astimezone(UTC),
    )
