"""The list of dead letters: messages that could not become executions, and why."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponseRedirect
from django.template.defaultfilters import filesizeformat
from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from jobu.admin.dead_letters.detail import detail_view, download_view, requeue_and_record
from jobu.admin.shared.base import ReadOnlyAdmin
from jobu.admin.shared.filters import Capitalized
from jobu.admin.shared.words import badge, moment_html, shorten
from jobu.conf import settings
from jobu.exceptions import DeadLetterError, MessageError
from jobu.messages import discard
from jobu.models import DeadLetter, JobExecution
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse
    from django.urls import URLPattern
    from django.utils.safestring import SafeString

_MAX_REASON_LENGTH = 300
_MAX_PROBLEMS = 5


class StateFilter(Capitalized, admin.SimpleListFilter):
    """Shows the open dead letters, unless asked otherwise."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("requeued", _("requeued")), ("discarded", _("discarded")), ("all", _("All"))]

    def choices(self, changelist: Any) -> Iterator[Any]:
        choices = super().choices(changelist)
        yield {**next(choices), "display": capfirst(gettext("open"))}
        yield from choices

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        state = self.value()
        if state == "all":
            return queryset
        vocabulary: Any = queryset
        chosen = {"requeued": vocabulary.requeued, "discarded": vocabulary.discarded}
        found: QuerySet[Any] = chosen.get(state or "", vocabulary.open)()
        return found


@admin.register(DeadLetter)
class DeadLetterAdmin(ReadOnlyAdmin):
    list_display = ("origin", "why", "size", "state", "received")
    list_display_links = ("origin",)
    list_filter = (StateFilter,)
    list_per_page = 50
    ordering = ("-received_at", "-id")
    sortable_by = ()
    actions = ("requeue_selected", "discard_selected")
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: Any = super().get_queryset(request)
        listed: QuerySet[Any] = rows.listed()
        return listed

    def get_urls(self) -> list[URLPattern]:
        own = self.own_urls(
            {
                "<int:pk>/discard/": (_discard_view, "jobu_deadletter_discard"),
                "<int:pk>/download/<str:name>/": (download_view, "jobu_deadletter_download"),
            }
        )
        return [*own, *super().get_urls()]

    def has_requeue_permission(self, request: HttpRequest) -> bool:
        return self.allows(request, "change_deadletter")

    def has_discard_permission(self, request: HttpRequest) -> bool:
        return self.allows(request, "delete_deadletter")

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        context = {"may_see_executions": self.shows(request, JobExecution)}
        return super().changelist_view(request, {**context, **(extra_context or {})})

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        return detail_view(request, self, object_id)

    @admin.action(description=_("Requeue"), permissions=["requeue"])
    def requeue_selected(self, request: HttpRequest, queryset: QuerySet[DeadLetter]) -> None:
        """Requeue the messages that can be requeued now; tell why the others cannot."""
        problems: list[str] = []
        letters = list(queryset)
        for letter in letters:
            try:
                requeue_and_record(request, self, letter)
            except (MessageError, DeadLetterError) as error:
                problems.append(f"{letter}: {error}")
        number = len(letters) - len(problems)
        if number:
            text = ngettext("%s message was requeued.", "%s messages were requeued.", number)
            self.message_user(request, text % number, messages.SUCCESS)
        for problem in problems[:_MAX_PROBLEMS]:
            self.message_user(request, problem[:_MAX_REASON_LENGTH], messages.ERROR)
        if more := len(problems[_MAX_PROBLEMS:]):
            text = ngettext("And %s more.", "And %s more.", more)
            self.message_user(request, text % more, messages.ERROR)

    @admin.action(description=_("Discard"), permissions=["discard"])
    def discard_selected(self, request: HttpRequest, queryset: QuerySet[DeadLetter]) -> None:
        named: list[tuple[object, str]] = []
        with write_transaction(settings.DATABASE):
            for letter in queryset.filter(requeued_at=None, discarded_at=None):
                # Somebody may have requeued it, or pruned it, a moment ago.
                with suppress(DeadLetterError):
                    discard(letter.pk)
                    named.append((letter.pk, str(letter)))
            self.record(request, named, gettext("Discarded."))
        number = len(named)
        text = ngettext("%s message was discarded.", "%s messages were discarded.", number)
        self.message_user(request, text % number, messages.SUCCESS)

    @admin.display(description=_("message"))
    def origin(self, letter: DeadLetter) -> str:
        return str(letter)

    @admin.display(description=_("why"))
    def why(self, letter: DeadLetter) -> str:
        return shorten(letter.reason, _MAX_REASON_LENGTH)

    @admin.display(description=_("size"))
    def size(self, letter: Any) -> str:
        return filesizeformat(letter.size)

    @admin.display(description=_("state"))
    def state(self, letter: DeadLetter) -> SafeString:
        if letter.requeued_at is not None:
            return badge("success", gettext("requeued"))
        if letter.discarded_at is not None:
            return badge("cancelled", gettext("discarded"))
        return badge("failed", gettext("open"))

    @admin.display(description=_("received"))
    def received(self, letter: Any) -> SafeString:
        return moment_html(letter.received_at, letter.now)


@require_POST
def _discard_view(request: HttpRequest, admin: DeadLetterAdmin, pk: int) -> HttpResponse:
    if not (admin.has_discard_permission(request) and admin.has_view_permission(request)):
        raise PermissionDenied
    admin.discard_selected(request, DeadLetter.objects.filter(pk=pk))
    return HttpResponseRedirect(admin.list_address(request))
