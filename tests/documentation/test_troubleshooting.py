"""What docs/troubleshooting.md quotes is what the code writes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

from tests.documentation.blocks import blocks_of
from tests.packaging.distributions import ROOT

pytestmark = pytest.mark.pure

PAGE = (ROOT / "docs" / "troubleshooting.md").read_text()
LINES = [
    line
    for block in blocks_of(PAGE)
    if block.language == "text"
    for line in block.text.splitlines()
]
_ABOUT_AN_EXECUTION = re.compile(r"execution \d+ \(\w+, attempt \d+\): ")
_PLACEHOLDER = re.compile(r"%(?:\(\w+\))?[-+.,\d]*[sdrf]")
_FEWEST_LETTERS = {"logs": 6}
_FEWEST_LETTERS_ELSEWHERE = 9
"""A text with fewer of its own would match nearly anything."""


@pytest.mark.parametrize("line", LINES)
def test_each_line_that_the_page_quotes_is_written_by_the_code(line: str) -> None:
    text = _ABOUT_AN_EXECUTION.sub("", line)
    assert any(pattern.fullmatch(text) for pattern in patterns()), "nothing in jobu/ says so"


@cache
def patterns() -> list[re.Pattern[str]]:
    """Make a pattern of each text in the code, with anything where it has a value."""
    found = set()
    for path in (ROOT / "jobu").rglob("*.py"):
        fewest = _FEWEST_LETTERS.get(path.parent.name, _FEWEST_LETTERS_ELSEWHERE)
        for node in ast.walk(ast.parse(path.read_text())):
            parts = list(_parts(node))
            if sum(map(str.isalpha, "".join(filter(None, parts)))) >= fewest:
                found.add("".join(".*" if part is None else re.escape(part) for part in parts))
    return [re.compile(each) for each in found]


def _parts(node: ast.AST) -> Iterator[str | None]:
    """Yield what a text has, and None for each value; what follows its first line is left out."""
    match node:
        case ast.Constant(value=str(text)):
            head = text.partition("\n")[0]
            for index, part in enumerate(_PLACEHOLDER.split(head)):
                if index:
                    yield None
                yield part
        case ast.JoinedStr(values=values):
            for value in values:
                if isinstance(value, ast.Constant):
                    yield str(value.value)
                else:
                    yield None
