"""Durations as people read them."""

from __future__ import annotations

from django.utils.translation import gettext as _

_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_MANY = 10


def duration(seconds: float) -> str:
    """Say how long something took, with two digits or two units."""
    if seconds < 1:
        return _("%(count)s ms") % {"count": round(max(seconds, 0) * 1000)}
    if seconds < 9.95:
        return _("%(count)s s") % {"count": f"{seconds:.1f}"}
    return whole(round(seconds))


def whole(seconds: int) -> str:
    """Say it in whole seconds or more."""
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
    count, rest = divmod(seconds, large)
    parts = [large_unit % {"count": count}]
    if rest // small and count < _MANY:
        parts.append(small_unit % {"count": rest // small})
    return " ".join(parts)
