"""What failed for good, grouped by handler, exception and message.

Numbers, ids and quoted values are taken out of a message, so that failures for one reason are one
group. No column has the group: the newest dead executions are read and grouped here, up to a limit.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from django.db.models.functions import Left

from jobu.models import JobExecution

if TYPE_CHECKING:
    from datetime import datetime

LOOKED_AT = 5_000
"""How many of the newest dead executions are looked at."""
_READ_LENGTH = 400
_GONE = "…"
# As Python writes an exception: its dotted name, then a colon.
_EXCEPTION = re.compile(r"([A-Za-z_]\w*(?:\.\w+)*)(?::\s|\s*$)")
_QUOTED = re.compile(r"""(?<!\w)(?:'[^']*'|"[^"]*"|`[^`]*`)(?!\w)""")
# A word with a digit in it; without going back, so that no text takes long.
_NUMBERED = re.compile(r"(?<![\w-])(?:[^\W\d]|-)*+\d[\w-]*+")
_SEVERAL_GONE = re.compile(rf"{_GONE}(?:[.,:/+-]*{_GONE})+")


class Reason(NamedTuple):
    """Why something failed; the exception is empty if the message names none."""

    exception: str
    message: str


@dataclass(slots=True)
class FailureGroup:
    """The dead executions of one handler that failed for one reason."""

    key: str
    handler_name: str
    reason: Reason
    count: int
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Failures:
    """The groups, the largest first; if `is_cut`, older executions failed that are not in them."""

    groups: list[FailureGroup]
    count: int
    is_cut: bool


class _Dead(NamedTuple):
    id: int
    handler_name: str
    finished_at: datetime
    error: str


def read_failures(*, since: datetime | None = None, handler_name: str = "") -> Failures:
    """Group what failed for good since a time; all of it, if there is none."""
    rows, is_cut = _newest(since)
    groups: dict[str, FailureGroup] = {}
    for row in rows:
        if handler_name and row.handler_name != handler_name:
            continue
        reason = reason_of(row.error)
        key = _key(row.handler_name, reason)
        group = groups.get(key)
        if group is None:
            at = row.finished_at
            group = groups[key] = FailureGroup(key, row.handler_name, reason, 0, at, at)
        group.count += 1
        group.first_at = min(group.first_at, row.finished_at)
        group.last_at = max(group.last_at, row.finished_at)
    found = sorted(groups.values(), key=lambda each: (each.count, each.last_at), reverse=True)
    return Failures(found, sum(each.count for each in found), is_cut)


def ids_of_failure(key: str, *, since: datetime | None = None) -> list[int]:
    """Return the executions of a group, the newest first, among those that are looked at."""
    rows, _ = _newest(since)
    return [row.id for row in rows if failure_key(row.handler_name, row.error) == key]


def failure_key(handler_name: str, error: str) -> str:
    """Return a short name of the group that an execution with this error belongs to."""
    return _key(handler_name, reason_of(error))


@lru_cache(maxsize=1_000)
def _key(handler_name: str, reason: Reason) -> str:
    text = "\0".join((handler_name, *reason))
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]


def reason_of(error: str) -> Reason:
    """Split an error into its exception and its message, without what differs from case to case."""
    text = " ".join(error[:_READ_LENGTH].split())
    found = _EXCEPTION.match(text)
    exception = found[1] if found else ""
    message = _QUOTED.sub(_GONE, text[found.end() :] if found else text)
    message = _NUMBERED.sub(_GONE, message)
    return Reason(exception, _SEVERAL_GONE.sub(_GONE, message))


def _newest(since: datetime | None) -> tuple[list[_Dead], bool]:
    """Read the newest dead executions, without those that ended before `since`."""
    dead = JobExecution.objects.dead().order_by("-id")
    short = dead.annotate(error=Left("error_message", _READ_LENGTH))
    found = short.values_list("id", "handler_name", "finished_at", "error")[: LOOKED_AT + 1]
    # All of them have a time: a constraint says so.
    rows = [_Dead(pk, name, at, error) for pk, name, at, error in found if at is not None]
    is_cut = len(rows) > LOOKED_AT
    rows = rows[:LOOKED_AT]
    if since is None:
        return rows, is_cut
    # Nothing is missing if the oldest of them ended before.
    is_cut = is_cut and rows[-1].finished_at >= since
    return [row for row in rows if row.finished_at >= since], is_cut
