"""What a run came to: for each subject its figures of all rounds, and what could not be had."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "results"
LATEST = FOLDER / "latest.json"
PUBLISHED = FOLDER / "published.json"
"""The run that docs/benchmarks.md shows."""

BUSY = 0.5
"""From which load on a machine is busy with something else."""
_LESS_IS_BETTER = ("latency", "idle", "cron", "processor", "statements")


@dataclass
class SubjectResult:
    title: str
    version: str = ""
    figures: dict[str, list[float]] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)

    def add(self, figure: str, value: float) -> None:
        self.figures.setdefault(figure, []).append(value)

    def best(self, figure: str) -> float | None:
        values = self.figures.get(figure)
        if not values:
            return None
        return min(values) if figure.startswith(_LESS_IS_BETTER) else max(values)

    def spread(self, figure: str) -> str:
        """Return how far the rounds are apart, in percent of the best."""
        values = self.figures[figure]
        best = self.best(figure)
        return f"{(max(values) - min(values)) / best:.0%}" if best and len(values) > 1 else "–"


@dataclass
class Results:
    sizes: str
    begun_at: str
    machine: dict[str, str]
    subjects: dict[str, SubjectResult] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    """Subjects that were not measured at all, with the reason."""

    seconds: float = 0

    def find(self, place: str) -> float | None:
        """Return the best of `subject: figure`, or of all that begin so for `subject: figure*`."""
        name, _, figure = place.partition(": ")
        subject = self.subjects.get(name)
        if subject is None:
            return None
        if not figure.endswith("*"):
            return subject.best(figure)
        matching = [known for known in subject.figures if known.startswith(figure[:-1])]
        return max(filter(None, map(subject.best, matching)), default=None)

    @property
    def warning(self) -> str:
        """Say that others worked on the machine, if they did; such figures mean little."""
        load = float(self.machine.get("load before", 0))
        if load < BUSY:
            return ""
        return f"The machine was busy, its load {load} before the run: these figures mean little."

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n")


def load(path: Path) -> Results:
    raw: dict[str, Any] = json.loads(path.read_text())
    subjects = {name: SubjectResult(**fields) for name, fields in raw.pop("subjects").items()}
    return Results(**raw, subjects=subjects)
