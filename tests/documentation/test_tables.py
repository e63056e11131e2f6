"""Tables that people write are kept true by the code."""

from __future__ import annotations

import ast
import re

import pytest

from jobu.conf import PREFIX, Settings, setting_types
from tests.packaging.distributions import ROOT

pytestmark = pytest.mark.pure

PAGE = (ROOT / "docs" / "settings.md").read_text()


def test_each_setting_has_its_row_with_its_default() -> None:
    rows = re.findall(rf"^\| `{PREFIX}(\w+)` \| [^|]+ \| `([^`]+)` \|", PAGE, re.MULTILINE)
    documented = {name: ast.literal_eval(default) for name, default in rows}
    assert documented == {name: getattr(Settings, name) for name in setting_types}


def test_each_system_check_has_its_row() -> None:
    used = set()
    for path in (ROOT / "jobu").rglob("*.py"):
        used |= set(re.findall(r'id="(jobu\.[EW]\d+)"', path.read_text()))
    assert set(re.findall(r"^\| `(jobu\.[EW]\d+)` \|", PAGE, re.MULTILINE)) == used
