"""Do a verb to a selection, or to all that match the filter: counted first, then in batches."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.admin.decorators import action
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from jobu.admin.executions.actions import VERBS
from jobu.admin.executions.change_list import AFTER, BEFORE
from jobu.admin.shared.addresses import filtered, ids_of
from jobu.conf import settings
from jobu.models import JobExecution
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from jobu.admin.executions.actions import Verb
    from jobu.admin.shared.base import JobuAdmin
    from jobu.models.job_execution import JobExecutionQuerySet

BATCH_SIZE = 500
SECONDS_PER_REQUEST = 5.0
MOST_COUNTED = 100_000
_MOST_SELECTED = 1_000
_SHOWN = 10
_DEFAULT_RAISE = 10


@dataclass
class Work:
    """What was asked for, and how far it is.

    The ids are walked upwards from `after` to `until`, the newest when it was asked for, so that
    it ends, whatever the executions become meanwhile.
    """

    admin: JobuAdmin
    verb: Verb
    matching: JobExecutionQuerySet
    number: int
    after: int
    until: int
    done: int

    @property
    def left(self) -> JobExecutionQuerySet:
        return self.matching.filter(
            id__gt=self.after, id__lte=self.until, status__in=self.verb.statuses
        ).order_by("id")

    def do_batch(self, request: HttpRequest) -> bool:
        """Do it to the next ones, and write that down; return False if there were none."""
        batch = dict(self.left.values_list("id", "handler_name")[:BATCH_SIZE])
        if not batch:
            return False
        with write_transaction(settings.DATABASE):
            changed = self.verb.run(list(batch), self.number)
            named = ((pk, f"{batch[pk]} #{pk}") for pk in changed)
            self.admin.record(request, named, str(self.verb.history), self.verb.flag)
        self.after = max(batch)
        self.done += len(changed)
        return True


@require_POST
def act_view(request: HttpRequest, admin: JobuAdmin, name: str) -> HttpResponse:
    """Ask first, unless it is confirmed; then work for some seconds, and go on if more is left."""
    verb = VERBS.get(name)
    if verb is None:
        raise Http404(name)
    if not (verb.is_allowed(request) and admin.has_view_permission(request)):
        raise PermissionDenied
    try:
        work = _work_asked_for(request, admin, verb)
    except IncorrectLookupParameters:
        return HttpResponseRedirect(reverse("admin:jobu_jobexecution_changelist"))
    if "confirmed" not in request.POST:
        return confirm(request, work)
    end = time.monotonic() + SECONDS_PER_REQUEST
    while work.do_batch(request):
        if time.monotonic() > end and work.left.exists():
            return _page(request, work, {"is_going_on": True, "left": _count(work)})
    level = messages.SUCCESS if work.done else messages.WARNING
    text = verb.done % {"number": work.done, "count": f"{work.done:,}"}
    admin.message_user(request, text if work.done else _nothing(verb), level)
    return HttpResponseRedirect(_back(request))


def list_action(verb: Verb) -> Any:
    """Make an action of Django's list of it: a question, with `has_<verb>_permission` to see it."""

    def ask(admin: JobuAdmin, request: HttpRequest, queryset: JobExecutionQuerySet) -> HttpResponse:
        is_everything = request.POST.get("select_across") == "1"
        ids = queryset.values_list("id", flat=True)[:_MOST_SELECTED]
        work = Work(admin, verb, queryset, _DEFAULT_RAISE, after=0, until=_newest(), done=0)
        return confirm(request, work, None if is_everything else list(ids))

    ask.__name__ = verb.name
    label: Any = verb.label
    return action(permissions=[verb.name], description=label)(ask)


def confirm(request: HttpRequest, work: Work, selected: list[int] | None = None) -> HttpResponse:
    count = _count(work)
    counted = f"{count:,}" if count <= MOST_COUNTED else _("more than %s") % f"{MOST_COUNTED:,}"
    return _page(
        request,
        work,
        {
            "count": count,
            "question": work.verb.question % {"number": count, "count": counted},
            "nothing": _nothing(work.verb),
            "examples": work.left.defer("errors", "result", "params")[:_SHOWN],
            **({} if selected is None else {"ids": selected, "everything": False}),
        },
    )


def _page(request: HttpRequest, work: Work, context: dict[str, Any]) -> HttpResponse:
    return work.admin.render(
        request,
        "admin/jobu/jobexecution/confirm.html",
        work.verb.label,
        {
            "work": work,
            "verb": work.verb,
            "action": filtered(request, "admin:jobu_jobexecution_act", work.verb.name),
            "filters": [
                (key, value)
                for key, value in request.GET.items()
                if value and key not in (BEFORE, AFTER)
            ],
            "back": _back(request),
            "ids": request.POST.getlist("ids"),
            "everything": "everything" in request.POST or request.POST.get("select_across") == "1",
            **context,
        },
    )


def _work_asked_for(request: HttpRequest, admin: JobuAdmin, verb: Verb) -> Work:
    if "everything" in request.POST:
        matching: Any = admin.get_changelist_instance(request).queryset
    else:
        given = request.POST.getlist("ids")[:_MOST_SELECTED]
        matching = JobExecution.objects.filter(pk__in=ids_of(given))
    return Work(
        admin,
        verb,
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
    """Count, but not for ever. State by state, because each has an index of its own."""
    count = 0
    for status in work.verb.statuses:
        of_status = work.left.filter(status=status).order_by().values("id")
        count += of_status[: MOST_COUNTED + 1 - count].count()
        if count > MOST_COUNTED:
            break
    return count


def _nothing(verb: Verb) -> str:
    states = ", ".join(str(status.label) for status in verb.statuses)
    return _("None of them can be: only executions that are %(states)s.") % {"states": states}


def _back(request: HttpRequest) -> str:
    """Return where the operator came from: a detail page, or the list with its filter."""
    given = request.POST.get("back", "")
    if url_has_allowed_host_and_scheme(given, allowed_hosts={request.get_host()}):
        return given
    return filtered(request, "admin:jobu_jobexecution_changelist")
