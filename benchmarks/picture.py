"""The drains as a bar chart: SVG in our own few lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from benchmarks.figures import Results

_WIDTH, _LEFT, _RIGHT, _TOP = 860, 290, 110, 58
_ROW, _BAR = 26, 18
_TITLE = "Jobs per second, jobs that do nothing, the best way of each"
_COLOURS = {"jobu": "#0b6e4f", "raw": "#b9c0c7", "peer": "#6b8fb5"}

_NOT_SHOWN = {"raw.sqlite"}
"""Without commits that wait for the disk its bar would dwarf all others."""


class Bar(NamedTuple):
    label: str
    rate: float
    kind: str


def draw(results: Results) -> str:
    bars = sorted(_bars(results), key=lambda bar: -bar.rate)
    most = max((bar.rate for bar in bars), default=1)
    height = _TOP + _ROW * len(bars) + 16
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" font-family="system-ui, sans-serif" font-size="13">',
        f"<title>{_TITLE}</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="16" y="26" font-size="16" font-weight="600" fill="#1c2126">{_TITLE}</text>',
        f'<text x="16" y="45" fill="#59636e">{escape(_subtitle(results))}</text>',
    ]
    for index, bar in enumerate(bars):
        top = _TOP + index * _ROW
        length = max(1.0, bar.rate / most * (_WIDTH - _LEFT - _RIGHT))
        weight = ' font-weight="600"' if bar.kind == "jobu" else ""
        parts += [
            f'<text x="{_LEFT - 10}" y="{top + 14}" text-anchor="end" fill="#1c2126"{weight}>'
            f"{escape(bar.label)}</text>",
            f'<rect x="{_LEFT}" y="{top}" width="{length:.1f}" height="{_BAR}" rx="2" '
            f'fill="{_COLOURS[bar.kind]}"/>',
            f'<text x="{_LEFT + length + 8:.1f}" y="{top + 14}" fill="#1c2126"{weight}>'
            f"{bar.rate:,.0f}</text>",
        ]
    return "\n".join([*parts, "</svg>", ""])


def _bars(results: Results) -> list[Bar]:
    """Return the best drain of each subject; of the raw limits those at a batch of 100."""
    bars = []
    for name, subject in results.subjects.items():
        if name in _NOT_SHOWN or name.startswith("extremes"):
            continue
        is_raw = name.startswith("raw")
        rate = results.find(f"{name}: {'batch 100' if is_raw else 'drain*'}")
        if rate is None:
            continue
        kind = "raw" if is_raw else "jobu" if name.startswith("jobu") else "peer"
        label = f"{subject.title}, batch 100" if is_raw else subject.title
        bars.append(Bar(label, rate, kind))
    return bars


def _subtitle(results: Results) -> str:
    machine = results.machine
    return f"{machine['processor']}, Python {machine['Python']}, {results.begun_at}"
