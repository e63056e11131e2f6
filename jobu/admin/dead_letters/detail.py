"""What a dead letter says, as far as this user may see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.shortcuts import get_object_or_404

from jobu.admin.shared.excerpts import Excerpt, download, download_json, excerpt_of_bytes
from jobu.admin.shared.params import sees_secrets
from jobu.handlers.registry import handlers
from jobu.jsonable import storable_text
from jobu.masking import restore_text
from jobu.models import DeadLetter
from jobu.models.dead_letter import masked
from jobu.queue.messages import read_event

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from jobu.admin.shared.base import JobuAdmin

MAX_TEXT_LENGTH = 2_000
_MOST_HEADERS = 30


def text_of(letter: DeadLetter) -> str | None:
    """Return the body as text, None if it is not."""
    body: bytes = letter.body
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


def shown_text(request: HttpRequest, letter: DeadLetter) -> str | None:
    """Return the body as text with masks, if this user may not see what is sensitive."""
    text = text_of(letter)
    return text if text is None or sees_secrets(request) else masked(letter.body)


def body_excerpt(request: HttpRequest, letter: DeadLetter) -> Excerpt:
    beginning = excerpt_of_bytes(letter.body)
    if sees_secrets(request):
        return beginning
    return Excerpt(masked(beginning.text.encode()), beginning.is_cut)


def shown_headers(request: HttpRequest, letter: DeadLetter) -> dict[str, Any]:
    pairs = letter.headers if sees_secrets(request) else letter.masked_headers()
    cut = [tuple(storable_text(str(text), MAX_TEXT_LENGTH) for text in pair) for pair in pairs]
    shown = cut[:_MOST_HEADERS]
    return {"headers": shown, "headers_are_cut": shown != [tuple(pair) for pair in pairs]}


def unmasked(body: str, letter: DeadLetter) -> str:
    """Put back what is masked, unless the handler that it names now would show it."""
    name = read_event(body.encode(errors="surrogatepass")).handler_name
    return restore_text(body, text_of(letter) or "", handlers.sensitive_of(name))


def download_view(request: HttpRequest, admin: JobuAdmin, pk: int, name: str) -> HttpResponse:
    """Return the whole of what the page shows the beginning of."""
    if name not in ("body", "key", "headers"):
        raise Http404(name)
    letter = get_object_or_404(DeadLetter.objects.only(name), pk=pk)
    if not admin.has_view_permission(request, letter):
        raise PermissionDenied
    if name == "headers":
        headers = letter.headers if sees_secrets(request) else letter.masked_headers()
        return download_json(headers, f"dead-letter-{pk}.headers.json")
    content = getattr(letter, name) or b""
    if name == "body" and not sees_secrets(request):
        content = masked(content)
    return download(content, f"dead-letter-{pk}.{name}.txt")
