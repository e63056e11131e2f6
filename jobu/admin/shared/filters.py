"""Filters of the lists; each knows whether an index serves it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.db.models import Q
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from jobu.admin.executions.change_list import AFTER, BEFORE
from jobu.admin.shared.addresses import id_of
from jobu.handlers.registry import handlers
from jobu.jsonable import storable_time
from jobu.models import CronJob
from jobu.models.api_token import Scope
from jobu.models.job_execution import ParamSource
from jobu.models.process import ProcessKind
from jobu.outcomes import DEAD, Status
from jobu.queue.browse import first_id_after, first_id_since

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.db.models import QuerySet
    from django.http import HttpRequest

_MOST_OFFERED = 200
_AGES = {
    "hour": (_("the last hour"), timedelta(hours=1)),
    "day": (_("the last 24 hours"), timedelta(days=1)),
    "week": (_("the last 7 days"), timedelta(days=7)),
}


class _Filter(admin.SimpleListFilter):
    template = "jobu/filters/select.html"
    has_index = False

    @property
    def is_active(self) -> bool:
        return self.value() is not None

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        if value is None:
            return queryset
        if "\0" in value:
            raise IncorrectLookupParameters("A NUL character is in no row.")
        return queryset.filter(**{str(self.parameter_name): value})

    def choices(self, changelist: Any) -> Iterator[Any]:
        """Offer the chosen value even if it is not one of those to choose from."""
        value = self.value()
        if value is not None and value not in [str(key) for key, _label in self.lookup_choices]:
            self.lookup_choices.append((value, value))
        yield from super().choices(changelist)

    def has_output(self) -> bool:
        return True


class StatusFilter(_Filter):
    template = "admin/filter.html"
    title = _("status")
    parameter_name = "status"
    DEAD = "dead"

    @property
    def has_index(self) -> bool:  # type: ignore[override]
        """There is none for success: it is what most executions come to."""
        return self.value() != Status.SUCCESS

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [*Status.choices, (self.DEAD, _("failed or timeout"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == self.DEAD:
            return queryset.filter(status__in=DEAD)
        return super().queryset(request, queryset)


class EnabledFilter(_Filter):
    template = "admin/filter.html"
    title = _("enabled")
    parameter_name = "is_enabled"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("1", _("yes")), ("0", _("no"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return queryset if value is None else queryset.filter(is_enabled=value == "1")


class KindFilter(_Filter):
    template = "admin/filter.html"
    title = _("kind")
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return list(ProcessKind.choices)


class HandlerFilter(_Filter):
    """Offers the registered handlers: a DISTINCT would read the whole history."""

    title = _("handler")
    parameter_name = "handler_name"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(spec.name, spec.name) for spec in handlers]


class QueueFilter(_Filter):
    """Offers the queues that handlers and cron jobs name; `?queue=` takes any other."""

    title = _("queue")
    parameter_name = "queue"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        named = CronJob.objects.order_by("queue").values_list("queue", flat=True).distinct()
        queues = {*named[:_MOST_OFFERED], *(spec.options.queue for spec in handlers)}
        return [(queue, queue) for queue in sorted(queues)]


class StateFilter(admin.SimpleListFilter):
    """Shows the open dead letters, unless asked otherwise."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("requeued", _("requeued")), ("discarded", _("discarded")), ("all", _("All"))]

    def choices(self, changelist: Any) -> Iterator[Any]:
        choices = super().choices(changelist)
        yield {**next(choices), "display": _("open")}
        yield from choices

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        state = self.value()
        if state == "all":
            return queryset
        vocabulary: Any = queryset
        chosen = {"requeued": vocabulary.requeued, "discarded": vocabulary.discarded}
        found: QuerySet[Any] = chosen.get(state or "", vocabulary.open)()
        return found


class CronFilter(_Filter):
    title = _("cron job")
    parameter_name = "cron"
    has_index = True

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        found = CronJob.objects.order_by("name").values_list("pk", "name")[:_MOST_OFFERED]
        return [(str(pk), name) for pk, name in found]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        if value is None:
            return queryset
        job_id = id_of(value)
        if job_id is None:
            raise IncorrectLookupParameters(f"cron must be the id of a cron job, not {value!r}")
        return queryset.filter(job_id=job_id)


class ScopeFilter(_Filter):
    template = "admin/filter.html"
    title = _("scope")
    parameter_name = "scope"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return list(Scope.choices)


class SourceFilter(_Filter):
    template = "admin/filter.html"
    title = _("source")
    parameter_name = "param_source"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return list(ParamSource.choices)


class CreatedFilter(admin.ListFilter):
    """A range of time: the last hour, day or week, or from and to in the reader's zone."""

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
                "display": label,
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


def parameters_of(list_filter: Any) -> tuple[str, ...]:
    """Return the names that a filter has in an address."""
    if issubclass(list_filter, admin.SimpleListFilter):
        return (str(list_filter.parameter_name),)
    parameters: tuple[str, ...] = list_filter.parameters
    return parameters


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
