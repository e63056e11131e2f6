"""What the form shows while it is filled in: the next times, and what a handler takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from jobu.admin.shared.params import schema_of
from jobu.admin.shared.words import duration, relative
from jobu.conf import settings
from jobu.cron import describe, preview, problem_with_expression, problem_with_timezone
from jobu.handlers.registry import handlers

if TYPE_CHECKING:
    from datetime import datetime

    from django.http import HttpRequest

    from jobu.admin.shared.base import JobuAdmin
    from jobu.cron.preview import ClockChange, Tick

_SHOWN = 10
_MAX_LENGTH = 200


def words_of(expression: str, name: str) -> str:
    return describe(expression, language=get_language() or "en", seed=name)


def preview_html(expression: str, zone: str, name: str) -> str:
    """Render the schedule in words and its next times, or the fields that have a problem."""
    seconds = settings.DISPATCHER_MIN_CRON_INTERVAL_SECONDS
    problems = [
        (
            _("cron expression"),
            problem_with_expression(expression, min_interval_seconds=seconds, seed=name),
        ),
        (_("timezone"), problem_with_timezone(zone)),
    ]
    found = [(field, problem) for field, problem in problems if problem]
    context: dict[str, Any] = {"problems": found}
    if not found:
        now = timezone.now()
        ticks = preview(expression, zone, now, _SHOWN, seed=name)
        context |= {
            "words": words_of(expression, name),
            "zone": zone,
            "ticks": [_shown(tick, now) for tick in ticks],
        }
    return render_to_string("jobu/preview.html", context)


@require_GET
def preview_view(request: HttpRequest, admin: JobuAdmin) -> HttpResponse:
    if not _may_see_form(request, admin):
        raise PermissionDenied
    given = [
        request.GET.get(key, "")[:_MAX_LENGTH] for key in ("cron_expression", "timezone", "name")
    ]
    return HttpResponse(preview_html(*given))


@require_GET
def handler_view(request: HttpRequest, admin: JobuAdmin) -> HttpResponse:
    """Return a handler's docstring, params and defaults as JSON; 404 if it is not registered.

    The forms for executions and for messages ask here, too. Users who may only publish messages see
    the handlers that messages may start.
    """
    sees_all = _may_see_form(request, admin) or admin.allows(request, "add_jobexecution")
    if not (sees_all or admin.allows(request, "publish_message")):
        raise PermissionDenied
    spec = handlers.get(request.GET.get("name", ""))
    if spec is None or not (sees_all or spec.takes_events):
        return JsonResponse({}, status=404)
    return JsonResponse(schema_of(spec))


def _may_see_form(request: HttpRequest, admin: JobuAdmin) -> bool:
    return admin.has_view_or_change_permission(request) or admin.has_add_permission(request)


def _shown(tick: Tick, now: datetime) -> dict[str, Any]:
    return {
        # %Z and not Django's T, which says nothing in the hour that comes twice.
        "at": f"{date_format(tick.at, 'D')} {tick.at:%Y-%m-%d %H:%M %Z}",
        "relative": relative(tick.at, now),
        "change": _change_words(tick.change) if tick.change else "",
        "is_moved": tick.is_moved,
    }


def _change_words(change: ClockChange) -> str:
    by = duration(abs(change.by.total_seconds()))
    words = (
        _("Clocks go forward by %(by)s at %(at)s")
        if change.by.total_seconds() > 0
        else _("Clocks go back by %(by)s at %(at)s")
    )
    return words % {"by": by, "at": f"{change.at:%Y-%m-%d %H:%M %Z}"}
