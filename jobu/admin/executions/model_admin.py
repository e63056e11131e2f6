"""The list of executions: what ran, what runs, what waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from jobu.adapters.lookup import is_configured
from jobu.admin.executions.actions import ACTIONS
from jobu.admin.executions.bulk import act_view, list_action
from jobu.admin.executions.cells import live_view, state_cell
from jobu.admin.executions.change_list import (
    CreatedFilter,
    CronFilter,
    ExecutionChangeList,
    ExecutionQueueFilter,
    SourceFilter,
    StatusFilter,
)
from jobu.admin.executions.columns import handler_cell, times_cell
from jobu.admin.executions.detail import detail_view, download_view
from jobu.admin.executions.enqueue import enqueue_view
from jobu.admin.executions.failures import FailureFilter, failures_view
from jobu.admin.executions.log_lines import lines_view
from jobu.admin.executions.publish import publish_view
from jobu.admin.executions.retry import retry_view
from jobu.admin.executions.search import search_for
from jobu.admin.shared.base import ReadOnlyAdmin
from jobu.admin.shared.filters import HandlerFilter
from jobu.admin.shared.words import moment_html
from jobu.models import DeadLetter, JobExecution

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse
    from django.urls import URLPattern
    from django.utils.safestring import SafeString


@admin.register(JobExecution)
class JobExecutionAdmin(ReadOnlyAdmin):
    list_display = (
        "number",
        "state",
        "handler",
        "times",
    )
    list_display_links = ("number",)
    list_filter = (
        StatusFilter,
        HandlerFilter,
        CronFilter,
        ExecutionQueueFilter,
        SourceFilter,
        CreatedFilter,
        FailureFilter,
    )
    list_select_related = ("job",)
    actions = tuple(list_action(action) for action in ACTIONS.values())
    list_per_page = 100
    sortable_by = ()
    ordering = ("-id",)
    search_fields = ("id",)
    search_help_text = _("A number, a dedupe key, a param such as order=42, or words of an error.")
    show_full_result_count = False

    def get_changelist(self, request: HttpRequest, **_kwargs: Any) -> type[ExecutionChangeList]:
        return ExecutionChangeList

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        search = search_for(request, search_term)
        return queryset if search is None else search.narrow(queryset), False

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Let people enqueue; nobody fills in the columns of an execution."""
        return self.allows(request, "add_jobexecution")

    def has_retry_permission(self, request: HttpRequest) -> bool:
        return ACTIONS["retry"].is_allowed(request)

    def has_cancel_permission(self, request: HttpRequest) -> bool:
        return ACTIONS["cancel"].is_allowed(request)

    def has_raise_priority_permission(self, request: HttpRequest) -> bool:
        return ACTIONS["raise_priority"].is_allowed(request)

    def has_discard_permission(self, request: HttpRequest) -> bool:
        return ACTIONS["discard"].is_allowed(request)

    def get_urls(self) -> list[URLPattern]:
        own = self.own_urls(
            {
                "live/": (live_view, "jobu_jobexecution_live"),
                "act/<str:name>/": (act_view, "jobu_jobexecution_act"),
                "<int:pk>/retry/": (retry_view, "jobu_jobexecution_retry"),
                "<int:pk>/download/<str:name>/": (download_view, "jobu_jobexecution_download"),
                "<int:pk>/lines/": (lines_view, "jobu_jobexecution_lines"),
                "failures/": (failures_view, "jobu_failures"),
                "publish/": (publish_view, "jobu_publish"),
            }
        )
        return [*own, *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        context = {
            "may_publish": is_configured() and self.allows(request, "publish_message"),
            "may_see_messages": self.shows(request, DeadLetter),
            "shows_dead": request.GET.get(StatusFilter.parameter_name) == StatusFilter.DEAD,
        }
        return super().changelist_view(request, {**context, **(extra_context or {})})

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        return enqueue_view(request, self)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        return detail_view(request, self, object_id)

    @admin.display(description=_("number"))
    def number(self, execution: Any) -> SafeString:
        created = moment_html(execution.created_at, execution.now)
        return format_html('#{}<div class="jobu-quiet">{}</div>', execution.pk, created)

    @admin.display(description=_("state"))
    def state(self, execution: Any) -> SafeString:
        return state_cell(execution, execution.now, execution.waits)

    @admin.display(description=_("handler"))
    def handler(self, execution: Any) -> SafeString:
        return handler_cell(execution)

    @admin.display(description=_("time"))
    def times(self, execution: Any) -> SafeString:
        return times_cell(execution)
