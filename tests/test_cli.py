"""`jobu init`: what it refuses; that its projects run is tested with the wheel."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobu.cli import main

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
