"""What is in the distributions, and a project that is made from them alone."""

from __future__ import annotations

import re
import signal
import sqlite3
import subprocess
import sysconfig
import tarfile
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from tests.packaging.distributions import (
    ROOT,
    Distributions,
    Environment,
    build,
    clean_environment,
    run,
)
from tests.waiting import wait_until

pytestmark = [pytest.mark.pure, pytest.mark.processes]


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    return build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def environment(
    distributions: Distributions, tmp_path_factory: pytest.TempPathFactory
) -> Environment:
    environment = Environment(tmp_path_factory.mktemp("venv"))
    environment.borrow(Path(sysconfig.get_path("purelib")))
    environment.install("--no-deps", "--no-index", distributions.wheel)
    return environment


def test_everything_of_the_package_is_in_the_wheel(distributions: Distributions) -> None:
    files = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "jobu").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(distributions.wheel) as wheel:
        packed = {name for name in wheel.namelist() if not name.split("/")[0].endswith("-info")}
    assert packed == files
    assert "jobu/py.typed" in packed


def test_the_sdist_has_the_documentation_and_the_licence(distributions: Distributions) -> None:
    with tarfile.open(distributions.sdist) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {"README.md", "CHANGELOG.md", "LICENSE", "docs/handlers.md", "jobu/py.typed"} <= names


@pytest.mark.parametrize(
    ("template", "migrate"),
    [("minimal", ["migrate", "--verbosity", "0"]), ("example", ["migrate_all"])],
)
def test_a_new_project_passes_its_tests_and_runs_its_first_cron_job(
    template: str, migrate: list[str], environment: Environment, tmp_path: Path
) -> None:
    run(environment.bin / "jobu", "init", "my_shop", "--template", template, cwd=tmp_path)
    project = tmp_path / "my_shop"
    # Makefile and README are rendered, nothing of the template's language is left.
    for file in project.rglob("*"):
        assert not file.is_file() or "{{" not in file.read_text(), file
    # Whatever they name is here already: the wheel by the path that it was installed from.
    environment.install("--no-index", "--no-deps", "-r", project / "requirements.txt")
    output = run(
        "make", "test", f"PYTHON={environment.python}", cwd=project, PYTHONWARNINGS="error"
    )
    assert re.search(r"^OK( \(skipped=\d\))?$", output, re.MULTILINE), output

    manage = [environment.python, "-W", "error", "manage.py"]
    run(*manage, *migrate, cwd=project)
    assert "No changes detected" in run(*manage, "makemigrations", "--check", cwd=project)
    assert "no issues" in run(*manage, "check", "--database", "default", cwd=project)
    run(*manage, "rundispatcher", "--once", cwd=project)
    # Planned for the next minute: as if that were the last one.
    execute(project, "UPDATE jobu_cronjob SET next_run_at = datetime(next_run_at, '-1 minute')")
    with subprocess.Popen(
        [*manage, "runjobu", "dispatcher", "worker"], cwd=project, env=clean_environment()
    ) as process:
        try:
            wait_until(
                lambda: execute(project, "SELECT status FROM jobu_jobexecution") == [("SUCCESS",)],
                "the first execution",
                timeout=30,
            )
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def execute(project: Path, sql: str) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(project / "db.sqlite3", timeout=20)) as database, database:
        return database.execute(sql).fetchall()
