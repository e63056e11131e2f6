"""The page about the architecture names files that are there, and short paths."""

from __future__ import annotations

import re

import pytest

from tests.packaging.distributions import ROOT

pytestmark = pytest.mark.pure

PAGE = (ROOT / "docs" / "architecture.md").read_text()
PICTURE = (ROOT / "docs" / "images" / "architecture.svg").read_text()
PATHS = ("From `enqueue()` to the settled row", "A tick", "A message", "A page of the admin")
MAX_FILES = 14


def stations(title: str) -> list[str]:
    section = PAGE.split(f"## {title}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| \d+ \| `([^`]+)`", section, re.MULTILINE)


def test_every_file_on_the_page_is_there() -> None:
    named = re.findall(r"`(jobu/[\w/.]+)`", PAGE)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_file_in_the_picture_is_there() -> None:
    named = re.findall(r"\w+/[\w/]+\.py", PICTURE)
    assert named
    assert [name for name in named if not (ROOT / "jobu" / name).exists()] == []


@pytest.mark.parametrize("title", PATHS)
def test_a_path_has_few_files_and_none_twice(title: str) -> None:
    path = stations(title)
    assert 0 < len(path) == len(set(path)) <= MAX_FILES
