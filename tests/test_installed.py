"""What installs the running jobu once more, wherever it came from."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError
from typing import Any

import pytest

from jobu import installed
from jobu.installed import install_command, requirement

pytestmark = pytest.mark.pure


def pretend(monkeypatch: pytest.MonkeyPatch, origin: dict[str, Any] | None) -> None:
    """Let jobu be installed from there; None is the package index."""

    class Installed:
        version = "1.2.3"

        def read_text(self, name: str) -> str | None:
            assert name == "direct_url.json"
            return None if origin is None else json.dumps(origin)

    monkeypatch.setattr(installed, "distribution", lambda _name: Installed())


@pytest.mark.parametrize(
    ("origin", "line"),
    [
        (None, "django-jobu[api,postgres]==1.2.3"),
        (
            {"url": "file:///src/my%20jobu", "dir_info": {}},
            "django-jobu[api,postgres] @ file:///src/my%20jobu",
        ),
        (
            {"url": "file:///src/my%20jobu", "dir_info": {"editable": True}},
            '--editable "/src/my jobu[api,postgres]"',
        ),
        (
            {"url": "file:///dist/django_jobu-1.2.3-py3-none-any.whl", "archive_info": {}},
            "django-jobu[api,postgres] @ file:///dist/django_jobu-1.2.3-py3-none-any.whl",
        ),
        (
            {
                "url": "https://example.com/jobu.git",
                "vcs_info": {"vcs": "git", "commit_id": "c0ffee", "requested_revision": "main"},
                "subdirectory": "python",
            },
            "django-jobu[api,postgres] @ git+https://example.com/jobu.git@c0ffee#subdirectory=python",
        ),
    ],
    ids=["index", "checkout", "editable", "wheel", "git"],
)
def test_requirements_name_the_jobu_that_is_installed_by_where_it_came_from(
    origin: dict[str, Any] | None, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(monkeypatch, origin)
    assert requirement(["api", "postgres"]) == line


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, 'pip install "django-jobu[kafka]==1.2.3"'),
        (
            {"url": "file:///src/jobu", "dir_info": {}},
            'pip install "django-jobu[kafka] @ file:///src/jobu"',
        ),
        (
            {"url": "file:///src/jobu", "dir_info": {"editable": True}},
            'pip install --editable "/src/jobu[kafka]"',
        ),
    ],
    ids=["index", "checkout", "editable"],
)
def test_a_missing_extra_is_added_to_what_is_installed(
    origin: dict[str, Any] | None, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(monkeypatch, origin)
    assert install_command("kafka") == command


def test_without_a_distribution_the_name_is_all_that_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(installed, "distribution", missing)
    assert install_command("kafka") == 'pip install "django-jobu[kafka]"'
