"""What changes by itself while a page is open: the cells of unfinished executions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.utils.html import format_html, format_html_join
from django.views.decorators.http import require_GET

from jobu.admin.executions.cells import (
    execution_badge,
    progress_bar,
    ran_seconds,
    seconds_html,
    waited_seconds,
)
from jobu.admin.shared.addresses import ids_of
from jobu.dialects import DatabaseNow
from jobu.models import JobExecution
from jobu.outcomes import Status

if TYPE_CHECKING:
    from datetime import datetime

    from django.contrib.admin import ModelAdmin
    from django.http import HttpRequest
    from django.utils.safestring import SafeString

_MOST = 200
_COLUMNS = (
    "id",
    "status",
    "retry_count",
    "max_retry",
    "available_at",
    "started_at",
    "finished_at",
    "cancel_requested",
    "progress",
)


def state_cell(execution: JobExecution, now: datetime) -> SafeString:
    bar = progress_bar(execution.progress) if execution.status == Status.RUNNING else ""
    return _cell(execution, "state", format_html("{} {}", execution_badge(execution, now), bar))


def waited_cell(execution: JobExecution, now: datetime) -> SafeString:
    return _cell(execution, "waited", seconds_html(waited_seconds(execution, now)))


def ran_cell(execution: JobExecution, now: datetime) -> SafeString:
    return _cell(execution, "ran", seconds_html(ran_seconds(execution, now)))


@require_GET
def live_view(request: HttpRequest, admin: ModelAdmin[Any]) -> HttpResponse:
    """Return the cells of the executions asked for; a script puts them in the old ones' place."""
    if not admin.has_view_permission(request):
        raise PermissionDenied
    ids = ids_of(request.GET.getlist("id")[:_MOST])
    rows: Any = JobExecution.objects.filter(pk__in=ids).annotate(now=DatabaseNow()).only(*_COLUMNS)
    cells = [cell(row, row.now) for row in rows for cell in (state_cell, waited_cell, ran_cell)]
    return HttpResponse(format_html_join("", "{}", ((cell,) for cell in cells)))


def _cell(execution: JobExecution, name: str, content: str) -> SafeString:
    """Mark what is not finished as what the script asks for again."""
    return format_html(
        '<span id="jobu-{}-{}"{}>{}</span>',
        name,
        execution.pk,
        "" if execution.is_finished else format_html(' data-jobu-live="{}"', execution.pk),
        content,
    )
