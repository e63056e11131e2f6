"""Until there is a release, no page tells a reader to install from the package index."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.packaging.distributions import ROOT

pytestmark = pytest.mark.pure

PAGES = sorted([ROOT / "README.md", ROOT / "README.ko.md", *(ROOT / "docs").rglob("*.md")])
ABOUT_RELEASES = {"releasing.md", "decisions.md"}


def page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_what_a_page_installs_is_there(page: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    is_released = ".dev" not in project["version"]
    if is_released or page.name in ABOUT_RELEASES:
        return
    assert not re.search(r'pip install "?django-jobu', page.read_text())
