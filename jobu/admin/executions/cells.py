"""The cells of an execution: its state, how long it waited, how long it ran.

Cells of unfinished executions change while a page is open; a script asks for them again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from jobu.admin.shared.addresses import ids_of
from jobu.admin.shared.words import badge, duration, relative
from jobu.dialects import DatabaseNow
from jobu.models import JobExecution
from jobu.outcomes import Status
from jobu.reading import Waits

if TYPE_CHECKING:
    from datetime import datetime

    from django.http import HttpRequest
    from django.utils.safestring import SafeString

    from jobu.admin.shared.base import JobuAdmin

_MAX_IDS = 200
_COLUMNS = (
    "id",
    "status",
    "handler_name",
    "queue",
    "priority",
    "retry_count",
    "max_retry",
    "available_at",
    "started_at",
    "finished_at",
    "cancel_requested",
    "progress",
)
_MAX_NUMBER = 10**15
_MAX_NOTE_LENGTH = 500


def state_cell(execution: JobExecution, now: datetime, waits: Waits | None = None) -> SafeString:
    """Show the badge, how far it is, and, with `waits`, what it waits for."""
    bar = progress_bar(execution.progress) if execution.status == Status.RUNNING else ""
    why = "" if waits is None else _why(execution, now, waits)
    content = format_html("{} {}{}", execution_badge(execution, now), bar, why)
    return _cell(execution, "state", content)


def waited_cell(execution: JobExecution, now: datetime) -> SafeString:
    return _cell(execution, "waited", seconds_html(waited_seconds(execution, now)))


def ran_cell(execution: JobExecution, now: datetime) -> SafeString:
    return _cell(execution, "ran", seconds_html(ran_seconds(execution, now)))


@require_GET
def live_view(request: HttpRequest, admin: JobuAdmin) -> HttpResponse:
    """Return the cells of these executions; a script replaces the old cells by them."""
    if not admin.has_view_permission(request):
        raise PermissionDenied
    ids = ids_of(request.GET.getlist("id")[:_MAX_IDS])
    rows: Any = JobExecution.objects.filter(pk__in=ids).annotate(now=DatabaseNow()).only(*_COLUMNS)
    # The page of one execution says it at length elsewhere.
    waits = Waits() if "why" in request.GET else None
    cells = [
        cell
        for row in rows
        for cell in (
            state_cell(row, row.now, waits),
            waited_cell(row, row.now),
            ran_cell(row, row.now),
        )
    ]
    return HttpResponse(format_html_join("", "{}", ((cell,) for cell in cells)))


def _why(execution: JobExecution, now: datetime, waits: Waits) -> SafeString | str:
    """Show what it waits for where its badge does not say it: when it is due, the badge does."""
    reasons = waits.reasons(execution, now, in_detail=False)
    if not (shown := [each for each in reasons if each.is_stuck or each.code == "busy"]):
        return ""
    kind = "jobu-why" if any(each.is_stuck for each in shown) else "jobu-quiet"
    text = " ".join(each.text for each in shown)
    return format_html('<span class="jobu-waits {}" title="{}">{}</span>', kind, text, text)


def execution_badge(execution: JobExecution, now: datetime) -> SafeString:
    return badge(*_kind_and_text(execution, now))


def status_badge(status: str) -> SafeString:
    """Show the status of an attempt, even one that jobu does not know."""
    known = status in Status.values
    return badge(status.lower(), str(Status(status).label)) if known else badge("", status)


def waited_seconds(execution: JobExecution, now: datetime) -> float | None:
    """Return how long it could be claimed before it ran; None if it is not due yet."""
    until = execution.started_at or execution.finished_at or now
    seconds = (until - execution.available_at).total_seconds()
    return seconds if seconds >= 0 else None


def ran_seconds(execution: JobExecution, now: datetime) -> float | None:
    if execution.started_at is None:
        return None
    until = execution.finished_at or now
    return max(0.0, (until - execution.started_at).total_seconds())


def seconds_html(seconds: float | None) -> str:
    return "–" if seconds is None else duration(seconds)


def progress_bar(progress: Any) -> SafeString | str:
    """Show the progress that a handler reported, whatever it reported."""
    if not isinstance(progress, dict) or not _is_number(progress.get("done")):
        return ""
    done, total, note = (
        progress["done"],
        progress.get("total"),
        str(progress.get("note") or "")[:_MAX_NOTE_LENGTH],
    )
    if total is None or not _is_number(total) or total <= 0:
        return format_html(
            '<span class="jobu-progress"><progress></progress> <small>{} {}</small></span>',
            f"{done:g}",
            note,
        )
    share = max(0.0, min(done / total, 1.0))
    return format_html(
        '<span class="jobu-progress"><progress max="100" value="{}"></progress> '
        "<small>{} / {} {}</small></span>",
        f"{share * 100:.1f}",
        f"{done:g}",
        f"{total:g}",
        note,
    )


def _cell(execution: JobExecution, name: str, content: str) -> SafeString:
    """Mark the cell of an unfinished execution, so that the script asks for it again."""
    return format_html(
        '<span id="jobu-{}-{}"{}>{}</span>',
        name,
        execution.pk,
        "" if execution.is_finished else format_html(' data-jobu-live="{}"', execution.pk),
        content,
    )


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _MAX_NUMBER
    )


def _kind_and_text(execution: JobExecution, now: datetime) -> tuple[str, str]:
    status = Status(execution.status)
    if status is Status.RUNNING and execution.cancel_requested:
        return "stopping", _("stopping")
    if status is not Status.PENDING:
        return status.value.lower(), str(status.label)
    is_due = execution.available_at <= now
    if execution.retry_count:
        runs = {"run": execution.retry_count + 1, "runs": max(execution.max_retry, 1)}
        text = _("retrying %(run)s/%(runs)s") % runs
        when = _("now") if is_due else relative(execution.available_at, now)
        return "retrying", f"{text}, {when}"
    if not is_due:
        return "later", relative(execution.available_at, now)
    return "pending", str(status.label)
