"""The results as tables, for a terminal and for the documentation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.targets import verdicts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.figures import Results, SubjectResult

_WORTH_MENTIONING = 1.25
"""How much faster running must be than storing, to be shown beside it."""


_TARGET_HEAD = ("target", "needed", "measured", "")


@dataclass(frozen=True)
class Table:
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def text(self) -> str:
        widths = [max(map(len, column)) for column in zip(self.head, *self.rows, strict=True)]

        def line(cells: Sequence[str]) -> str:
            return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))

        head = line(self.head)
        body = [line(row).rstrip() for row in self.rows]
        return "\n".join([self.title, head.rstrip(), "-" * len(head), *body])

    def markdown(self) -> str:
        rows = [[cell.replace("|", "\\|") for cell in row] for row in self.rows]
        lines = [self.head, ["---"] * len(self.head), *rows]
        return "\n".join([f"### {self.title}\n", *(f"| {' | '.join(cells)} |" for cells in lines)])


def tables(results: Results) -> Iterator[Table]:
    """Return those tables that have rows."""
    subjects = list(results.subjects.values())
    found = (
        Table("Drain", ("subject", "how", "jobs/s", "spread", ""), list(_drains(subjects))),
        Table("Raw limits", ("database", "how", "jobs/s", "spread"), list(_raw(subjects))),
        Table("Latency at idle", ("subject", "p50 ms", "p99 ms"), list(_latencies(subjects))),
        Table("Enqueue", ("subject", "one by one", "in bulk"), list(_enqueues(subjects))),
        Table("jobu besides", ("subject", "what", "figure"), list(_besides(subjects))),
        Table("Targets", _TARGET_HEAD, [verdict.row for verdict in verdicts(results)]),
        Table("Could not be measured", ("subject", "what", "why"), list(_problems(results))),
    )
    return (table for table in found if table.rows)


def _drains(subjects: Sequence[SubjectResult]) -> Iterator[Sequence[str]]:
    for subject in subjects:
        for figure in subject.figures:
            kind, _, way = figure.partition(" ")
            if kind != "drain":
                continue
            stored, ran = subject.best(figure), subject.best(f"ran {way}")
            is_slow = stored and ran and ran > _WORTH_MENTIONING * stored
            note = f"runs {ran:,.0f}/s, stores later" if is_slow else ""
            name = f"{subject.title} {subject.version}"
            yield name, way, f"{stored:,.0f}", subject.spread(figure), note


def _raw(subjects: Sequence[SubjectResult]) -> Iterator[Sequence[str]]:
    for subject in subjects:
        for figure in subject.figures:
            if "batch" in figure and not figure.startswith(("drain", "ran")):
                rate = f"{subject.best(figure):,.0f}"
                yield subject.title, figure, rate, subject.spread(figure)


def _latencies(subjects: Sequence[SubjectResult]) -> Iterator[Sequence[str]]:
    for subject in subjects:
        p50, p99 = subject.best("latency p50"), subject.best("latency p99")
        if p50 is not None and p99 is not None:
            yield subject.title, f"{p50:,.1f}", f"{p99:,.1f}"


def _enqueues(subjects: Sequence[SubjectResult]) -> Iterator[Sequence[str]]:
    for subject in subjects:
        one, many = subject.best("enqueue"), subject.best("enqueue_many")
        if one is not None:
            yield subject.title, f"{one:,.0f}/s", f"{many:,.0f}/s" if many else "–"


def _besides(subjects: Sequence[SubjectResult]) -> Iterator[Sequence[str]]:
    titles = {
        "sync beside the raw limit": ("sync handlers beside the raw limit at 100", "{:.2f} ×"),
        "async beside the raw limit": ("async handlers beside the raw limit at 100", "{:.2f} ×"),
        "enqueue beside the raw insert": ("enqueue beside the raw insert", "{:.2f} ×"),
        "enqueue_many beside the raw unnest": ("enqueue_many beside the raw unnest", "{:.2f} ×"),
        "idle": ("an idle worker", "{:.2f} % of a core"),
        "processor time per job": ("the worker's processor time for a job", "{:.0f} µs"),
        "statements for 1,000 jobs": ("the worker's statements for 1,000 jobs", "{:.0f}"),
        "slot use": ("five slots with jobs of 50 ms are busy", "{:.1f} % of the time"),
        "soak, last tenth beside the first": ("2,000,000 jobs: speed at the end", "{:.2f} ×"),
        "soak, memory at the end beside that after the beginning": (
            "2,000,000 jobs: memory at the end",
            "{:.2f} ×",
        ),
        "cron poll growth": ("a poll among 100 times the cron jobs", "{:.2f} × as long"),
        "drain, empty table": ("drain of few jobs on an empty table", "{:,.0f}/s"),
        "backlog pending": ("the same with a backlog of pending rows", "{:.2f} ×"),
        "backlog finished": ("the same with a history of finished rows", "{:.2f} ×"),
        "backlog finished, ten times as many": ("the same with ten times that", "{:.2f} ×"),
    }
    for subject in subjects:
        for figure, (title, shape) in titles.items():
            value = subject.best(figure)
            if value is not None:
                yield subject.title, title, shape.format(value)


def _problems(results: Results) -> Iterator[Sequence[str]]:
    for name, why in results.left_out.items():
        yield name, "everything", why
    for name, subject in results.subjects.items():
        for what, why in subject.problems.items():
            yield name, what, why
