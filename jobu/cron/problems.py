"""Say what is wrong with a cron expression, to the person who wrote it."""

from __future__ import annotations

from datetime import date
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

from jobu.cron.parsing import fields_of, parse, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jobu.cron.schedule import Schedule

_HOUR = 60
_DAY = 24 * _HOUR
_SPACED = {
    **{n: f"*/{n} * * * *" for n in (2, 3, 4, 5, 6, 10, 12, 15, 20, 30)},
    _HOUR: "0 * * * *",
    **{n * _HOUR: f"0 */{n} * * *" for n in (2, 3, 4, 6, 8, 12)},
    _DAY: "0 0 * * *",
    7 * _DAY: "0 0 * * 0",
    28 * _DAY: "0 0 1 * *",
}


def problem_with_expression(
    expression: str, *, min_interval_seconds: float = 60, seed: str = ""
) -> str | None:
    """Say which field of a cron expression is wrong, with a correct example, or None.

    The interval is what clocks show between two ticks anywhere in the calendar; `seed` is what `H`
    is derived from.
    """
    try:
        schedule = parse(expression, seed)
    except ValueError as error:
        return str(error)
    if next(_days(schedule), None) is None:
        _, _, day, month, weekday = fields_of(expression)
        return (
            f"{quoted(expression)} can never fire: its day-of-month field {quoted(day)}, month "
            f"field {quoted(month)} and day-of-week field {quoted(weekday)} have no day in common; "
            "use a day that comes, such as '0 0 28 2 *' or '0 0 L * *'"
        )
    interval = _shortest_interval(schedule, min_interval_seconds / 60)
    if interval * 60 >= min_interval_seconds:
        return None
    field = "minute" if interval < _HOUR else "hour" if interval < _DAY else "day-of-month or -week"
    example = next((e for n, e in _SPACED.items() if n * 60 >= min_interval_seconds), "0 0 1 1 *")
    return (
        f"{quoted(expression)} fires too often: its {field} field has ticks {interval * 60:.0f} "
        f"seconds apart, but {min_interval_seconds:.0f} is the least; use an expression such as "
        f"{example!r}"
    )


def _shortest_interval(schedule: Schedule, wanted: float) -> float:
    """Return the minutes between the two closest ticks, or any number that is at least `wanted`."""
    times = [_HOUR * hour + minute for hour in schedule.hours for minute in schedule.minutes]
    shortest = min((late - early for early, late in pairwise(times)), default=float("inf"))
    overnight = times[0] + _DAY - times[-1]
    if overnight >= min(wanted, shortest):
        return min(overnight, shortest)
    days = pairwise(_days(schedule))
    for apart in ((late - early).days for early, late in days):
        shortest = min(shortest, overnight + (apart - 1) * _DAY)
        if apart == 1:
            break
    return shortest


def _days(schedule: Schedule) -> Iterator[date]:
    """Iterate over the days of enough years to hold every kind of year, and of its neighbours."""
    return takewhile(lambda day: day.year <= 2028, schedule.days_from(date(2000, 1, 1)))
