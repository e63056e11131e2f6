"""One dead letter: what came and why it failed, as far as this user may see it; requeue it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from jobu.admin.shared.excerpts import (
    MAX_EDITED_LENGTH,
    Excerpt,
    download,
    download_json,
    excerpt_of_bytes,
)
from jobu.admin.shared.params import sees_secrets
from jobu.conf import settings
from jobu.exceptions import DeadLetterError, MaskedError, MessageError
from jobu.handlers.registry import handlers
from jobu.jsonable import storable_text
from jobu.masking import restore_text
from jobu.messages import requeue
from jobu.messages.format import read_event
from jobu.models import DeadLetter, JobExecution
from jobu.models.dead_letter import masked
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from jobu.admin.dead_letters.model_admin import DeadLetterAdmin

_MAX_TEXT_LENGTH = 2_000
_MAX_HEADERS = 30


class RequeueForm(forms.Form):
    """The message; only users who may publish can edit it. A large message has no field."""

    body = forms.CharField(
        label=_("Message"),
        strip=False,
        widget=forms.Textarea({"class": "vLargeTextField jobu-json", "rows": 12}),
    )

    def __init__(self, data: Any, letter: DeadLetter, text: str | None, *, may_edit: bool) -> None:
        self.text = text
        self.may_edit = may_edit
        super().__init__(data, initial={"body": text})
        self.fields["body"].widget.attrs["readonly"] = not may_edit
        if len(letter.body) > MAX_EDITED_LENGTH:
            del self.fields["body"]

    def edited_body(self) -> str | None:
        """Return the text if somebody edited it; None if the bytes go as they came."""
        if "body" not in self.fields:
            return None
        body = _normal(self.cleaned_data["body"])
        return body if self.text is None or body != _normal(self.text) else None


def detail_view(request: HttpRequest, admin: DeadLetterAdmin, object_id: str) -> HttpResponse:
    """Show the message; a post requeues it, with the text of the form if that was edited."""
    if not admin.has_view_permission(request):
        raise PermissionDenied
    if request.method == "POST" and not admin.has_requeue_permission(request):
        raise PermissionDenied
    letter: Any = admin.get_object(request, object_id)
    if letter is None:
        return admin.gone(request, object_id)
    # Another text is a message of one's own.
    may_edit = admin.allows(request, "publish_message")
    posted = request.POST if request.method == "POST" else None
    form = RequeueForm(posted, letter, _shown_text(request, letter), may_edit=may_edit)
    if request.method == "POST" and form.is_valid():
        execution = _requeue_by_form(request, admin, letter, form)
        if execution is not None:
            note = gettext("Requeued as execution #%s.") % execution.pk
            admin.message_user(request, note, messages.SUCCESS)
            return HttpResponseRedirect(_after(request, admin, execution.pk))
    return _page(request, admin, letter, form)


def requeue_and_record(
    request: HttpRequest, admin: DeadLetterAdmin, letter: DeadLetter, body: str | None = None
) -> JobExecution:
    """Requeue a message, with another body if one is given, and write that into the history."""
    with write_transaction(settings.DATABASE):
        execution = requeue(letter.pk, body)
        note = gettext("Requeued as execution #%s.") % execution.pk
        admin.record(request, [(letter.pk, str(letter))], note)
    return execution


def download_view(request: HttpRequest, admin: DeadLetterAdmin, pk: int, name: str) -> HttpResponse:
    """Return the whole of a value; the page shows only its beginning."""
    if name not in ("body", "key", "headers"):
        raise Http404(name)
    letter = get_object_or_404(DeadLetter.objects.only(name), pk=pk)
    if not admin.has_view_permission(request, letter):
        raise PermissionDenied
    if name == "headers":
        return download_json(_seen_headers(request, letter), f"dead-letter-{pk}.headers.json")
    content = getattr(letter, name) or b""
    if name == "body" and not sees_secrets(request):
        content = masked(content)
    return download(content, f"dead-letter-{pk}.{name}.txt")


def _requeue_by_form(
    request: HttpRequest, admin: DeadLetterAdmin, letter: DeadLetter, form: RequeueForm
) -> JobExecution | None:
    """Requeue the message; return None if that failed, and the form says why."""
    edited = form.edited_body()
    if edited is not None and not form.may_edit:
        raise PermissionDenied
    try:
        body = None if edited is None else _unmasked(edited, letter)
        return requeue_and_record(request, admin, letter, body)
    except (MaskedError, MessageError, DeadLetterError) as error:
        form.add_error("body" if "body" in form.fields else None, str(error))
        return None


def _page(
    request: HttpRequest, admin: DeadLetterAdmin, letter: Any, form: RequeueForm
) -> HttpResponse:
    # A message that is not text can be requeued only with a text that somebody wrote.
    is_requeueable = admin.has_requeue_permission(request) and (
        form.may_edit or form.text is not None
    )
    context = {
        "original": letter,
        "letter": letter,
        "media": admin.media + form.media,
        "form": form if letter.requeued_at is None and is_requeueable else None,
        "may_discard": letter.is_open and admin.has_discard_permission(request),
        "reason": storable_text(letter.reason, _MAX_TEXT_LENGTH),
        "key": excerpt_of_bytes(letter.key or b"", _MAX_TEXT_LENGTH),
        **_shown_headers(request, letter),
        "shown": _body_excerpt(request, letter),
        "is_text": form.text is not None,
        "may_edit": form.may_edit,
        "is_masked": form.text != _text_of(letter),
        "state": admin.state(letter),
        "may_see_executions": admin.shows(request, JobExecution),
        "received": admin.received(letter),
        "size": admin.size(letter),
    }
    return admin.render(request, "admin/jobu/deadletter/detail.html", str(letter), context)


def _text_of(letter: DeadLetter) -> str | None:
    """Return the body as text, None if it is not text."""
    body: bytes = letter.body
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


def _shown_text(request: HttpRequest, letter: DeadLetter) -> str | None:
    """Return the body as text, masked for users who may not see secrets."""
    text = _text_of(letter)
    return text if text is None or sees_secrets(request) else masked(letter.body)


def _body_excerpt(request: HttpRequest, letter: DeadLetter) -> Excerpt:
    beginning = excerpt_of_bytes(letter.body)
    if sees_secrets(request):
        return beginning
    return Excerpt(masked(beginning.text.encode()), beginning.is_cut)


def _seen_headers(request: HttpRequest, letter: DeadLetter) -> Any:
    return letter.headers if sees_secrets(request) else letter.masked_headers()


def _shown_headers(request: HttpRequest, letter: DeadLetter) -> dict[str, Any]:
    pairs = _seen_headers(request, letter)
    cut = [tuple(storable_text(str(text), _MAX_TEXT_LENGTH) for text in pair) for pair in pairs]
    shown = cut[:_MAX_HEADERS]
    return {"headers": shown, "headers_are_cut": shown != [tuple(pair) for pair in pairs]}


def _unmasked(body: str, letter: DeadLetter) -> str:
    """Put masked values back, unless the handler that the body names now would show them."""
    name = read_event(body.encode(errors="surrogatepass")).handler_name
    return restore_text(body, _text_of(letter) or "", handlers.sensitive_of(name))


def _normal(text: str) -> str:
    """Undo what a browser does to the ends of lines."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _after(request: HttpRequest, admin: DeadLetterAdmin, execution_id: int) -> str:
    if request.user.has_perm("jobu.view_jobexecution"):
        return reverse("admin:jobu_jobexecution_change", args=[execution_id])
    return admin.list_address(request)
