"""What jobu sets out to show within one run: target, measured, whether it holds.

A target whose subjects were not measured says so; it is never left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.figures import Results

_COMPARE = {
    "≥": lambda measured, needed: measured >= needed,
    ">": lambda measured, needed: measured > needed,
    "≤": lambda measured, needed: measured <= needed,
    "<": lambda measured, needed: measured < needed,
}
_DATABASES = {"postgres": "PostgreSQL", "mysql": "MariaDB", "sqlite": "SQLite"}


@dataclass(frozen=True)
class Target:
    """A figure, written `subject: figure`, alone or beside the best of others.

    `subject: figure*` is the best of the figures that begin so.
    """

    number: int
    text: str
    figure: str
    sign: str
    needed: float
    beside: tuple[str, ...] = ()
    unit: str = "×"


@dataclass(frozen=True)
class Verdict:
    target: Target
    measured: float | None
    missing: str = ""

    @property
    def holds(self) -> bool | None:
        if self.measured is None:
            return None
        return bool(_COMPARE[self.target.sign](self.measured, self.target.needed))

    @property
    def row(self) -> tuple[str, str, str, str]:
        """Return what a table shows: the target, what is needed, what was measured, the verdict."""
        target = self.target
        needed = f"{target.sign} {target.needed:,g} {target.unit}"
        word = {True: "holds", False: "does not hold", None: "not measured"}[self.holds]
        if self.measured is None:
            return f"{target.number}. {target.text}", needed, f"no {self.missing}", word
        digits = ",.0f" if self.measured >= 1000 else ".2f"
        shown = f"{self.measured:{digits}} {target.unit}"
        return f"{target.number}. {target.text}", needed, shown, word


def verdicts(results: Results) -> list[Verdict]:
    return [_judge(target, results) for target in _targets()]


def _targets() -> Iterator[Target]:
    for kind in ("sync", "async"):
        ours, text = f"jobu.postgres: drain {kind}", f"PostgreSQL, {kind} handlers, beside"
        yield Target(1, f"{text} pgqueuer", ours, "≥", 1.2, ("pgqueuer: drain batch*",))
        yield Target(1, f"{text} Celery", ours, "≥", 15, ("celery: drain*",))
        yield Target(1, f"{text} procrastinate", ours, "≥", 20, _PROCRASTINATE)
        yield Target(1, f"{text} what django-q2 stores", ours, "≥", 20, _DJANGO_Q2)
        limit = f"extremes.postgres: {kind} beside the raw limit"
        yield Target(1, f"{text} the raw limit at 100", limit, "≥", 0.5)
    ours, theirs = "jobu.postgres: drain 2 processes", ("pgqueuer: drain 2 processes",)
    yield Target(2, "PostgreSQL, two processes, beside pgqueuer's two", ours, ">", 1, theirs)
    limit = "extremes.mysql: sync beside the raw limit"
    yield Target(3, "MariaDB, beside the raw limit at 100", limit, "≥", 0.5)
    ours, theirs = "jobu.sqlite: drain sync", ("django-tasks-db.sqlite: drain*",)
    yield Target(3, "SQLite, beside django-tasks-db on SQLite", ours, "≥", 20, theirs)
    yield Target(3, "SQLite, beside huey on SQLite", ours, "≥", 5, ("huey.sqlite: drain*",))
    yield from _latency_targets()
    ours = "jobu.postgres: enqueue_many"
    yield Target(5, "enqueue_many on PostgreSQL", ours, "≥", 25_000, unit="/s")
    many = "extremes.postgres: enqueue_many beside the raw unnest"
    yield Target(5, "enqueue_many, beside the raw unnest", many, "≥", 0.3)
    one = "extremes.postgres: enqueue beside the raw insert"
    yield Target(5, "enqueue, beside the raw insert", one, "≥", 0.5)
    for kind, title in _DATABASES.items():
        for rows in ("pending", "finished", "finished, ten times as many"):
            text = f"{title} with a backlog, {rows}, beside an empty table"
            yield Target(6, text, f"extremes.{kind}: backlog {rows}", "≥", 0.8)
    for kind, title in _DATABASES.items():
        ours = f"extremes.{kind}"
        text = f"jobs of 50 ms in five slots on {title}"
        yield Target(7, text, f"{ours}: slot use", "≥", 95, unit="%")
        text = f"latency p50 on {title} among 20,000 lanes, beside none"
        yield Target(9, text, f"{ours}: latency among many lanes", "≤", 2)
        for page in ("metrics", "dashboard"):
            text = f"{page} on {title} among 20,000 lanes"
            yield Target(9, text, f"{ours}: {page} among many lanes", "≤", 1000, unit="ms")
        text = f"2,000,000 jobs on {title}, the last tenth beside the first"
        yield Target(8, text, f"{ours}: soak, last tenth beside the first", "≥", 0.9)
        text = f"2,000,000 jobs on {title}, memory beside that after 200,000"
        memory = f"{ours}: soak, memory at the end beside that after the beginning"
        yield Target(8, text, memory, "≤", 1.1)


def _latency_targets() -> Iterator[Target]:
    ours, text = "jobu.postgres: latency p50", "latency p50 on PostgreSQL, beside"
    theirs = ("procrastinate.async: latency p50",)
    yield Target(4, f"{text} procrastinate", ours, "≤", 1, theirs)
    yield Target(4, f"{text} Celery", ours, "≤", 1.5, ("celery: latency p50",))
    ours = "jobu.postgres: latency p99"
    yield Target(4, "latency p99 on PostgreSQL", ours, "≤", 10, unit="ms")
    ours = "jobu.sqlite: latency p50"
    yield Target(4, "latency p50 on SQLite", ours, "≤", 30, unit="ms")
    for kind, title in _DATABASES.items():
        text, ours = f"an idle worker on {title}", f"extremes.{kind}: idle"
        yield Target(4, text, ours, "<", 1, unit="% of a core")


_PROCRASTINATE = ("procrastinate.async: drain*", "procrastinate.django: drain*")
_DJANGO_Q2 = ("django-q2.orm: drain*", "django-q2.redis: drain*")


def _judge(target: Target, results: Results) -> Verdict:
    ours = results.find(target.figure)
    if ours is None:
        return Verdict(target, None, target.figure)
    if not target.beside:
        return Verdict(target, ours)
    found = [value for place in target.beside if (value := results.find(place))]
    if not found:
        return Verdict(target, None, " or ".join(target.beside))
    return Verdict(target, ours / max(found))
