"""`jobu init`: what it and its projects refuse; that they run is tested with the wheel."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from jobu.cli import main
from jobu.conf import PREFIX, setting_types
from jobu.installed import requirement
from tests.packaging.distributions import ROOT, clean_environment

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("my-shop", "'my-shop' cannot be the name of a Python package."),
        ("../shop", "'../shop' cannot be the name of a Python package."),
        ("", "'' cannot be the name of a Python package."),
        ("class", "'class' cannot be the name of a Python package."),
        ("here", "here is here already."),
        ("config", "config is the name of a folder in some projects."),
        ("multi_db", "multi_db is the name of a folder in some projects."),
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


@pytest.mark.parametrize(("template", "line"), [("minimal", ""), ("example", "[api,postgres]")])
def test_requirements_have_what_the_template_needs(
    template: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "my_shop", "--template", template]) == 0
    [ours, *others] = [
        each
        for each in (tmp_path / "my_shop" / "requirements.txt").read_text().splitlines()
        if each and not each.startswith("#")
    ]
    assert ours == requirement(line.strip("[]").split(",") if line else [])
    assert others == ["django-environ>=0.11"]


def test_the_example_has_the_apps_of_the_sample_project_to_the_letter() -> None:
    sample, template = ROOT / "sample_project", ROOT / "jobu" / "project_templates" / "example"
    names = [f"config/{name}.py" for name in ("databases", "routers")] + [
        str(path.relative_to(sample))
        for app in ("basic", "multi_db", "patterns", "async_patterns")
        for path in (sample / app).rglob("*.py")
    ]
    texts = {name: (sample / name).read_text() for name in names}
    copies = {
        str(path.relative_to(template)).removesuffix("-tpl"): path.read_text()
        for path in template.rglob("*.py-tpl")
    }
    assert copies == texts


def test_the_databases_that_the_example_starts_are_those_of_its_urls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import environ

    monkeypatch.chdir(tmp_path)
    assert main(["init", "my_shop", "--template", "example"]) == 0
    lines = (tmp_path / "my_shop" / ".env.example").read_text().splitlines()
    services = yaml.safe_load((tmp_path / "my_shop" / "docker-compose.yml").read_text())["services"]
    for name, variable in (("postgres", "POSTGRES_1_URL"), ("mysql", "MYSQL_1_URL")):
        [url] = [line.partition("=")[2] for line in lines if line.startswith(f"#{variable}=")]
        config = environ.Env.db_url_config(url)
        assert services[name]["ports"] == [f"{config['HOST']}:{config['PORT']}:{config['PORT']}"]
        variables = services[name]["environment"].values()
        assert {config["PASSWORD"], config["NAME"]} == {*variables}


@pytest.fixture(params=["minimal", "example", "sample"])
def project(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The folder of a project that jobu ships; its name is not plain, as some are."""
    if request.param == "sample":
        return ROOT / "sample_project"
    folder = tmp_path / "my 작업"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert main(["init", "my_shop", "--template", request.param]) == 0
    return folder / "my_shop"


def manage(project: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    unset = ("DEBUG", "SECRET_KEY")
    inherited = {name: text for name, text in clean_environment().items() if name not in unset}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=project,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def show(project: Path, setting: str, **environment: str) -> str:
    script = f"from jobu.conf import settings; print('is', repr(settings.{setting}))"
    shown = manage(project, "shell", "-v0", "-c", script, **environment)
    assert shown.returncode == 0, shown.stderr
    return shown.stdout.strip()


def test_a_setting_of_jobu_comes_from_the_environment(project: Path) -> None:
    assert show(project, "WORKER_POOL_SIZE", JOBU_WORKER_POOL_SIZE="17") == "is 17"
    assert show(project, "RETENTION_DAYS", JOBU_RETENTION_DAYS="") == "is None"
    refused = manage(project, "check", JOBU_WORKER_POOL_SIZE="many")
    assert refused.returncode == 1
    assert "JOBU_WORKER_POOL_SIZE is 'many', but it must be a whole number." in refused.stderr, (
        refused.stderr
    )


@pytest.mark.parametrize("template", ["minimal", "example"])
def test_a_setting_comes_from_a_file_that_begins_as_the_example(
    template: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "my_shop", "--template", template]) == 0
    project = tmp_path / "my_shop"
    example = (project / ".env.example").read_text()
    listed = [line[1:] for line in example.splitlines() if line.startswith(f"#{PREFIX}")]
    assert [line.partition("=")[0] for line in listed] == [PREFIX + name for name in setting_types]
    (project / ".env").write_text("\n".join(listed))
    checked = manage(project, "check")
    assert (checked.returncode, checked.stderr) == (0, "")
    (project / ".env").write_text("JOBU_KAFKA_TOPIC=orders,returns\nJOBU_LEASE_SECONDS=60\n")
    assert show(project, "KAFKA_TOPIC") == "is ['orders', 'returns']"
    assert show(project, "LEASE_SECONDS", JOBU_LEASE_SECONDS="90.5") == "is 90.5"
    assert ".env" in (project / ".gitignore").read_text().splitlines()


def test_a_project_whose_requirements_are_missing_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "my_shop"]) == 0
    (tmp_path / "my_shop" / "environ.py").write_text("raise ImportError('as if it were missing')")
    refused = manage(tmp_path / "my_shop", "check")
    assert refused.returncode == 1
    assert "Run this first: pip install -r requirements.txt" in refused.stderr


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
