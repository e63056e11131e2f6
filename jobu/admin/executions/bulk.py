"""Do an action to selected executions, or to all that match the filter.

The executions are counted first; when that is confirmed, the work is done in batches.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.admin import decorators
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from jobu.admin.executions.actions import ACTIONS
from jobu.admin.executions.change_list import AFTER, BEFORE
from jobu.admin.executions.failures import words_of_failure
from jobu.admin.shared.addresses import filtered, ids_of
from jobu.conf import settings
from jobu.models import JobExecution
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from jobu.admin.executions.actions import Action
    from jobu.admin.shared.base import JobuAdmin
    from jobu.models.job_execution import JobExecutionQuerySet

BATCH_SIZE = 500
SECONDS_PER_REQUEST = 5.0
MAX_COUNTED = 100_000
_MAX_SELECTED = 1_000
_EXAMPLES = 10
_DEFAULT_RAISE = 10


@dataclass
class Work:
    """What was asked for, and how much of it is done.

    It walks the ids upwards from `after` to `until`. `until` is the newest id at the time of the
    question, so the work ends, whatever happens to the executions meanwhile.
    """

    admin: JobuAdmin
    action: Action
    matching: JobExecutionQuerySet
    number: int
    after: int
    until: int
    done: int

    @property
    def left(self) -> JobExecutionQuerySet:
        return self.matching.filter(
            id__gt=self.after, id__lte=self.until, status__in=self.action.statuses
        ).order_by("id")

    def do_batch(self, request: HttpRequest) -> bool:
        """Act on the next ones and write that into the history; return False if none are left."""
        batch = dict(self.left.values_list("id", "handler_name")[:BATCH_SIZE])
        if not batch:
            return False
        with write_transaction(settings.DATABASE):
            changed = self.action.run(list(batch), self.number)
            named = ((pk, f"{batch[pk]} #{pk}") for pk in changed)
            self.admin.record(request, named, str(self.action.history), self.action.flag)
        self.after = max(batch)
        self.done += len(changed)
        return True


@require_POST
def act_view(request: HttpRequest, admin: JobuAdmin, name: str) -> HttpResponse:
    """Ask first. Once confirmed, work for some seconds; the page goes on if more is left."""
    action = ACTIONS.get(name)
    if action is None:
        raise Http404(name)
    if not (action.is_allowed(request) and admin.has_view_permission(request)):
        raise PermissionDenied
    try:
        work = _work_asked_for(request, admin, action)
    except IncorrectLookupParameters:
        return HttpResponseRedirect(reverse("admin:jobu_jobexecution_changelist"))
    if "confirmed" not in request.POST:
        return confirm(request, work)
    end = time.monotonic() + SECONDS_PER_REQUEST
    while work.do_batch(request):
        if time.monotonic() > end and work.left.exists():
            return _page(request, work, {"is_going_on": True, "left": _count(work)})
    level = messages.SUCCESS if work.done else messages.WARNING
    text = action.done % {"number": work.done, "count": f"{work.done:,}"}
    admin.message_user(request, text if work.done else _nothing(action), level)
    return HttpResponseRedirect(_back(request))


def list_action(action: Action) -> Any:
    """Offer it in Django's list to users with `has_<name>_permission`; it asks before it acts."""

    def ask(admin: JobuAdmin, request: HttpRequest, queryset: JobExecutionQuerySet) -> HttpResponse:
        is_everything = request.POST.get("select_across") == "1"
        ids = queryset.values_list("id", flat=True)[:_MAX_SELECTED]
        work = Work(admin, action, queryset, _DEFAULT_RAISE, after=0, until=_newest(), done=0)
        return confirm(request, work, None if is_everything else list(ids))

    ask.__name__ = action.name
    label: Any = action.label
    return decorators.action(permissions=[action.name], description=label)(ask)


def confirm(request: HttpRequest, work: Work, selected: list[int] | None = None) -> HttpResponse:
    count = _count(work)
    counted = f"{count:,}" if count <= MAX_COUNTED else _("more than %s") % f"{MAX_COUNTED:,}"
    return _page(
        request,
        work,
        {
            "count": count,
            "question": work.action.question % {"number": count, "count": counted},
            "nothing": _nothing(work.action),
            "examples": work.left.defer("errors", "result", "params")[:_EXAMPLES],
            **({} if selected is None else {"ids": selected, "everything": False}),
        },
    )


def _page(request: HttpRequest, work: Work, context: dict[str, Any]) -> HttpResponse:
    return work.admin.render(
        request,
        "admin/jobu/jobexecution/confirm.html",
        work.action.label,
        {
            "work": work,
            "address": filtered(request, "admin:jobu_jobexecution_act", work.action.name),
            "filters": _filters(request),
            "back": _back(request),
            "ids": request.POST.getlist("ids"),
            "everything": "everything" in request.POST or request.POST.get("select_across") == "1",
            **context,
        },
    )


def _filters(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the filter of the list, as its address has it; a group of failures in words."""
    return [
        (key, words_of_failure(str(value)) if key == "failure" else str(value))
        for key, value in request.GET.items()
        if value and key not in (BEFORE, AFTER)
    ]


def _work_asked_for(request: HttpRequest, admin: JobuAdmin, action: Action) -> Work:
    if "everything" in request.POST:
        matching: Any = admin.get_changelist_instance(request).queryset
    else:
        given = request.POST.getlist("ids")[:_MAX_SELECTED]
        matching = JobExecution.objects.filter(pk__in=ids_of(given))
    return Work(
        admin,
        action,
        matching,
        number=max(-32_767, min(_number(request, "number", _DEFAULT_RAISE), 32_767)),
        after=_number(request, "after", 0),
        until=_number(request, "until", 0) or _newest(),
        done=_number(request, "done", 0),
    )


def _number(request: HttpRequest, name: str, default: int) -> int:
    try:
        return int(request.POST.get(name, default))
    except ValueError:
        return default


def _newest() -> int:
    return JobExecution.objects.order_by("-id").values_list("id", flat=True).first() or 0


def _count(work: Work) -> int:
    """Count up to a limit, status by status: each status has an index of its own."""
    count = 0
    for status in work.action.statuses:
        of_status = work.left.filter(status=status).order_by().values("id")
        count += of_status[: MAX_COUNTED + 1 - count].count()
        if count > MAX_COUNTED:
            break
    return count


def _nothing(action: Action) -> str:
    states = ", ".join(str(status.label) for status in action.statuses)
    return _("None of them can be: only executions that are %(states)s.") % {"states": states}


def _back(request: HttpRequest) -> str:
    """Return the page that the user came from: an execution's, or the list with its filter."""
    given = request.POST.get("back", "")
    if url_has_allowed_host_and_scheme(given, allowed_hosts={request.get_host()}):
        return given
    return filtered(request, "admin:jobu_jobexecution_changelist")
