"""Ids that come from an address or a form, and addresses that keep the filter of a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.urls import reverse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.http import HttpRequest

# Any number with so few digits fits into the column of an id.
_MAX_DIGITS = 18


def id_of(text: str) -> int | None:
    """Return the id that the text says, None if it says none that a row can have."""
    is_id = text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
    return int(text) if is_id else None


def ids_of(texts: Iterable[str]) -> list[int]:
    """Return the ids among the texts."""
    return [found for found in map(id_of, texts) if found is not None]


def filtered(request: HttpRequest, view: str, *args: object) -> str:
    """Return the address of a view with the query of this request: the filter of the list."""
    address, query = reverse(view, args=args), request.GET.urlencode()
    return f"{address}?{query}" if query else address
