"""Times, durations, short texts and coloured words, as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.html import format_html
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from jobu.durations import duration as duration
from jobu.durations import whole
from jobu.jsonable import storable_text

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from django.utils.safestring import SafeString

_MAX_CUT_LENGTH = 300
_MAX_TITLE_LENGTH = 500


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


def cut_html(text: str, kind: str = "") -> SafeString:
    """Show a text on few lines; all of it, up to a limit, when it is pointed at."""
    title = storable_text(text, _MAX_TITLE_LENGTH)
    return format_html(
        '<div class="jobu-cut {}" title="{}">{}</div>', kind, title, shorten(text, _MAX_CUT_LENGTH)
    )


def labelled(label: object, value: object) -> SafeString:
    """Name a value where the list has no columns, on a narrow screen."""
    return format_html('<span class="jobu-label">{}</span> {}', label, value)


def badge(kind: str, text: str) -> SafeString:
    """Show a word in the colour of a kind: a status, or `retrying`, `later`, `stopping`."""
    return format_html('<span class="jobu-badge jobu-{}">{}</span>', kind, text)
