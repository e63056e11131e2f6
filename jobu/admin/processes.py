"""Processes: who is working, and on what."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from jobu.admin.shared.base import ReadOnlyAdmin
from jobu.admin.shared.filters import WordFilter
from jobu.admin.shared.words import badge, cut_html, duration, labelled, moment_html, relative
from jobu.conf import settings
from jobu.models import JobExecution, Process
from jobu.models.process import STARTED_BY, ProcessKind
from jobu.reading.waits import living_processes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from django.http import HttpRequest, HttpResponse
    from django.utils.safestring import SafeString

_SHOWN = 5
_SHOWN_ON_PAGE = 200
_MAX_RUNNING = 5_000


class KindFilter(WordFilter):
    title = _("kind")
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return list(ProcessKind.choices)


class ProcessChangeList(ChangeList):
    """Adds to each process the executions that it runs."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = list(self.result_list)
        running = running_in(process.pk for process in self.result_list)
        for process in self.result_list:
            process.running = running[process.pk]


@admin.register(Process)
class ProcessAdmin(ReadOnlyAdmin):
    list_display = ("name", "health", "served", "slots_used", "work", "beat")
    list_display_links = ("name",)
    list_filter = (KindFilter,)
    ordering = ("started_at",)
    actions = None
    show_full_result_count = False

    def get_changelist(self, request: HttpRequest, **_kwargs: Any) -> type[ProcessChangeList]:
        return ProcessChangeList

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        context = {"missing": missing_kinds()}
        return super().changelist_view(request, {**context, **(extra_context or {})})

    def get_list_display(self, request: HttpRequest) -> tuple[str, ...]:
        shown = self.list_display
        if not self.shows(request, JobExecution):
            return tuple(name for name in shown if name != "work")
        return shown

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        if request.method not in ("GET", "HEAD") or not self.has_view_permission(request):
            raise PermissionDenied
        process: Any = self.get_object(request, object_id)
        if process is None:
            return self.gone(request, object_id)
        process.running = running_in([process.pk])[process.pk]
        context = {
            "original": process,
            "process": process,
            "health": self.health(process),
            "served": self.served(process),
            "slots_used": self.slots_used(process),
            "started": moment_html(process.started_at, process.now),
            "beat": moment_html(process.heartbeat_at, process.now),
            "running": [
                (each, seconds_of(each, process)) for each in process.running[:_SHOWN_ON_PAGE]
            ],
            "more": _more(len(process.running) - _SHOWN_ON_PAGE),
            "may_see_executions": self.shows(request, JobExecution),
        }
        return self.render(request, "admin/jobu/process/detail.html", str(process), context)

    @admin.display(description=_("process"))
    def name(self, process: Any) -> SafeString:
        since = gettext("started %s") % relative(process.started_at, process.now)
        return format_html(
            '{}<span class="jobu-quiet jobu-line">{}</span>',
            cut_html(f"{process.get_kind_display()} {process.host}:{process.pid}"),
            since,
        )

    @admin.display(description=_("state"))
    def health(self, process: Any) -> SafeString:
        if (process.now - process.heartbeat_at).total_seconds() >= settings.LEASE_SECONDS:
            return badge("failed", gettext("stale"))
        if process.stopping:
            return badge("stopping", gettext("stopping"))
        return badge("success", gettext("alive"))

    @admin.display(description=_("queues"))
    def served(self, process: Process) -> str:
        if process.kind != ProcessKind.WORKER:
            return "–"
        return ", ".join(map(str, process.queues)) or gettext("all")

    @admin.display(description=_("slots in use"))
    def slots_used(self, process: Any) -> SafeString | str:
        if not process.slots:
            return "–"
        used = min(len(process.running), process.slots)
        return format_html(
            '<span class="jobu-progress"><meter min="0" max="{}" value="{}"></meter> '
            "<small>{} / {}</small></span>",
            process.slots,
            used,
            used,
            process.slots,
        )

    @admin.display(description=_("running"))
    def work(self, process: Any) -> SafeString:
        shown = format_html_join(
            "",
            '<div><a href="{}">{}</a> <small class="jobu-quiet">{}</small></div>',
            (
                (
                    reverse("admin:jobu_jobexecution_change", args=[each.pk]),
                    str(each),
                    seconds_of(each, process),
                )
                for each in process.running[:_SHOWN]
            ),
        )
        more = _more(len(process.running) - _SHOWN)
        return format_html('{}<div class="jobu-quiet">{}</div>', shown, more) if more else shown

    @admin.display(description=_("last heartbeat"))
    def beat(self, process: Any) -> SafeString:
        return labelled(_("last heartbeat"), moment_html(process.heartbeat_at, process.now))


def missing_kinds() -> list[dict[str, str]]:
    """Return the kinds of which no process is alive, and the commands that start one."""
    alive = {each.kind for each in living_processes()}
    return [
        {"kind": str(kind.label), "command": f"manage.py {command}"}
        for kind, command in STARTED_BY.items()
        if kind not in alive
    ]


def running_in(process_ids: Iterable[UUID]) -> dict[UUID, list[JobExecution]]:
    """Return the executions that each process runs, the oldest first."""
    rows = (
        JobExecution.objects.running()
        .filter(claimed_by__in=list(process_ids))
        .order_by("started_at", "id")
        .only("id", "handler_name", "claimed_by", "started_at")
    )
    found: defaultdict[UUID, list[JobExecution]] = defaultdict(list)
    for row in rows[:_MAX_RUNNING]:
        if row.claimed_by is not None:
            found[row.claimed_by].append(row)
    return found


def _more(number: int) -> str:
    return ngettext("and %s more", "and %s more", number) % number if number > 0 else ""


def seconds_of(execution: JobExecution, process: Any) -> str:
    """Say how long the process has been running it."""
    started_at = execution.started_at or process.now
    return duration((process.now - started_at).total_seconds())
