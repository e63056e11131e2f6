"""Times, durations, short texts and coloured words, as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.html import format_html
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from jobu.durations import duration as duration
from jobu.durations import whole

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from django.utils.safestring import SafeString


def relative(moment: datetime, now: datetime) -> str:
    """Say how far away a moment is: "in 8 s", "3 min 5 s ago"."""
    seconds = (moment - now).total_seconds()
    if seconds > 0:
        return _("in %(duration)s") % {"duration": whole(max(1, round(seconds)))}
    return _("%(duration)s ago") % {"duration": whole(round(-seconds))}


def absolute(moment: datetime, zone: tzinfo | None = None) -> str:
    """Write a moment the same way in every language, in a zone or in the reader's own."""
    local = localtime(moment, zone)
    return f"{local:%Y-%m-%d %H:%M:%S %Z}" if local.second else f"{local:%Y-%m-%d %H:%M %Z}"


def moment_html(moment: datetime, now: datetime) -> SafeString:
    """Show a moment relative to now; its date and time when it is pointed at."""
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        moment.isoformat(),
        absolute(moment),
        relative(moment, now),
    )


def shorten(text: str, limit: int) -> str:
    """Cut a long text, and show by an ellipsis that it was cut."""
    return f"{text[:limit]}…" if len(text) > limit else text


def badge(kind: str, text: str) -> SafeString:
    """Show a word in the colour of a kind: a status, or `retrying`, `later`, `stopping`."""
    return format_html('<span class="jobu-badge jobu-{}">{}</span>', kind, text)
