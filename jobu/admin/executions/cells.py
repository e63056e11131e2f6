"""The state of an execution at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils.html import format_html
from django.utils.translation import gettext as _

from jobu.admin.shared.words import duration, relative
from jobu.outcomes import Status

if TYPE_CHECKING:
    from datetime import datetime

    from django.utils.safestring import SafeString

    from jobu.models import JobExecution

_LONGEST_BAR = 10**15
_LONGEST_NOTE = 500


def badge(kind: str, text: str) -> SafeString:
    """Show a word in the colour of a kind: a status, or `retrying`, `later`, `stopping`."""
    return format_html('<span class="jobu-badge jobu-{}">{}</span>', kind, text)


def execution_badge(execution: JobExecution, now: datetime) -> SafeString:
    return badge(*_kind_and_text(execution, now))


def status_badge(status: str) -> SafeString:
    """Show a status alone, such as that of an attempt; it may be none that we know."""
    known = status in Status.values
    return badge(status.lower(), str(Status(status).label)) if known else badge("", status)


def waited_seconds(execution: JobExecution, now: datetime) -> float | None:
    """Return how long it was, or is, claimable and not running; None if it is not due yet."""
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
    """Show how far a handler says it is; it may have said anything."""
    if not isinstance(progress, dict) or not _is_number(progress.get("done")):
        return ""
    done, total, note = (
        progress["done"],
        progress.get("total"),
        str(progress.get("note") or "")[:_LONGEST_NOTE],
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


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LONGEST_BAR
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
