"""The console script `jobu`: starts projects; everything else is manage.py's."""

from __future__ import annotations

import argparse
import keyword
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management import CommandError, call_command
from django.core.management.commands.startproject import Command as StartProject

from jobu.environment import env_example
from jobu.installed import DISTRIBUTION, requirement

if TYPE_CHECKING:
    from collections.abc import Sequence

_TEMPLATES = Path(__file__).with_name("project_templates")
_EXTRAS = {"minimal": [], "example": ["api", "postgres"]}
"""The templates, and the extras of jobu that their projects need."""
_INSTALL = "pip install -r requirements.txt"
# Folders of the templates themselves.
_TAKEN = ("config", "basic", "multi_db", "patterns", "async_patterns")


class _StartJobuProject(StartProject):
    """Django's own startproject, for files that are not all Python."""

    rewrite_template_suffixes = (
        (".py-tpl", ".py"),
        ("gitignore-tpl", ".gitignore"),
        ("env.example-tpl", ".env.example"),
    )
    # What the files may contain, besides what Django gives them.
    stealth_options = ("example", "requirement", "jobu_settings")


class _AddToProject(_StartJobuProject):
    """The files of one template, beside those that all have in common."""

    def validate_name(self, name: str, name_or_dir: str = "name") -> None:
        """Accept the name, which by now may be that of the new folder's own package."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = make_parser().parse_args(arguments)
    try:
        _init(options.name, options.template)
    except CommandError as error:
        print(f"jobu: {error}", file=sys.stderr)
        return 1
    return 0


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="jobu", description="Start a Django project that runs jobs from its database."
    )
    parser.add_argument("--version", action="version", version=version(DISTRIBUTION))
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    init = commands.add_parser("init", help="make a project that runs at once, in a new folder")
    init.add_argument("name", help="of the project and its folder, such as my_shop")
    init.add_argument(
        "--template",
        choices=tuple(_EXTRAS),
        default="minimal",
        help="minimal: one handler; example: nine more on several databases, and the HTTP API "
        "(default: minimal)",
    )
    return parser


def _init(name: str, template: str) -> None:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise CommandError(
            f"{name!r} cannot be the name of a Python package. "
            "Use letters, digits and underscores, as in my_shop."
        )
    if Path(name).exists():
        raise CommandError(f"{name} is here already. Choose another name, or remove it.")
    if name in _TAKEN:
        raise CommandError(f"{name} is the name of a folder in some projects. Choose another one.")
    values = {
        "example": template == "example",
        "requirement": requirement(_EXTRAS[template]),
        "jobu_settings": env_example(),
    }
    _render(_StartJobuProject(), name, "common", **values)
    _render(_AddToProject(), name, template, directory=name, **values)
    print(f"Made {name}. Start it:\n\n    cd {name}\n    {_INSTALL}\n    make run\n")


def _render(command: StartProject, name: str, template: str, **options: Any) -> None:
    call_command(
        command,
        name,
        template=str(_TEMPLATES / template),
        extensions=["py", "md", "txt"],
        files=["Makefile", "env.example-tpl"],
        **options,
    )
