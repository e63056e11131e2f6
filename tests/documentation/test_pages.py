"""Every page: its blocks can be read, and what they name is there."""

from __future__ import annotations

import ast
import importlib
import re
import textwrap
from doctest import DocTestParser
from pathlib import Path

import pytest
import yaml
from django.core.management import get_commands

from tests.documentation.blocks import blocks_of
from tests.packaging.distributions import ROOT

pytestmark = pytest.mark.pure

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
OTHERS_COMMANDS = {"procrastinate"}


def page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_python_blocks_are_python_and_import_what_there_is(page: Path) -> None:
    for block in blocks_of(page.read_text()):
        if block.language != "python":
            continue
        source = textwrap.dedent(block.text)
        if source.startswith(">>>"):
            source = "".join(each.source for each in DocTestParser().get_examples(source))
        tree = compile(
            source,
            page_name(page),
            "exec",
            flags=ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
        )
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("jobu"):
                module = importlib.import_module(str(node.module))
                for alias in node.names:
                    assert hasattr(module, alias.name), f"{node.module} has no {alias.name}"


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_yaml_blocks_are_yaml(page: Path) -> None:
    for block in blocks_of(page.read_text()):
        if block.language == "yaml":
            assert isinstance(yaml.safe_load(block.text), dict)


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_the_commands_that_it_names_exist(page: Path) -> None:
    ours = {path.stem for path in (ROOT / "sample_project").glob("*/management/commands/*.py")}
    known = get_commands().keys() | ours | OTHERS_COMMANDS
    named = re.findall(r"manage\.py ([a-z]\w+)", page.read_text())
    assert set(named) <= known
