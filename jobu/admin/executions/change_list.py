"""A change list over millions of rows: bounded pages by id, and a count that knows its limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Paginator

from jobu.admin.shared.addresses import id_of
from jobu.models import CronJob
from jobu.queue.browse import browse, count

if TYPE_CHECKING:
    from django.http import HttpRequest

    from jobu.models.job_execution import JobExecutionQuerySet

BEFORE, AFTER = "before", "after"
_UNSEEN = ("errors", "result", "params")


class HistoryChangeList(ChangeList):
    """Newest first; `?before=` and `?after=` an id instead of page numbers."""

    def get_filters_params(self, params: Any = None) -> Any:
        found = super().get_filters_params(params)
        return {key: value for key, value in found.items() if key not in (BEFORE, AFTER)}

    def get_query_string(self, new_params: Any = None, remove: Any = None) -> str:
        """Begin at the newest again whenever a filter changes."""
        cursors = {BEFORE: None, AFTER: None}
        return super().get_query_string({**cursors, **(new_params or {})}, remove)

    def get_results(self, request: HttpRequest) -> None:
        among = self._found_by_index(request)
        rows = self.queryset.defer(*_UNSEEN)
        before, after = (_id_in(request, name) for name in (BEFORE, AFTER))
        page = browse(rows, self.list_per_page, among=among, before=before, after=after)
        admin: Any = self.model_admin
        may_see_cron = admin.shows(request, CronJob)
        for execution in page.executions:
            execution.may_see_cron = may_see_cron  # type: ignore[attr-defined]
        self.total = count(self.queryset, among)
        self.page = page
        self.result_list = page.executions
        self.result_count = max(self.total.number, len(page.executions))
        # The same, so that Django does not write it beside the search field as if it were exact.
        self.full_result_count = self.result_count
        self.show_full_result_count = False
        self.show_admin_actions = True
        self.can_show_all = False
        self.multi_page = page.newer is not None or page.older is not None
        # Asked for its page numbers by Django's template; there is one.
        self.paginator = Paginator([], self.list_per_page)

    @property
    def newer_link(self) -> str | None:
        return None if self.page.newer is None else self.get_query_string({AFTER: self.page.newer})

    @property
    def older_link(self) -> str | None:
        return None if self.page.older is None else self.get_query_string({BEFORE: self.page.older})

    @property
    def newest_link(self) -> str:
        return self.get_query_string()

    def _found_by_index(self, request: HttpRequest) -> JobExecutionQuerySet | None:
        """Return what the filters with an index find; None if there are no others."""
        active: list[Any] = [s for s in self.filter_specs if getattr(s, "is_active", False)]
        # What is searched for is found by its own index, however old it is.
        if self.query or all(spec.has_index for spec in active):
            return None
        found: Any = self.root_queryset.model._default_manager.all()
        for spec in active:
            if spec.has_index:
                found = spec.queryset(request, found)
        return found  # type: ignore[no-any-return]


def _id_in(request: HttpRequest, name: str) -> int | None:
    text = request.GET.get(name)
    if text is None:
        return None
    found = id_of(text)
    if found is None:
        raise IncorrectLookupParameters(f"{name} must be the id of an execution, not {text!r}")
    return found
