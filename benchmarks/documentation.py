"""Put the results into docs/benchmarks.md, between its marks, and the picture beside it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchmarks.catalogue import load
from benchmarks.picture import draw
from benchmarks.tables import tables
from benchmarks.workers import ROOT

if TYPE_CHECKING:
    from benchmarks.figures import Results

PAGE = ROOT / "docs" / "benchmarks.md"
PICTURE = ROOT / "docs" / "images" / "benchmarks.svg"


def write(results: Results) -> None:
    page = PAGE.read_text()
    page = _replace(page, "machine", _machine(results))
    page = _replace(page, "results", "\n\n".join(table.markdown() for table in tables(results)))
    page = _replace(page, "settings", _settings(results))
    PAGE.write_text(page)
    PICTURE.write_text(draw(results))


def _replace(page: str, mark: str, text: str) -> str:
    begin, end = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
    pattern = re.compile(f"{re.escape(begin)}.*{re.escape(end)}", re.DOTALL)
    return pattern.sub(lambda _: f"{begin}\n{text}\n{end}", page, count=1)


def _machine(results: Results) -> str:
    facts = {
        "measured": f"{results.begun_at}, sizes *{results.sizes}*, {results.seconds / 60:.0f} min",
        **results.machine,
    }
    rows = [f"| {name} | {fact} |" for name, fact in facts.items()]
    warning = [f"**{results.warning}**", ""] if results.warning else []
    return "\n".join([*warning, "| | |", "| --- | --- |", *rows])


def _settings(results: Results) -> str:
    subjects: dict[str, list[str]] = {}
    for name, subject in results.subjects.items():
        if not name.startswith("extremes"):
            named = f"{subject.title} {subject.version}".strip()
            subjects.setdefault(load(name).chosen, []).append(named)
    return "\n".join(f"- **{'; '.join(named)}:** {chosen}." for chosen, named in subjects.items())
