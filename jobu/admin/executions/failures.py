"""Failures: what failed for good, grouped by what went wrong; retry or discard a whole group."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from django.contrib import admin as django_admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import PermissionDenied
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from jobu.admin.executions.actions import ACTIONS
from jobu.admin.shared.words import moment_html
from jobu.conf import settings
from jobu.dialects import database_time
from jobu.models import DeadLetter, JobExecution
from jobu.outcomes import DEAD
from jobu.reading import Range, ids_of_failure, read_failures
from jobu.reading.failures import LOOKED_AT, reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse

    from jobu.admin.shared.base import JobuAdmin

_MAX_GROUPS = 100
_KEY = re.compile(r"[0-9a-f]{16}")
# What is done to a whole group; each asks first.
_ACTIONS = ("retry", "discard")


def failures_view(request: HttpRequest, admin: JobuAdmin) -> HttpResponse:
    if not admin.has_view_permission(request):
        raise PermissionDenied
    now = database_time(settings.DATABASE)
    chosen = request.GET.get("range", "")
    handler_name = request.GET.get("handler_name", "")
    failures = read_failures(since=_begin(chosen, now), handler_name=handler_name)
    allowed = [ACTIONS[name] for name in _ACTIONS if ACTIONS[name].is_allowed(request)]
    context = {
        "failures": failures,
        "rows": [
            {
                "group": group,
                "address": _address(group.key, chosen, "admin:jobu_jobexecution_changelist"),
                "first": moment_html(group.first_at, now),
                "last": moment_html(group.last_at, now),
                "actions": [
                    (each, _address(group.key, chosen, "admin:jobu_jobexecution_act", each.name))
                    for each in allowed
                ],
            }
            for group in failures.groups[:_MAX_GROUPS]
        ],
        "more": len(failures.groups[_MAX_GROUPS:]),
        "looked_at": LOOKED_AT,
        "ranges": [("", _("any time")), *Range.choices],
        "chosen": chosen if chosen in Range.values else "",
        "handler_name": handler_name,
        "may_see_messages": admin.shows(request, DeadLetter),
    }
    template = "admin/jobu/jobexecution/failures.html"
    return admin.render(request, template, gettext("Failures"), context)


class FailureFilter(django_admin.ListFilter):
    """Shows one group of failures; the page of failures links here."""

    title = _("failure")
    template = "admin/filter.html"
    parameters = ("failure", "range")
    has_index = True

    def __init__(
        self, request: HttpRequest, params: dict[str, Any], model: Any, model_admin: Any
    ) -> None:
        super().__init__(request, params, model, model_admin)
        given = {name: params.pop(name)[-1] for name in self.parameters if name in params}
        self.key, self.range = (given.get(name, "") for name in self.parameters)

    def expected_parameters(self) -> list[Any]:
        return list(self.parameters)

    @property
    def is_active(self) -> bool:
        return bool(self.key)

    def has_output(self) -> bool:
        return self.is_active

    def choices(self, changelist: Any) -> Iterator[Any]:
        remove = changelist.get_query_string(remove=self.expected_parameters())
        yield {"selected": False, "query_string": remove, "display": _("All")}
        yield {"selected": True, "query_string": "?", "display": _words(self.key, self._ids)}

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not self.is_active:
            return queryset
        return queryset.filter(id__in=self._ids, status__in=DEAD)

    @cached_property
    def _ids(self) -> list[int]:
        if not _KEY.fullmatch(self.key) or self.range not in ("", *Range.values):
            raise IncorrectLookupParameters(f"{self.key!r} is not a group of failures")
        since = _begin(self.range, database_time(settings.DATABASE))
        return ids_of_failure(self.key, since=since)


def words_of_failure(key: str) -> str:
    """Say what failed and why; the key itself if nothing is left of the group."""
    return _words(key, ids_of_failure(key))


def _words(key: str, ids: list[int]) -> str:
    newest = JobExecution.objects.only("handler_name", "error_message").filter(pk__in=ids[:1])
    for execution in newest:
        reason = " ".join(filter(None, reason_of(execution.error_message)))
        return f"{execution.handler_name}: {reason}"
    return key


def _begin(chosen: str, now: datetime) -> datetime | None:
    return Range(chosen).begin(now) if chosen in Range.values else None


def _address(key: str, chosen: str, view: str, *args: str) -> str:
    query = {"status": "dead", "failure": key, **({"range": chosen} if chosen else {})}
    return reverse(view, args=args, query=query)
