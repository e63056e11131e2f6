"""How many executions finished in a range of time, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobu.models import Summary
from jobu.outcomes import DEAD, FINISHED
from jobu.reading.digest import Digest
from jobu.reading.histogram import percentile
from jobu.reading.ranges import Range, live_since, steps_between
from jobu.reading.summarize import FINER

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from jobu.reading.digest import Counts

_MAX_READ_LIVE = 50_000
"""The maximum that is counted in a minute that has no summary yet."""


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Percentiles of durations in seconds, with an error of about a tenth."""

    p50: float
    p95: float
    p99: float


@dataclass(frozen=True, slots=True)
class Step:
    """The executions that finished from `begins_at` on, until the next step begins.

    `outcomes` has a count for each final status. `waiting` has the maximum that waited in each
    queue; it is None if nobody looked. If `is_capped`, more executions finished than were counted.
    """

    begins_at: datetime
    outcomes: dict[str, int]
    run: Percentiles | None
    wait: Percentiles | None
    waiting: dict[str, int] | None
    is_capped: bool


@dataclass(frozen=True, slots=True)
class HandlerStats:
    """How one handler's executions ended; dead ones failed or timed out for good."""

    name: str
    finished: int
    dead: int
    failure_rate: float
    run: Percentiles | None


@dataclass(frozen=True, slots=True)
class Timeline:
    steps: list[Step]
    total: Step
    handlers: list[HandlerStats]


def read_timeline(chosen: Range, now: datetime) -> Timeline:
    """Read the range that ends `now` from its summaries, and its last minute or two live."""
    digests: dict[datetime, list[Digest]] = {
        begin: []
        for begin in reversed(
            steps_between(chosen.begin(now), chosen.floor(now) + chosen.step, chosen.step)
        )
    }
    for begin, digest in _digests(chosen, now):
        digests[chosen.floor(begin)].append(digest)
    steps = {
        begin: parts[0] if len(parts) == 1 else Digest.of(parts) for begin, parts in digests.items()
    }
    whole = Digest.of(steps.values())
    return Timeline(
        steps=[_step(begin, digest) for begin, digest in steps.items()],
        total=_step(chosen.begin(now), whole),
        handlers=_handlers(whole),
    )


def _digests(chosen: Range, now: datetime) -> Iterator[tuple[datetime, Digest]]:
    """Yield summaries, finer and finer ones, then digests of the minutes that have none yet."""
    end = chosen.begin(now)
    each: Range | None = chosen
    while each is not None:
        rows = Summary.objects.filter(
            seconds=each.step.seconds, begins_at__gte=end, begins_at__lt=now
        ).order_by("begins_at")
        for begins_at, content in rows.values_list("begins_at", "content"):
            yield begins_at, Digest.from_content(content)
            end = begins_at + each.step
        each = FINER.get(each)
    begin = max(end, live_since(now))
    minute = Range.HOUR.step
    for start in steps_between(begin, Range.HOUR.floor(now) + minute, minute):
        yield start, Digest.between(start, start + minute, limit=_MAX_READ_LIVE)


def _step(begin: datetime, digest: Digest) -> Step:
    return Step(
        begins_at=begin,
        outcomes={**{status.value: 0 for status in FINISHED}, **_together(digest.outcomes)},
        run=_percentiles(_together(digest.runs)),
        wait=_percentiles(_together(digest.waits)),
        waiting=digest.waiting,
        is_capped=digest.is_capped,
    )


def _handlers(digest: Digest) -> list[HandlerStats]:
    """Return the handlers, those with the most dead executions first."""
    found = []
    for name, counts in digest.outcomes.items():
        finished = sum(counts.values())
        dead = sum(counts.get(status.value, 0) for status in DEAD)
        run = _percentiles(digest.runs.get(name, {}))
        found.append(HandlerStats(name, finished, dead, dead / finished, run))
    return sorted(found, key=lambda each: (-each.dead, -each.finished, each.name))


def _together(parts: Counts) -> dict[str, int]:
    """Add up the counts of all handlers, or of all queues."""
    total: dict[str, int] = {}
    for counts in parts.values():
        for name, count in counts.items():
            total[name] = total.get(name, 0) + count
    return total


def _percentiles(histogram: dict[str, int]) -> Percentiles | None:
    p50, p95, p99 = (percentile(histogram, share) for share in (0.5, 0.95, 0.99))
    if p50 is None or p95 is None or p99 is None:
        return None
    return Percentiles(p50, p95, p99)
