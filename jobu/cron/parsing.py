"""Read a cron expression: croniter expands each field, and refusals say which one and why."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn

from croniter import CroniterError, croniter

from jobu.cron.schedule import LAST, Schedule

ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}


@dataclass(frozen=True)
class Field:
    title: str
    low: int
    high: int
    usage: str
    names: tuple[str, ...] = ()


FIELDS = (
    Field("minute", 0, 59, "0-59, such as '30', '0,45' or '*/15'"),
    Field("hour", 0, 23, "0-23, such as '6', '9-17' or '*/2'"),
    Field("day-of-month", 1, 31, "1-31 or L for the last day, such as '1', '1,15' or 'L'"),
    Field(
        "month",
        1,
        12,
        "1-12 or jan-dec, such as '*', '1,7' or 'jan-mar'",
        ("", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    ),
    Field(
        "day-of-week",
        0,
        6,
        "0-7 or sun-sat, such as 'mon-fri', '1#2' (second Monday) or 'L5' (last Friday)",
        ("sun", "mon", "tue", "wed", "thu", "fri", "sat"),
    ),
)
_MINUTE, _HOUR, _DAY, _MONTH, _WEEKDAY = range(5)

_HASH = re.compile(r"(?<![a-z])h(?![a-z])", re.IGNORECASE)
_HASHED = re.compile(r"h(?:\((?P<low>\d+)-(?P<high>\d+)\))?(?:/(?P<step>\d+))?")
_RANGE = re.compile(r"(?P<low>\w+)-(?P<high>\w+)(?P<step>/\d+)?(#\d)?")
_FOREIGN = (
    (re.compile(r"[^a-z0-9*,/#?()-]"), "has a character that no cron expression has"),
    (re.compile(r"\d{5}"), "has a number that is too long"),
    (re.compile(r".{300}"), "is too long"),
    (re.compile(r"(?<![a-z])r(?![a-z])"), "is random (R), but every process must find the same"),
    (re.compile(r"^w\d|\dw"), "uses W, which is not supported"),
)


def parse(expression: str, seed: str = "") -> Schedule:
    """Return what an expression names, or raise ValueError with words for whoever wrote it."""
    # Only H makes a difference between seeds; without it, the crons of a table share one entry.
    return _parse(expression, seed if _HASH.search(expression) else "")


def fields_of(expression: str) -> list[str]:
    """Split an expression into its five fields, aliases such as `@daily` included."""
    text = expression.strip()
    if text.startswith("@") and text.lower() not in ALIASES:
        reason = "is no time" if text.lower() == "@reboot" else "is no alias"
        _refuse(expression, f"{quoted(text)} {reason}; use {', '.join(ALIASES)} or five fields")
    fields = ALIASES.get(text.lower(), text).split()
    if len(fields) != 5:
        finest = "; seconds and years are not supported" if len(fields) in (6, 7) else ""
        raise ValueError(
            f"{quoted(expression)} needs five fields, but has {len(fields)}{finest}: "
            "minute hour day-of-month month day-of-week, such as '30 6 * * mon-fri'"
        )
    return fields


def quoted(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:77]}...")


@lru_cache(maxsize=4096)
def _parse(expression: str, seed: str) -> Schedule:
    texts = fields_of(expression)
    try:
        values, nth = zip(
            *(_expand(i, text.lower(), seed) for i, text in enumerate(texts)), strict=True
        )
    except _FieldError as error:
        field, text = FIELDS[error.index], texts[error.index]
        _refuse(
            expression,
            f"its {field.title} field {quoted(text)} {error.reason}; use {field.usage}",
        )
    return Schedule(
        minutes=tuple(sorted(values[_MINUTE])),
        hours=tuple(sorted(values[_HOUR])),
        month_days=values[_DAY],
        months=values[_MONTH],
        weekdays=values[_WEEKDAY] if not nth[_WEEKDAY] else frozenset(),
        nth_weekdays=nth[_WEEKDAY],
        both_days=any(texts[i].startswith(("*", "?")) for i in (_DAY, _WEEKDAY)),
        follows_elapsed_time=any(texts[i].startswith("*") for i in (_MINUTE, _HOUR)),
    )


class _FieldError(Exception):
    def __init__(self, index: int, reason: str) -> None:
        self.index = index
        self.reason = reason


def _refuse(expression: str, reason: str) -> NoReturn:
    raise ValueError(f"{quoted(expression)} is not a cron expression: {reason}") from None


def _expand(index: int, text: str, seed: str) -> tuple[frozenset[int], frozenset[tuple[int, int]]]:
    """Return the values of one field, and the pairs of a day-of-week field such as `1#2`."""
    everything = frozenset(range(FIELDS[index].low, FIELDS[index].high + 1))
    if text == "*":
        return everything, frozenset()
    for pattern, reason in _FOREIGN:
        if pattern.search(text):
            raise _FieldError(index, reason)
    if text == "h" and index == _DAY:
        # A day that every month has: croniter would leave out months by the luck of the name.
        text = "h(1-28)"
    # Beside a `*`, croniter takes the 31 values of `2-31,L` for every day.
    probe = ["0", "0", "1", "1", "0"]
    probe[index] = text
    try:
        expanded, nth = croniter.expand(
            " ".join(probe), hash_id=seed.encode("utf-8", "backslashreplace")
        )
    except (CroniterError, ValueError):
        raise _FieldError(index, "is not valid") from None
    for item in text.split(","):
        _check_hash(index, item)
        _check_range(index, item)
    values = set(expanded[index])
    if nth and values != set(nth):
        raise _FieldError(index, "mixes days with and without a place in the month")
    pairs = {(day, LAST if n == "l" else n) for day, places in nth.items() for n in places}
    if "*" in values:
        return everything, frozenset(pairs)
    return frozenset(LAST if value == "l" else value for value in values), frozenset(pairs)


def _check_hash(index: int, item: str) -> None:
    """Refuse an H that croniter accepts or not, or widens, by the luck of the seed."""
    found = _HASHED.fullmatch(item)
    if found is None:
        return
    field = FIELDS[index]
    low, high = int(found["low"] or field.low), int(found["high"] or field.high)
    if low < field.low or high > field.high:
        raise _FieldError(index, "is not valid")
    if found["step"] and int(found["step"]) > high - low:
        raise _FieldError(index, f"has a step beyond {low}-{high}")


def _check_range(index: int, item: str) -> None:
    """Refuse the ranges that croniter reads in a way of its own."""
    found = _RANGE.fullmatch(item)
    if found is None:
        return
    names = FIELDS[index].names
    low, high = (
        names.index(end) if end in names else FIELDS[index].high if end == "l" else int(end)
        for end in (found["low"], found["high"])
    )
    if low == high or (index == _WEEKDAY and (low, high) == (7, 0)):
        raise _FieldError(index, "is a range from a value to itself")
    if low > high and found["step"]:
        raise _FieldError(index, "is a range backwards with a step")
