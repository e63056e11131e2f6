"""The list of executions over millions of rows: its filters, its pages by id, its count."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Paginator
from django.db.models import Q
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.functional import cached_property
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from jobu.admin.executions.search import search_for
from jobu.admin.shared.addresses import id_of
from jobu.admin.shared.filters import MAX_OFFERED, ChoiceFilter, QueueFilter, WordFilter
from jobu.jsonable import storable_time
from jobu.models import CronJob
from jobu.models.job_execution import ParamSource
from jobu.outcomes import DEAD, Status
from jobu.reading import Waits, known_queues
from jobu.reading.filters import RETRY, status_filter
from jobu.reading.pages import browse, count, first_id_after, first_id_since

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.db.models import QuerySet
    from django.http import HttpRequest

    from jobu.models.job_execution import JobExecutionQuerySet

BEFORE, AFTER = "before", "after"
_UNSEEN = ("errors", "result", "params")


_AGES = {
    "hour": (_("the last hour"), timedelta(hours=1)),
    "day": (_("the last 24 hours"), timedelta(days=1)),
    "week": (_("the last 7 days"), timedelta(days=7)),
}


class ExecutionChangeList(ChangeList):
    """Newest first; its pages are `?before=` or `?after=` an id, not numbers."""

    def get_filters_params(self, params: Any = None) -> Any:
        found = super().get_filters_params(params)
        return {key: value for key, value in found.items() if key not in (BEFORE, AFTER)}

    def get_query_string(self, new_params: Any = None, remove: Any = None) -> str:
        """Begin at the newest whenever a filter changes."""
        cursors = {BEFORE: None, AFTER: None}
        return super().get_query_string({**cursors, **(new_params or {})}, remove)

    def get_results(self, request: HttpRequest) -> None:
        among = self._looked_at(request)
        rows = self.queryset.defer(*_UNSEEN)
        before, after = (_id_in(request, name) for name in (BEFORE, AFTER))
        page = browse(rows, self.list_per_page, among=among, before=before, after=after)
        model_admin: Any = self.model_admin
        may_see_cron = model_admin.shows(request, CronJob)
        waits = Waits()
        for execution in page.executions:
            execution.may_see_cron = may_see_cron  # type: ignore[attr-defined]
            execution.waits = waits  # type: ignore[attr-defined]
        self.total = count(self.queryset, among)
        self.page = page
        self.result_list = page.executions
        self.result_count = max(self.total.number, len(page.executions))
        # Equal, or Django would show it beside the search field as an exact number.
        self.full_result_count = self.result_count
        self.show_full_result_count = False
        self.show_admin_actions = True
        self.can_show_all = False
        self.multi_page = page.newer is not None or page.older is not None
        # Django's template asks for page numbers; this has one page.
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

    def _looked_at(self, request: HttpRequest) -> JobExecutionQuerySet | None:
        """Return what the filters with an index find; None if every filter has one."""
        active: list[Any] = [s for s in self.filter_specs if getattr(s, "is_active", False)]
        search = search_for(request, self.query)
        # A search by an index finds old executions, too.
        if all(spec.has_index for spec in active) if search is None else search.among is None:
            return None
        found: Any = self.root_queryset.model._default_manager.all()
        for spec in active:
            if spec.has_index:
                found = spec.queryset(request, found)
        return found if search is None or search.among is None else search.among(found)  # type: ignore[return-value]


class StatusFilter(WordFilter):
    title = _("status")
    parameter_name = "status"
    DEAD = "dead"

    @property
    def has_index(self) -> bool:  # type: ignore[override]
        """Success has no index: nearly all executions have that status; retries have none."""
        return self.value() not in (Status.SUCCESS, RETRY)

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [*Status.choices, (RETRY, _("retrying")), (self.DEAD, _("failed or timeout"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == self.DEAD:
            return queryset.filter(status__in=DEAD)
        if self.value() == RETRY:
            return queryset.filter(**status_filter(RETRY))
        return super().queryset(request, queryset)


class CronFilter(ChoiceFilter):
    title = _("cron job")
    parameter_name = "cron"
    has_index = True

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        found = CronJob.objects.order_by("name").values_list("pk", "name")[:MAX_OFFERED]
        return [(str(pk), name) for pk, name in found]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        if value is None:
            return queryset
        job_id = id_of(value)
        if job_id is None:
            raise IncorrectLookupParameters(f"cron must be the id of a cron job, not {value!r}")
        executions: Any = queryset
        return executions.of_job(job_id)  # type: ignore[no-any-return]


class ExecutionQueueFilter(QueueFilter):
    """Offers the queues that occur, as far as that can be known, too."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(queue, queue) for queue in known_queues()]


class SourceFilter(WordFilter):
    title = _("source")
    parameter_name = "param_source"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return list(ParamSource.choices)


class CreatedFilter(admin.ListFilter):
    """Filters by time: the last hour, day or week, or a range in the reader's zone."""

    title = _("creation")
    template = "jobu/filters/created.html"
    parameters = ("created", "from", "to")
    has_index = True

    def __init__(
        self, request: HttpRequest, params: dict[str, Any], model: Any, model_admin: Any
    ) -> None:
        super().__init__(request, params, model, model_admin)
        self._given = {
            name: params.pop(name)[-1] for name in self.expected_parameters() if name in params
        }
        self.age = self._given.get("created", "")
        self.start, self.end = self._given.get("from", ""), self._given.get("to", "")
        names = (*self.expected_parameters(), BEFORE, AFTER)
        self.others = [
            (key, value)
            for key, values in request.GET.lists()
            for value in values
            if key not in names
        ]

    def expected_parameters(self) -> list[Any]:
        return list(self.parameters)

    @property
    def is_active(self) -> bool:
        return any(self._given.values())

    def has_output(self) -> bool:
        return True

    def choices(self, changelist: Any) -> Iterator[Any]:
        names = self.expected_parameters()
        yield {
            "selected": not self.is_active,
            "query_string": changelist.get_query_string(remove=names),
            "display": _("All"),
        }
        for key, (label, _age) in _AGES.items():
            yield {
                "selected": self.age == key,
                "query_string": changelist.get_query_string({"created": key}, names[1:]),
                "display": capfirst(label),
            }

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(self._condition)

    @cached_property
    def _condition(self) -> Q:
        start, end = _moment(self.start), _moment(self.end)
        if self.age in _AGES:
            start = timezone.now() - _AGES[self.age][1]
        condition = Q()
        if start is not None:
            condition &= Q(created_at__gte=start, id__gte=first_id_since(start))
        if end is not None:
            condition &= Q(created_at__lte=end, id__lt=first_id_after(end))
        return condition


def _moment(text: str) -> datetime | None:
    if not text:
        return None
    try:
        moment = parse_datetime(text)
        if moment is None:
            raise ValueError(f"{text!r} is not a date and time")
        return storable_time(timezone.make_aware(moment) if timezone.is_naive(moment) else moment)
    except ValueError as error:
        raise IncorrectLookupParameters(str(error)) from error


def _id_in(request: HttpRequest, name: str) -> int | None:
    text = request.GET.get(name)
    if text is None:
        return None
    found = id_of(text)
    if found is None:
        raise IncorrectLookupParameters(f"{name} must be the id of an execution, not {text!r}")
    return found
