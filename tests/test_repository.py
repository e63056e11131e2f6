"""What the repository tells GitHub and newcomers is what the project says of itself."""

from __future__ import annotations

import re
import tomllib
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.__main__ import SERVICES
from tests.packaging.distributions import ROOT

pytestmark = pytest.mark.pure

YAML_FILES = sorted(
    [*(ROOT / ".github").rglob("*.yml"), ROOT / ".pre-commit-config.yaml", ROOT / "mkdocs.yml"]
)
OLDEST_PYTHON = {"5.2": "3.11", "6.0": "3.12", "6.1": "3.12"}
"""Of those that jobu supports, what each version of Django takes."""
OLDEST_POSTGRES = {"5.2": 14, "6.0": 14, "6.1": 15}


def load(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text())


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    loaded: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return loaded


@pytest.fixture(scope="module")
def workflow() -> dict[str, Any]:
    loaded: dict[str, Any] = load(".github/workflows/ci.yml")
    return loaded


@pytest.fixture(scope="module")
def combinations(workflow: dict[str, Any]) -> list[dict[str, str]]:
    """What GitHub makes of the matrix."""
    matrix = dict(workflow["jobs"]["test"]["strategy"]["matrix"])
    excluded, added = matrix.pop("exclude"), matrix.pop("include")
    made = [dict(zip(matrix, values, strict=True)) for values in product(*matrix.values())]
    kept = [each for each in made if not any(one.items() <= each.items() for one in excluded)]
    by_database = {one["database"]: one for one in added}
    return [{**each, **by_database[each["database"]]} for each in kept]


def versions(project: dict[str, Any], prefix: str) -> list[str]:
    lines = project["project"]["classifiers"]
    return [line.removeprefix(prefix) for line in lines if re.match(rf"{prefix}\d", line)]


@pytest.mark.parametrize("path", YAML_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_each_yaml_file_can_be_read(path: Path) -> None:
    assert isinstance(yaml.safe_load(path.read_text()), dict)


def test_the_workflow_has_the_versions_that_the_package_claims(
    project: dict[str, Any], workflow: dict[str, Any]
) -> None:
    matrix = workflow["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == versions(project, "Programming Language :: Python :: ")
    assert matrix["django"] == versions(project, "Framework :: Django :: ")


def test_the_readme_names_the_same_versions(project: dict[str, Any]) -> None:
    for title, prefix in [
        ("Python", "Programming Language :: Python :: "),
        ("Django", "Framework :: Django :: "),
    ]:
        row = f"| {title} | {', '.join(versions(project, prefix))} |"
        assert row in (ROOT / "README.md").read_text()


def test_the_workflow_leaves_out_what_django_does_not_support_and_nothing_else(
    workflow: dict[str, Any], combinations: list[dict[str, str]]
) -> None:
    matrix = workflow["jobs"]["test"]["strategy"]["matrix"]
    supported = {
        (python, django, database)
        for python in matrix["python"]
        for django in matrix["django"]
        for database in matrix["database"]
        if python >= OLDEST_PYTHON[django]
        and not (
            database.startswith("postgres-")
            and int(database.removeprefix("postgres-")) < OLDEST_POSTGRES[django]
        )
    }
    assert {(c["python"], c["django"], c["database"]) for c in combinations} == supported


def test_each_database_of_the_workflow_is_one_that_the_tests_know(
    combinations: list[dict[str, str]],
) -> None:
    assert {each["service"] for each in combinations} == {service.name for service in SERVICES}
    for each in combinations:
        product_name, _, version = each["database"].partition("-")
        assert each["service"] == product_name
        assert each["image"] == (f"{product_name}:{version}" if version else "")


def test_the_workflow_runs_on_the_oldest_postgres_what_our_own_ci_does(
    combinations: list[dict[str, str]],
) -> None:
    [ours] = re.findall(r'\bARGS="(tests/[^"]+)"', (ROOT / ".ci" / "run").read_text())
    given = {each["arguments"] for each in combinations if "arguments" in each}
    assert given == {ours}
    assert all((ROOT / folder).is_dir() for folder in ours.split())


def test_the_workflow_uses_targets_that_the_makefile_has(workflow: dict[str, Any]) -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    commands = [step["run"].split() for step in steps if step.get("run", "").startswith("make ")]
    used = {word for _, *words in commands for word in words if re.fullmatch(r"[a-z]+", word)}
    assert {"lint", "docs", "package", "test"} == used
    assert used <= targets


def test_pre_commit_runs_the_commands_of_make_lint() -> None:
    [recipe] = re.findall(r"^lint:.*\n((?:\t.+\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    made = recipe.replace("$(PY)", ".venv/bin/python").replace("$(VENV)", ".venv")
    hooks = [hook for repo in load(".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    entries = [hook["entry"].removeprefix("env ") for hook in hooks]
    assert entries == [line.strip() for line in made.splitlines()]
    for hook in hooks:
        assert hook["language"] == "system", "its tools are those of the environment"
        assert hook["pass_filenames"] is False


def test_dependabot_leaves_the_peers_of_the_benchmarks_alone(project: dict[str, Any]) -> None:
    peers = {re.split(r"[\[=]", line)[0] for line in project["dependency-groups"]["bench"]}
    [pip] = [
        update
        for update in load(".github/dependabot.yml")["updates"]
        if update["package-ecosystem"] == "pip"
    ]
    assert {each["dependency-name"] for each in pip["ignore"]} == peers


def test_the_bug_form_asks_for_what_is_needed_to_repeat_it() -> None:
    fields = {field.get("id"): field for field in load(".github/ISSUE_TEMPLATE/bug.yml")["body"]}
    for name in ("jobu", "python", "django", "database", "check", "logs"):
        assert fields[name]["validations"]["required"], name


def test_files_name_the_repository_that_the_package_names(project: dict[str, Any]) -> None:
    source = project["project"]["urls"]["Source"]
    files = [ROOT / "SECURITY.md", *(ROOT / ".github").rglob("*.*"), ROOT / "docs" / "releasing.md"]
    found = set()
    for path in files:
        found |= set(re.findall(r"https://github\.com/[\w-]+/[\w-]+", path.read_text()))
    assert found == {source}
