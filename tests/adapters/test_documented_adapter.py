"""The adapter that docs/queue-dispatcher.md shows is complete: it passes, and it feeds jobu."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.test import override_settings

import jobu
from jobu import QueueDispatcher
from jobu.cli import main
from jobu.models import JobExecution
from jobu.testing import QueueAdapterConformance
from tests.documentation.blocks import blocks_of
from tests.packaging.distributions import clean_environment, run

PAGE = Path(jobu.__file__).parents[1] / "docs" / "queue-dispatcher.md"


def load() -> Any:
    """Return the page's adapter as the class that a reader would write down."""
    [code] = re.findall(r"```python\n(# shop/adapters\.py\n.*?)```", PAGE.read_text(), re.DOTALL)
    module = ModuleType("documented_adapters")
    exec(compile(code, str(PAGE), "exec"), vars(module))
    sys.modules[module.__name__] = module
    return module.FolderAdapter


FolderAdapter = load()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Iterator[None]:
    with override_settings(
        EVENTS_FOLDER=tmp_path, JOBU_QUEUE_DISPATCHER_ADAPTER="documented_adapters.FolderAdapter"
    ):
        yield


@pytest.mark.pure
@pytest.mark.processes
def test_it_passes_its_tests_as_they_are_pasted_into_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "shop"]) == 0
    project = tmp_path / "shop"
    section = PAGE.read_text().split("## Another queue system")[1]
    for block in blocks_of(section):
        assert block.file is not None
        if block.file == "settings.py":
            with (project / "config" / "settings.py").open("a") as settings:
                settings.write(block.text)
        else:
            (project / block.file).write_text(block.text)
    output = run(sys.executable, "-W", "error", "manage.py", "test", cwd=project)
    assert re.search(r"Ran \d\d tests", output), output
    assert "no issues" in run(sys.executable, "manage.py", "check", cwd=project)
    variables = {**clean_environment(), "DJANGO_SETTINGS_MODULE": "config.settings"}
    pytest_options = ["-q", "-p", "no:randomly", "-c", os.devnull, "--rootdir=.", "shop/tests.py"]
    output = run(sys.executable, "-m", "pytest", *pytest_options, cwd=project, variables=variables)
    assert re.search(r"\d\d passed", output), output


@pytest.mark.pure
class TestFolderAdapter(QueueAdapterConformance):
    def make_adapter(self) -> Any:
        return FolderAdapter()


@pytest.mark.django_db(transaction=True)
def test_what_is_published_to_it_becomes_executions() -> None:
    for number in range(150):
        jobu.publish("echo", {"n": number})
    dispatcher = QueueDispatcher(drain=True, idle_timeout=0.2)
    dispatcher.start()
    assert dispatcher.join(30)
    found = JobExecution.objects.order_by("id").values_list("params", flat=True)
    assert [params["n"] for params in found] == list(range(150))


@pytest.mark.pure
def test_it_is_about_forty_lines() -> None:
    [code] = re.findall(r"class FolderAdapter\(.*?```", PAGE.read_text(), re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 50
