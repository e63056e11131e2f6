"""Times, durations, short texts and coloured words, as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.html import format_html
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from jobu.jsonable import storable_text

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from django.utils.safestring import SafeString

_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_MANY = 10
_MAX_CUT_LENGTH = 300
_MAX_TITLE_LENGTH = 500


def duration(seconds: float) -> str:
    """Say how long something took, with two digits or two units."""
    if seconds < 1:
        return _("%(count)s ms") % {"count": round(max(seconds, 0) * 1000)}
    if seconds < 9.95:
        return _("%(count)s s") % {"count": f"{seconds:.1f}"}
    return _whole(round(seconds))


def relative(moment: datetime, now: datetime) -> str:
    """Say how far away a moment is: "in 8 s", "3 min 5 s ago"."""
    seconds = (moment - now).total_seconds()
    if seconds > 0:
        return _("in %(duration)s") % {"duration": _whole(max(1, round(seconds)))}
    return _("%(duration)s ago") % {"duration": _whole(round(-seconds))}


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


def _whole(seconds: int) -> str:
    if seconds < _MINUTE:
        return _("%(count)s s") % {"count": seconds}
    if seconds < _HOUR:
        large, small = _("%(count)s min"), _("%(count)s s")
        return _two(seconds, _MINUTE, 1, large, small)
    if seconds < _DAY:
        return _two(seconds, _HOUR, _MINUTE, _("%(count)s h"), _("%(count)s min"))
    return _two(seconds, _DAY, _HOUR, _("%(count)s d"), _("%(count)s h"))


def _two(seconds: int, large: int, small: int, large_unit: str, small_unit: str) -> str:
    """Say it in the large unit; while there are few of those, add the rest in the small one."""
    whole, rest = divmod(seconds, large)
    parts = [large_unit % {"count": whole}]
    if rest // small and whole < _MANY:
        parts.append(small_unit % {"count": rest // small})
    return " ".join(parts)
