"""Filters that several lists have, and what the filters of one list are made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from jobu.handlers.registry import handlers
from jobu.models import CronJob

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.db.models import QuerySet
    from django.http import HttpRequest

MAX_OFFERED = 200


class ChoiceFilter(admin.SimpleListFilter):
    """Filters by the column that the parameter is named after; takes values it does not offer.

    `has_index` tells whether an index of the executions serves it.
    """

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


class Capitalized:
    """Writes the choices of a filter as Django writes its own, with a capital."""

    def choices(self, changelist: Any) -> Iterator[Any]:
        for choice in super().choices(changelist):  # type: ignore[misc]
            yield {**choice, "display": capfirst(str(choice["display"]))}


class WordFilter(Capitalized, ChoiceFilter):
    """Offers a few words, as a list of links."""

    template = "admin/filter.html"


class HandlerFilter(ChoiceFilter):
    """Offers the registered handlers: a DISTINCT would read the whole history."""

    title = _("handler")
    parameter_name = "handler_name"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(spec.name, spec.name) for spec in handlers]


class QueueFilter(ChoiceFilter):
    """Offers the queues of handlers and cron jobs; `?queue=` takes any other."""

    title = _("queue")
    parameter_name = "queue"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        named = CronJob.objects.order_by("queue").values_list("queue", flat=True).distinct()
        queues = {*named[:MAX_OFFERED], *(spec.options.queue for spec in handlers)}
        return [(queue, queue) for queue in sorted(queues)]


def parameters_of(list_filter: Any) -> tuple[str, ...]:
    """Return the names of a filter's parameters in an address."""
    if issubclass(list_filter, admin.SimpleListFilter):
        return (str(list_filter.parameter_name),)
    parameters: tuple[str, ...] = list_filter.parameters
    return parameters
