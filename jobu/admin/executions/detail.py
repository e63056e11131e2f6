"""One execution: its life as a timeline, what went in, what came out, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from jobu.admin.executions.actions import actions_for
from jobu.admin.executions.cells import (
    execution_badge,
    ran_cell,
    state_cell,
    status_badge,
    waited_cell,
)
from jobu.admin.executions.log_lines import in_order, log_text, page_of_lines
from jobu.admin.shared.excerpts import download, download_json
from jobu.admin.shared.params import shown, shown_excerpt
from jobu.admin.shared.words import duration
from jobu.handlers.registry import handlers
from jobu.jsonable import storable_text
from jobu.models import CronJob, JobExecution, Process
from jobu.outcomes import DEAD, MAX_MESSAGE_LENGTH, MAX_TRACEBACK_LENGTH, Status
from jobu.queue.actions import RETRIABLE
from jobu.reading import Waits
from jobu.reading.failures import failure_key
from jobu.reading.pages import browse

if TYPE_CHECKING:
    from datetime import datetime

    from django.http import HttpRequest, HttpResponse
    from django.utils.safestring import SafeString

    from jobu.admin.shared.base import JobuAdmin

_AROUND = 6
_MAX_ATTEMPTS = 10
_MAX_NAME_LENGTH = 100
# The columns that can be downloaded, by their names in the address.
_COLUMNS = {"params": "params", "result": "result", "attempts": "errors"}


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to the execution."""

    at: datetime | None
    what: str
    badge: SafeString | str = ""
    message: str = ""
    traceback: str = ""
    process: str = ""


def detail_view(request: HttpRequest, admin: JobuAdmin, object_id: str) -> HttpResponse:
    """Show the page; it takes no posts."""
    if request.method not in ("GET", "HEAD") or not admin.has_view_permission(request):
        raise PermissionDenied
    execution: Any = admin.get_object(request, unquote(object_id))
    if execution is None:
        return admin.gone(request, object_id)
    spec = handlers.get(execution.handler_name)
    context = {
        "original": execution,
        "execution": execution,
        "doc": spec.doc if spec else "",
        "is_registered": spec is not None,
        "state": state_cell(execution, execution.now),
        "waits_for": Waits().reasons(execution, execution.now),
        "waited": waited_cell(execution, execution.now),
        "ran": ran_cell(execution, execution.now),
        "timeout": duration(execution.timeout_seconds),
        "why": storable_text(execution.error_message, MAX_MESSAGE_LENGTH),
        "events": timeline(execution),
        "params": shown_excerpt(request, execution.params, execution.handler_name),
        "result": None
        if execution.result is None
        else shown_excerpt(request, execution.result, execution.handler_name),
        **page_of_lines(request, execution),
        "failure": failure_key(execution.handler_name, execution.error_message)
        if execution.status in DEAD
        else "",
        "attempts": _attempts(execution),
        "process": _process(request, admin, execution),
        "may_see_cron": admin.shows(request, CronJob),
        "actions": [a for a in actions_for(request) if execution.status in a.statuses],
        "may_run_again": execution.status == Status.SUCCESS and admin.has_add_permission(request),
        "may_retry_edited": execution.status in RETRIABLE
        and admin.allows(request, "retry_jobexecution"),
        **_around(execution),
    }
    template = "admin/jobu/jobexecution/detail.html"
    return admin.render(request, template, str(execution), context)


def download_view(request: HttpRequest, admin: JobuAdmin, pk: int, name: str) -> HttpResponse:
    """Return the whole of a value; the page shows only its beginning."""
    if request.method not in ("GET", "HEAD") or not admin.has_view_permission(request):
        raise PermissionDenied
    if name == "log":
        execution = get_object_or_404(JobExecution.objects.only("id"), pk=pk)
        return download("".join(map(log_text, in_order(execution))), f"execution-{pk}.log.txt")
    if name not in _COLUMNS:
        raise Http404(name)
    column = _COLUMNS[name]
    execution = get_object_or_404(JobExecution.objects.only(column, "handler_name"), pk=pk)
    value = shown(request, getattr(execution, column), execution.handler_name)
    return download_json(value, f"execution-{pk}.{name}.json")


def _attempts(execution: JobExecution) -> str:
    """Say how many attempts failed of those it has, which a retry by hand gives it anew."""
    failed, allowed = execution.retry_count, max(execution.max_retry, 1)
    text = _("%(failed)s of %(most)s failed") % {"failed": failed, "most": allowed}
    # One that runs, succeeded or was cancelled meanwhile is an attempt that did not fail.
    is_more = execution.status in (Status.RUNNING, Status.SUCCESS, Status.CANCELLED)
    if execution.attempt - is_more > failed:
        return _("%(text)s since it was retried by hand") % {"text": text}
    return text


def timeline(execution: JobExecution) -> list[Event]:
    """Return what happened, in order; the row keeps only the last attempts."""
    events = [Event(execution.created_at, _("Enqueued"))]
    known = [each for each in execution.errors if isinstance(each, dict)]
    if earlier := len(known[:-_MAX_ATTEMPTS]):
        text = ngettext("%s earlier attempt", "%s earlier attempts", earlier) % earlier
        events.append(Event(None, text))
    events += [_failed_attempt(each) for each in known[-_MAX_ATTEMPTS:]]
    if execution.status == Status.PENDING:
        return [*events, Event(execution.available_at, _("Can be claimed from"))]
    is_told = execution.status in (Status.FAILED, Status.TIMEOUT) and bool(known)
    if not is_told:
        events.append(_last_attempt(execution))
    return events


def _failed_attempt(error: dict[str, Any]) -> Event:
    def text(name: str, limit: int) -> str:
        return storable_text(str(error.get(name, "")), limit)

    return Event(
        at=_moment(error.get("at")),
        what=_("Attempt %s") % (text("attempt", _MAX_NAME_LENGTH) or "?"),
        badge=status_badge(text("status", _MAX_NAME_LENGTH)),
        message=text("message", MAX_MESSAGE_LENGTH),
        traceback=text("traceback", MAX_TRACEBACK_LENGTH),
        process=text("process", _MAX_NAME_LENGTH),
    )


def _last_attempt(execution: Any) -> Event:
    return Event(
        at=execution.finished_at or execution.started_at,
        what=_("Attempt %s") % execution.attempt if execution.attempt else _("Ended"),
        badge=execution_badge(execution, execution.now),
        message=storable_text(execution.error_message, MAX_MESSAGE_LENGTH)
        if execution.is_finished
        else "",
        process=str(execution.claimed_by or ""),
    )


def _moment(text: Any) -> datetime | None:
    try:
        return parse_datetime(text) if isinstance(text, str) else None
    except ValueError:
        return None


def _process(request: HttpRequest, admin: JobuAdmin, execution: JobExecution) -> Process | None:
    if execution.claimed_by is None or not admin.shows(request, Process):
        return None
    return Process.objects.filter(pk=execution.claimed_by).first()


def _around(execution: JobExecution) -> dict[str, Any]:
    """Find the runs before and after: of its cron job, or else of its handler."""
    among = None
    if execution.job_id is not None:
        related: Any = JobExecution.objects.of_job(execution.job_id)
    else:
        among = JobExecution.objects.all()
        related = among.filter(handler_name=execution.handler_name)
    related = related.defer("errors", "result", "params")
    older = browse(related, _AROUND, among=among, before=execution.pk).executions
    newer = browse(related, _AROUND, among=among, after=execution.pk).executions
    return {
        "earlier": older[0] if older else None,
        "later": newer[-1] if newer else None,
        "around": [*older[::-1], execution, *newer[::-1]],
    }
