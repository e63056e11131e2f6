"""The ranges of time that the dashboard shows, and their steps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_GRACE = timedelta(seconds=20)
"""How long after its end a step counts as complete: outcomes are settled a little later."""
_LIVE = timedelta(minutes=3)


class Range(TextChoices):
    """How far to look back."""

    HOUR = "hour", _("last hour")
    DAY = "day", _("last day")
    WEEK = "week", _("last week")

    @property
    def length(self) -> timedelta:
        return _LENGTHS[self]

    @property
    def step(self) -> timedelta:
        """The length of time of one bar of a chart."""
        return _STEPS[self]

    def begin(self, now: datetime) -> datetime:
        """Return the beginning of the first step; the last one is the step of `now`."""
        return self.floor(now) - self.length + self.step

    def floor(self, time: datetime) -> datetime:
        """Return the beginning of the step that contains `time`."""
        return _floor(time, self.step)


_LENGTHS = {
    Range.HOUR: timedelta(hours=1),
    Range.DAY: timedelta(days=1),
    Range.WEEK: timedelta(days=7),
}
_STEPS = {
    Range.HOUR: timedelta(minutes=1),
    Range.DAY: timedelta(minutes=15),
    Range.WEEK: timedelta(hours=2),
}


def _floor(time: datetime, step: timedelta) -> datetime:
    return time - (time - _EPOCH) % step


def complete_until(step: timedelta, now: datetime) -> datetime:
    """Return the end of the last complete step."""
    return _floor(now - _GRACE, step)


def live_since(now: datetime) -> datetime:
    """Return the time from which on executions without a summary are read one by one."""
    return Range.HOUR.floor(now - _LIVE)


def steps_between(begin: datetime, end: datetime, step: timedelta) -> list[datetime]:
    """Return the beginnings of the steps, newest first."""
    count = max(0, -((begin - end) // step))
    return [end - (number + 1) * step for number in range(count)]
