"""The beginning of large values and texts for a page, and the whole as a download."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.template.loader import render_to_string

MAX_VALUE_LENGTH = 20_000
MAX_EDITED_LENGTH = 100_000

_encoder = json.JSONEncoder(indent=2, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What a page shows of something; `is_cut` if that is only its beginning."""

    text: str
    is_cut: bool

    def html(self, whole: str) -> str:
        """Render it; `whole` is where to download the rest."""
        return render_to_string("admin/jobu/excerpt.html", {"excerpt": self, "whole": whole})


def excerpt(value: Any, limit: int = MAX_VALUE_LENGTH) -> Excerpt:
    """Write a value as JSON over several lines, and stop at the limit.

    Indentation can turn one megabyte into thirty, so the whole is never written.
    """
    parts: list[str] = []
    length = 0
    for part in _encoder.iterencode(value):
        parts.append(part)
        length += len(part)
        if length > limit:
            break
    return excerpt_of_text("".join(parts), limit)


def beginning(value: Any, limit: int = MAX_VALUE_LENGTH) -> Any:
    """Return a copy of the first parts of a JSON value: as many as a page could show.

    What is left out lies beyond the limit of an excerpt, because each part has a character at
    least. To mask megabytes of which a page shows the beginning would take seconds.
    """
    room = limit

    def copy(part: Any) -> Any:
        nonlocal room
        room -= 1
        if isinstance(part, dict):
            made = {}
            for name, item in part.items():
                if room <= 0:
                    break
                made[name] = copy(item)
            return made
        if isinstance(part, list):
            items = []
            for item in part:
                if room <= 0:
                    break
                items.append(copy(item))
            return items
        return part

    return copy(value)


def excerpt_of_text(text: str, limit: int = MAX_VALUE_LENGTH) -> Excerpt:
    return Excerpt(text[:limit], is_cut=len(text) > limit)


def excerpt_of_bytes(content: bytes, limit: int = MAX_VALUE_LENGTH) -> Excerpt:
    """Decode only the bytes that are shown; escape those that are not UTF-8."""
    # A character has up to four bytes. One more byte shows that the text goes on.
    return excerpt_of_text(content[: 4 * limit + 1].decode(errors="backslashreplace"), limit)


def download(content: bytes | str, filename: str) -> HttpResponse:
    """Return a file that browsers save; they neither show it nor guess its type."""
    kind = "application/json" if filename.endswith(".json") else "text/plain"
    return HttpResponse(
        content,
        headers={
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Disposition": f'attachment; filename="{filename}"',
            "X-Content-Type-Options": "nosniff",
        },
    )


def download_json(value: Any, filename: str) -> HttpResponse:
    """Return a value as a JSON file on one line."""
    return download(json.dumps(value, ensure_ascii=False), filename)
