"""Handlers are found in every installed app's `jobs.py` or `jobs/` package."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from django.conf import settings
from django.test import override_settings

from jobu.checks import check_handlers
from jobu.exceptions import DuplicateHandlerError
from jobu.handlers.discovery import problems
from jobu.handlers.registry import handlers
from tests.workers import MANAGE

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("temporary_handlers")

Install = Callable[[str, dict[str, str]], None]

HANDLER = """
from jobu import handler

@handler({name!r})
def run() -> str:
    return __name__
"""


def write_app(folder: Path, app: str, files: dict[str, str]) -> None:
    for path, text in {"__init__.py": "", **files}.items():
        file = folder / app / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Write apps of given files and install them, which discovers their handlers."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    overrides = []

    def install_app(app: str, files: dict[str, str]) -> None:
        write_app(tmp_path, app, files)
        importlib.invalidate_caches()
        override = override_settings(INSTALLED_APPS=[*settings.INSTALLED_APPS, app])
        override.enable()
        overrides.append(override)

    try:
        yield install_app
    finally:
        for override in reversed(overrides):
            override.disable()
        for name in set(sys.modules) - before:
            if name.startswith("found_"):
                del sys.modules[name]


def found_in(name: str) -> str:
    """Run the handler `name` and return the name of its module."""
    module: str = handlers[name].bind({})()
    return module


def test_the_handlers_of_a_jobs_module_are_found(install: Install) -> None:
    install("found_module", {"jobs.py": HANDLER.format(name="from a module")})
    assert found_in("from a module") == "found_module.jobs"
    assert list(problems()) == []


def test_the_handlers_of_a_jobs_package_are_found_at_any_depth(install: Install) -> None:
    install(
        "found_package",
        {
            "jobs/__init__.py": HANDLER.format(name="top"),
            "jobs/mail.py": HANDLER.format(name="below"),
            "jobs/reports/__init__.py": "",
            "jobs/reports/yearly/__init__.py": HANDLER.format(name="deep"),
            "jobs/reports/yearly/taxes.py": HANDLER.format(name="deeper"),
        },
    )
    assert found_in("top") == "found_package.jobs"
    assert found_in("below") == "found_package.jobs.mail"
    assert found_in("deep") == "found_package.jobs.reports.yearly"
    assert found_in("deeper") == "found_package.jobs.reports.yearly.taxes"
    assert list(problems()) == []


def test_other_modules_of_an_app_are_not_imported(install: Install) -> None:
    install("found_other", {"work.py": "raise AssertionError('imported')", "jobsite.py": "1 / 0"})
    assert not any(name.startswith("found_other.") for name in sys.modules)


def test_an_error_in_a_jobs_module_is_not_hidden(install: Install) -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        install("found_broken", {"jobs.py": "import no_such_library"})


def test_a_folder_without_init_is_warned_about(install: Install, tmp_path: Path) -> None:
    install(
        "found_folder",
        {"jobs/__init__.py": "", "jobs/reports/taxes.py": HANDLER.format(name="not found")},
    )
    folder = tmp_path / "found_folder" / "jobs" / "reports"
    assert "not found" not in handlers
    assert list(problems()) == [
        (
            f"{folder} has Python files but no __init__.py, so its handlers are not found.",
            "Add an empty __init__.py to the folder.",
        )
    ]


def test_a_jobs_folder_whose_handlers_are_found_is_not_said_to_hide_them(install: Install) -> None:
    install("found_namespace", {"jobs/mail.py": HANDLER.format(name="in a namespace")})
    assert found_in("in a namespace") == "found_namespace.jobs.mail"
    assert [what for what, _ in problems() if "are not found" in what] == []


def test_a_folder_without_python_files_is_not_warned_about(install: Install) -> None:
    install("found_data", {"jobs/__init__.py": "", "jobs/templates/mail.txt": "Hello"})
    assert list(problems()) == []


def test_a_handler_class_without_a_name_is_warned_about(install: Install) -> None:
    install(
        "found_unnamed",
        {
            "jobs/__init__.py": "",
            "jobs/mail.py": (
                "from jobu import BaseHandler, handler\n"
                "class Forgotten(BaseHandler):\n"
                "    def execute(self, params): ...\n"
                "class _Base(BaseHandler):\n"
                "    def execute(self, params): ...\n"
                "class Abstract(BaseHandler):\n"
                "    pass\n"
                "@handler('named')\n"
                "class Named(_Base):\n"
                "    def execute(self, params): ...\n"
            ),
            "jobs/more.py": "from found_unnamed.jobs.mail import Forgotten\n",
        },
    )
    what = "found_unnamed.jobs.mail.Forgotten is a BaseHandler without a name, "
    what += "so nothing can run it."
    hint = 'Decorate it with @handler("its-name"), or call it _Forgotten if it is a base class.'
    assert list(problems()) == [(what, hint)]
    warnings = check_handlers()
    assert [(w.id, w.msg, w.hint) for w in warnings] == [("jobu.W002", what, hint)]


def test_the_handlers_of_the_project_have_no_problems() -> None:
    assert "effect" in handlers
    assert list(problems()) == []


def test_a_name_that_two_apps_use_stops_the_start(install: Install) -> None:
    install("found_first", {"jobs.py": HANDLER.format(name="shared")})
    with pytest.raises(DuplicateHandlerError) as caught:
        install("found_second", {"jobs.py": HANDLER.format(name="shared")})
    assert "Two handlers are named 'shared'" in str(caught.value)
    assert "found_first" in str(caught.value)
    assert "found_second" in str(caught.value)


def test_a_name_that_two_apps_use_fails_manage_py_check(tmp_path: Path) -> None:
    for app in ("found_left", "found_right"):
        write_app(tmp_path, app, {"jobs.py": HANDLER.format(name="shared")})
    (tmp_path / "found_settings.py").write_text(
        "from tests.project.settings import *\n"
        "INSTALLED_APPS = [*INSTALLED_APPS, 'found_left', 'found_right']\n"
    )
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "found_settings",
        "PYTHONPATH": str(tmp_path),
    }
    result = subprocess.run(
        [sys.executable, str(MANAGE), "check"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode != 0
    assert "DuplicateHandlerError: Two handlers are named 'shared': run (" in result.stderr
    assert f"{tmp_path / 'found_left' / 'jobs.py'}:4" in result.stderr
    assert f"{tmp_path / 'found_right' / 'jobs.py'}:4" in result.stderr
