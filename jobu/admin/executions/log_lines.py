"""The log lines of an execution: page by page, from a level on, and those that come meanwhile."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.views.decorators.http import require_GET

from jobu.admin.shared.addresses import id_of
from jobu.models import JobExecution

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

    from jobu.admin.shared.base import JobuAdmin
    from jobu.models import LogLine

_PAGE = 200
_MAX_LENGTH = 100_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LEVELS = (logging.INFO, logging.WARNING, logging.ERROR)
# The part of the page that has the lines.
_PLACE = "#jobu-log"


@require_GET
def lines_view(request: HttpRequest, admin: JobuAdmin, pk: int) -> HttpResponse:
    """Return the rows that come after a line; a script adds them to the page."""
    if not admin.has_view_permission(request):
        raise PermissionDenied
    execution = get_object_or_404(JobExecution.objects.only("id"), pk=pk)
    context = {"lines": page_of_lines(request, execution)["lines"]}
    return HttpResponse(render_to_string("admin/jobu/jobexecution/lines.html", context))


def page_of_lines(request: HttpRequest, execution: JobExecution) -> dict[str, Any]:
    """Return the last lines, or those before or after the line that the address names."""
    level = id_of(request.GET.get("level", "")) or 0
    rows = in_order(execution)
    if level:
        rows = rows.filter(level__gte=min(level, 32_767))
    before, after = (_place_in(request, name) for name in ("before", "after"))
    if after is not None:
        lines, has_later = _cut(rows.filter(_later_than(*after)))
        has_earlier = True
    else:
        found = rows if before is None else rows.exclude(_later_than(*before)).exclude(_is(*before))
        lines, has_earlier = _cut(found.reverse())
        lines.reverse()
        has_later = before is not None
    chosen = f"level={level}&" if level else ""
    return {
        "lines": [(line, cursor_of(line)) for line in lines],
        "lines_level": level,
        "lines_levels": [(0, "")] + [(each, logging.getLevelName(each)) for each in _LEVELS],
        "lines_earlier": f"?{chosen}before={cursor_of(lines[0])}{_PLACE}"
        if lines and has_earlier
        else "",
        "lines_later": f"?{chosen}after={cursor_of(lines[-1])}{_PLACE}"
        if lines and has_later
        else "",
        "lines_last": f"?{chosen[:-1]}{_PLACE}" if has_later else "",
        "lines_follow": not execution.is_finished and not has_later,
    }


def in_order(execution: JobExecution) -> QuerySet[LogLine]:
    return execution.log_lines.order_by("attempt", "logged_at")


def log_text(line: LogLine) -> str:
    moment = line.logged_at.isoformat()
    return f"{line.attempt} {moment} {line.level_name} {line.logger}: {line.message}\n"


def cursor_of(line: LogLine) -> str:
    """Return the place of a line: its attempt, and its time in microseconds."""
    return f"{line.attempt}.{(line.logged_at - _EPOCH) // timedelta(microseconds=1)}"


def _place_in(request: HttpRequest, name: str) -> tuple[int, datetime] | None:
    attempt, _, time = request.GET.get(name, "").partition(".")
    number, microseconds = id_of(attempt), id_of(time)
    if number is None or microseconds is None or number > 2**31 - 1:
        return None
    try:
        return number, _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return None


def _later_than(attempt: int, logged_at: datetime) -> Q:
    return Q(attempt__gt=attempt) | Q(attempt=attempt, logged_at__gt=logged_at)


def _is(attempt: int, logged_at: datetime) -> Q:
    return Q(attempt=attempt, logged_at=logged_at)


def _cut(rows: QuerySet[LogLine]) -> tuple[list[LogLine], bool]:
    """Read one page of lines; tell whether there are more."""
    lines: list[LogLine] = []
    room = _MAX_LENGTH
    for line in rows[: _PAGE + 1]:
        room -= len(line.message)
        if len(lines) == _PAGE or (lines and room < 0):
            return lines, True
        lines.append(line)
    return lines, False
