"""A migration that has landed stays as it is, whatever happens to the code around it."""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

import pytest

import jobu.migrations
from jobu.models import fields

pytestmark = pytest.mark.pure

FOLDER = Path(jobu.migrations.__path__[0])
RECORD = Path(__file__).parent / "SHA256SUMS"
MIGRATIONS = sorted(FOLDER.glob("[0-9]*.py"))
PROMISED = "jobu.models.fields"


def recorded() -> dict[str, str]:
    lines = (line.split() for line in RECORD.read_text().splitlines())
    return {name: digest for digest, name in lines}


@pytest.mark.parametrize("name", sorted(recorded()))
def test_a_landed_migration_is_never_edited(name: str) -> None:
    file = FOLDER / name
    found = hashlib.sha256(file.read_text().encode()).hexdigest() if file.exists() else None
    assert found == recorded()[name], (
        f"jobu/migrations/{name} has landed, and databases have it, but it is not what it was. "
        "Take the edit back, and add a new migration: "
        ".venv/bin/python tests/project/manage.py makemigrations jobu"
    )


@pytest.mark.parametrize("file", MIGRATIONS, ids=lambda file: file.stem)
def test_each_migration_is_recorded(file: Path) -> None:
    assert file.name in recorded(), (
        f"Record {file.name} before it lands: "
        f"(cd jobu/migrations && sha256sum {file.name}) >> tests/migrations/SHA256SUMS"
    )


@pytest.mark.parametrize("file", MIGRATIONS, ids=lambda file: file.stem)
def test_a_migration_imports_nothing_of_jobu_that_may_move(file: Path) -> None:
    tree = ast.parse(file.read_text())
    imported = {alias.name for node in ast.walk(tree) for alias in getattr(node, "names", [])}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name for name in imported if name.partition(".")[0] == "jobu"} <= {PROMISED}
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == PROMISED
    }
    assert used <= set(fields.__all__)


def test_each_promised_name_is_there() -> None:
    assert [name for name in fields.__all__ if not hasattr(fields, name)] == []
