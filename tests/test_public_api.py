"""What `import jobu` offers, and when."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import jobu

ROOT = Path(jobu.__file__).parents[1]


def run_python(code: str) -> str:
    """Run code in a fresh interpreter that knows nothing of Django's settings."""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


@pytest.mark.parametrize("name", jobu.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    value = getattr(jobu, name)
    assert value.__name__ == name
    assert value.__module__.startswith("jobu.")


def test_the_public_names_are_those_that_dir_shows() -> None:
    assert dir(jobu) == sorted(jobu.__all__)
    assert len(set(jobu.__all__)) == len(jobu.__all__)


def test_every_name_that_can_be_imported_lazily_is_public() -> None:
    assert set(jobu._HOMES) == set(jobu.__all__)


def test_a_name_that_jobu_lacks_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'jobu' has no attribute 'no_such_thing'"):
        _ = jobu.no_such_thing
    with pytest.raises(ImportError):
        exec("from jobu import no_such_thing")


def test_jobu_can_be_imported_before_django_is_configured() -> None:
    code = "import jobu, sys; print('django' in sys.modules, sorted(jobu.__all__) == dir(jobu))"
    assert run_python(code) == "False True"


def test_handlers_can_be_written_before_django_is_configured() -> None:
    code = (
        "from jobu import BaseHandler, HandlerParams, HandlerResult, current_job, handler\n"
        "@handler('add')\n"
        "def add(left: int, right: int) -> int:\n"
        "    return left + right\n"
        "from django.conf import settings\n"
        "print(add(1, 2), settings.configured)"
    )
    assert run_python(code) == "3 False"


def test_jobu_can_be_imported_where_processes_do_not_fork() -> None:
    code = (
        "import os, random; del os.register_at_fork, os.fork\n"
        "from django.conf import settings; settings.configure(); import django; django.setup()\n"
        "import jobu.worker.run; print('as on Windows')"
    )
    assert run_python(code) == "as on Windows"


PUBLIC_MODULES = {
    "jobu",
    "jobu.conf",
    "jobu.environment",
    "jobu.messages",
    "jobu.models",
    "jobu.signals",
    "jobu.reading",
    "jobu.testing",
}


def test_the_documentation_imports_public_modules_alone() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("README*.md")]
    imports = re.compile(r"^\s*from (jobu[\w.]*) import", re.MULTILINE)
    found = {name for page in pages for name in imports.findall(page.read_text())}
    assert found <= PUBLIC_MODULES


@pytest.mark.parametrize("module", ["messages", "reading", "testing"])
def test_a_public_package_says_what_it_offers(module: str) -> None:
    package = import_module(f"jobu.{module}")
    assert sorted(package.__all__, key=str.lower) == sorted(set(package.__all__), key=str.lower)
    assert all(hasattr(package, name) for name in package.__all__)


@pytest.mark.parametrize("path", sorted((ROOT / "jobu" / "handlers").glob("*.py")))
def test_handlers_do_not_reach_up_through_the_package_itself(path: Path) -> None:
    nodes = ast.walk(ast.parse(path.read_text()))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    assert "jobu" not in names


def test_before_django_is_ready_a_handler_says_that_it_cannot_be_enqueued() -> None:
    code = (
        "from jobu import handler\n"
        "@handler('add')\n"
        "def add(): ...\n"
        "try:\n"
        "    add.enqueue()\n"
        "except Exception as error:\n"
        "    print(error)"
    )
    assert run_python(code) == (
        "enqueue works only after django.setup(): is 'jobu' in INSTALLED_APPS?"
    )
