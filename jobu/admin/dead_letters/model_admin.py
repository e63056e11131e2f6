"""Dead letters: messages that could not become executions; why, and what to do about them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponseRedirect
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from jobu.admin.dead_letters.detail import (
    MAX_TEXT_LENGTH,
    body_excerpt,
    download_view,
    shown_headers,
    shown_text,
    text_of,
    unmasked,
)
from jobu.admin.shared.base import ReadOnlyAdmin
from jobu.admin.shared.excerpts import MAX_EDITED_LENGTH, excerpt_of_bytes
from jobu.admin.shared.words import badge, moment_html
from jobu.conf import settings
from jobu.exceptions import DeadLetterError, MaskedError, MessageError
from jobu.jsonable import storable_text
from jobu.models import DeadLetter, JobExecution
from jobu.queue.dead_letters import discard, requeue
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse
    from django.urls import URLPattern
    from django.utils.safestring import SafeString

    from jobu.admin.shared.base import JobuAdmin


_MOST_WORDS = 300
_MOST_SHOWN = 5


class RequeueForm(forms.Form):
    """The message, to be edited by who may publish; without a field if it is too large for one."""

    body = forms.CharField(
        label=_("Message"),
        strip=False,
        widget=forms.Textarea({"class": "vLargeTextField jobu-json", "rows": 12}),
    )

    def __init__(self, data: Any, letter: DeadLetter, text: str | None, *, may_edit: bool) -> None:
        self.text = text
        super().__init__(data, initial={"body": text})
        self.fields["body"].widget.attrs["readonly"] = not may_edit
        if len(letter.body) > MAX_EDITED_LENGTH:
            del self.fields["body"]

    def edited_body(self) -> str | None:
        """Return the text, unless nobody touched it: then the bytes go as they came."""
        if "body" not in self.fields:
            return None
        body = _normal(self.cleaned_data["body"])
        return body if self.text is None or body != _normal(self.text) else None


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
        """Show the message; a post requeues it, edited if the text is another."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        may_requeue = self.has_requeue_permission(request)
        if request.method == "POST" and not may_requeue:
            raise PermissionDenied
        letter: Any = self.get_object(request, object_id)
        if letter is None:
            return self.gone(request, object_id)
        # Another text is a message of one's own.
        may_edit = self.allows(request, "publish_message")
        posted = request.POST if request.method == "POST" else None
        form = RequeueForm(posted, letter, shown_text(request, letter), may_edit=may_edit)
        if request.method == "POST" and form.is_valid():
            edited = form.edited_body()
            if edited is not None and not may_edit:
                raise PermissionDenied
            try:
                body = None if edited is None else unmasked(edited, letter)
                execution = _requeue(request, self, letter, body)
            except (MaskedError, MessageError, DeadLetterError) as error:
                form.add_error("body" if "body" in form.fields else None, str(error))
            else:
                note = gettext("Requeued as execution #%s.") % execution.pk
                self.message_user(request, note, messages.SUCCESS)
                return HttpResponseRedirect(_after(request, execution.pk))
        # What is not text becomes an execution only once somebody has written another.
        is_requeueable = may_requeue and (may_edit or form.text is not None)
        return self._page(request, letter, form, is_requeueable=is_requeueable, may_edit=may_edit)

    def _page(
        self,
        request: HttpRequest,
        letter: Any,
        form: RequeueForm,
        *,
        is_requeueable: bool,
        may_edit: bool,
    ) -> HttpResponse:
        context = {
            "original": letter,
            "letter": letter,
            "media": self.media + form.media,
            "form": form if letter.requeued_at is None and is_requeueable else None,
            "may_discard": letter.is_open and self.has_discard_permission(request),
            "reason": storable_text(letter.reason, MAX_TEXT_LENGTH),
            "key": excerpt_of_bytes(letter.key or b"", MAX_TEXT_LENGTH),
            **shown_headers(request, letter),
            "shown": body_excerpt(request, letter),
            "is_text": form.text is not None,
            "may_edit": may_edit,
            "is_masked": form.text != text_of(letter),
            "state": self.state(letter),
            "may_see_executions": self.shows(request, JobExecution),
            "received": self.received(letter),
            "size": self.size(letter),
        }
        return self.render(request, "admin/jobu/deadletter/detail.html", str(letter), context)

    @admin.action(description=_("Requeue"), permissions=["requeue"])
    def requeue_selected(self, request: HttpRequest, queryset: QuerySet[DeadLetter]) -> None:
        """Requeue each that now can be; say of the others why not."""
        problems: list[str] = []
        letters = list(queryset)
        for letter in letters:
            try:
                _requeue(request, self, letter, None)
            except (MessageError, DeadLetterError) as error:
                problems.append(f"{letter}: {error}")
        number = len(letters) - len(problems)
        if number:
            text = ngettext("%s message was requeued.", "%s messages were requeued.", number)
            self.message_user(request, text % number, messages.SUCCESS)
        for problem in problems[:_MOST_SHOWN]:
            self.message_user(request, problem[:_MOST_WORDS], messages.ERROR)
        if more := len(problems[_MOST_SHOWN:]):
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
        reason: str = letter.reason
        return f"{reason[:_MOST_WORDS]}…" if len(reason) > _MOST_WORDS else reason

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
    return HttpResponseRedirect(reverse("admin:jobu_deadletter_changelist"))


def _requeue(
    request: HttpRequest, admin: JobuAdmin, letter: DeadLetter, body: str | None
) -> JobExecution:
    with write_transaction(settings.DATABASE):
        execution = requeue(letter.pk, body)
        note = gettext("Requeued as execution #%s.") % execution.pk
        admin.record(request, [(letter.pk, str(letter))], note)
    return execution


def _normal(text: str) -> str:
    """Undo what a browser does to the ends of lines."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _after(request: HttpRequest, execution_id: int) -> str:
    if request.user.has_perm("jobu.view_jobexecution"):
        return reverse("admin:jobu_jobexecution_change", args=[execution_id])
    return reverse("admin:jobu_deadletter_changelist")
