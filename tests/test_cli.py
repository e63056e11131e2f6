"""`jobu init`: what it and its projects refuse; that they run is tested with the wheel."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jobu.cli import main
from tests.packaging.distributions import ROOT

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("my-shop", "'my-shop' cannot be the name of a Python package."),
        ("../shop", "'../shop' cannot be the name of a Python package."),
        ("", "'' cannot be the name of a Python package."),
        ("class", "'class' cannot be the name of a Python package."),
        ("here", "here is here already."),
        ("config", "config is the name of a folder in each project."),
        ("json", "'json' conflicts with the name of an existing Python module"),
    ],
)
def test_a_name_that_cannot_work_is_refused_with_words_and_nothing_is_written(
    name: str,
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    assert main(["init", name]) == 1
    assert capsys.readouterr().err.startswith(f"jobu: {problem}")
    assert [each.name for each in tmp_path.rglob("*")] == ["here"]


def test_an_unknown_template_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["init", "shop", "--template", "big"])
    assert "invalid choice: 'big' (choose from" in capsys.readouterr().err


@pytest.fixture(params=["generated", "sample"])
def project(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The folder of a project that jobu ships."""
    if request.param == "sample":
        return ROOT / "sample_project"
    monkeypatch.chdir(tmp_path)
    assert main(["init", "my_shop"]) == 0
    return tmp_path / "my_shop"


def manage(project: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    unset = ("DJANGO_SETTINGS_MODULE", "DEBUG", "SECRET_KEY")
    inherited = {name: value for name, value in os.environ.items() if name not in unset}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=project,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_project_does_not_start_in_production_with_the_key_that_everybody_knows(
    project: Path,
) -> None:
    refused = manage(project, "check", DEBUG="false")
    assert refused.returncode == 1
    assert "DEBUG is off, so set SECRET_KEY" in refused.stderr
    assert manage(project, "check", DEBUG="false", SECRET_KEY="x" * 50).returncode == 0
    assert manage(project, "check").returncode == 0


def test_a_project_refuses_weak_passwords(project: Path) -> None:
    script = (
        "from django.contrib.auth.password_validation import validate_password\n"
        "validate_password('12345')"
    )
    refused = manage(project, "shell", "-c", script)
    for reason in ("too short", "too common", "entirely numeric"):
        assert reason in refused.stderr
