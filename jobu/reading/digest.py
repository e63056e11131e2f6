"""The content of a summary: counts and durations of the executions that finished in a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from django.db.models import Count

from jobu.models import JobExecution
from jobu.reading.histogram import bin_of
from jobu.reading.names import told_apart

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from jobu.models.job_execution import JobExecutionQuerySet

Counts = dict[str, dict[str, int]]

_SAMPLE_SIZE = 1_000
"""How many durations are read; if more executions finished, each stands for several."""


@dataclass(slots=True)
class Digest:
    """Counts are exact; durations come from a sample and are weighted to match the count."""

    outcomes: Counts = field(default_factory=dict)
    """Handler → status → how many executions."""
    runs: Counts = field(default_factory=dict)
    """Handler → a histogram of how long the last attempts ran."""
    waits: Counts = field(default_factory=dict)
    """Queue → a histogram of how long executions that were due waited for a slot."""
    waiting: dict[str, int] | None = None
    """Queue → how many were due, the maximum of several looks; None if nobody looked."""
    is_capped: bool = False
    """Whether more executions finished than were counted."""

    @classmethod
    def between(cls, begin: datetime, end: datetime, *, limit: int | None = None) -> Self:
        """Read executions that finished from `begin` until before `end`, the first `limit`."""
        finished = _finished(begin, end)
        digest = cls()
        if limit is not None and (cut := _time_of(finished, limit)) is not None:
            finished = _finished(begin, cut)
            digest.is_capped = True
        total = 0
        counts = finished.values_list("handler_name", "status").annotate(count=Count("id"))
        for handler, status, count in counts.order_by():
            _count(digest.outcomes, handler, status, count)
            total += count
        if total:
            digest._measure(finished, total)
        return digest

    @classmethod
    def of(cls, digests: Iterable[Digest]) -> Self:
        """Add several digests up."""
        whole = cls()
        for each in digests:
            _add(whole.outcomes, each.outcomes)
            _add(whole.runs, each.runs)
            _add(whole.waits, each.waits)
            whole.is_capped = whole.is_capped or each.is_capped
            if each.waiting is not None:
                seen = whole.waiting = whole.waiting or {}
                for queue, count in each.waiting.items():
                    name = told_apart(queue, seen)
                    seen[name] = max(count, seen.get(name, 0))
        return whole

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        return cls(
            outcomes=content.get("outcomes", {}),
            runs=content.get("runs", {}),
            waits=content.get("waits", {}),
            waiting=content.get("waiting"),
        )

    def content(self) -> dict[str, Any]:
        """Return it as JSON, without its empty parts."""
        parts = {"outcomes": self.outcomes, "runs": self.runs, "waits": self.waits}
        content: dict[str, Any] = {name: part for name, part in parts.items() if part}
        if self.waiting is not None:
            content["waiting"] = self.waiting
        return content

    def _measure(self, finished: JobExecutionQuerySet, total: int) -> None:
        sample = finished.values_list(
            "handler_name", "queue", "available_at", "started_at", "finished_at"
        ).order_by("finished_at")[:_SAMPLE_SIZE]
        weight = max(1, round(total / _SAMPLE_SIZE))
        for handler, queue, available_at, started_at, finished_at in sample:
            # An execution that was cancelled while it waited never started.
            if started_at is not None and finished_at is not None:
                ran, waited = finished_at - started_at, started_at - available_at
                _count(self.runs, handler, bin_of(ran.total_seconds()), weight)
                _count(self.waits, queue, bin_of(waited.total_seconds()), weight)


def _add(totals: Counts, more: Counts) -> None:
    for key, counts in more.items():
        into = totals.setdefault(told_apart(key, totals), {})
        for name, count in counts.items():
            into[name] = into.get(name, 0) + count


def _count(totals: Counts, key: str, name: str, count: int) -> None:
    into = totals.setdefault(told_apart(key, totals), {})
    into[name] = into.get(name, 0) + count


def _finished(begin: datetime, end: datetime) -> JobExecutionQuerySet:
    return JobExecution.objects.finished().filter(finished_at__gte=begin, finished_at__lt=end)


def _time_of(finished: JobExecutionQuerySet, number: int) -> datetime | None:
    """Return the finish time at that position, None if there are fewer executions."""
    times = finished.order_by("finished_at").values_list("finished_at", flat=True)
    return next(iter(times[number : number + 1]), None)
