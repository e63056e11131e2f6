"""Write the reference from the code when the documentation is built, so that it cannot go stale."""

from __future__ import annotations

import argparse
import ast
import inspect
import os
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import django
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
METHODS = ("execute", "start", "stop", "join")
"""What users call; the other methods of the processes are for jobu itself."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    _set_up_django()
    pages = {"commands": commands_page(), "api": api_page(), "signals": signals_page()}
    for name, content in pages.items():
        files.append(File.generated(config, f"reference/{name}.md", content=content))
    return files


def commands_page() -> str:
    from django.core.management import load_command_class

    parts = ["# Commands", "", "Each also takes Django's own options: `manage.py help <command>`."]
    for path in sorted((ROOT / "jobu/management/commands").glob("[a-z]*.py")):
        command = load_command_class("jobu", path.stem)
        parser = command.create_parser("manage.py", path.stem)
        parts += ["", f"## {path.stem}", "", _escape(command.help), ""]
        rows = [*_argument_rows(parser)]
        if rows:
            parts += ["| argument | meaning |", "| --- | --- |", *rows]
    parts += ["", "## jobu", "", "The console script, for before there is a `manage.py`.", ""]
    parts += ["```text", _help_of_jobu(), "```"]
    return "\n".join(parts) + "\n"


def _argument_rows(parser: argparse.ArgumentParser) -> Iterator[str]:
    # Django's own options: the same for every command.
    theirs = {action.dest for action in _bare_parser()._actions}
    for action in parser._actions:
        if action.dest in theirs or action.help == argparse.SUPPRESS:
            continue
        value = action.metavar if action.nargs != 0 else None
        name = " ".join(filter(None, [", ".join(action.option_strings), str(value or "")]))
        yield f"| `{name or action.dest}` | {_cell(action.help or '')} |"


def _bare_parser() -> argparse.ArgumentParser:
    from django.core.management.base import BaseCommand

    return BaseCommand().create_parser("manage.py", "command")


def _help_of_jobu() -> str:
    from jobu.cli import make_parser

    (commands,) = (a for a in make_parser()._actions if isinstance(a, argparse._SubParsersAction))
    return commands.choices["init"].format_help().strip()


def api_page() -> str:
    import jobu
    from jobu import exceptions, testing

    parts = ["# Python API", "", "Everything here is imported from `jobu`.", ""]
    for name in jobu.__all__:
        parts += _entry(name, getattr(jobu, name))
    parts += ["## jobu.testing", ""]
    for name in testing.__all__:
        parts += _entry(name, getattr(testing, name))
    parts += ["## jobu.exceptions", "", "| exception | raised when |", "| --- | --- |"]
    for name, error in vars(exceptions).items():
        if inspect.isclass(error) and issubclass(error, BaseException):
            parts.append(f"| `{name}` | {_cell((error.__doc__ or '').split(chr(10))[0])} |")
    return "\n".join(parts) + "\n"


def _entry(name: str, thing: Any) -> list[str]:
    prefix = "class " if inspect.isclass(thing) else ""
    lines = [f"### {name}", "", "```python", f"{prefix}{name}{_signature(thing)}", "```", ""]
    lines += [_escape(inspect.getdoc(thing) or ""), ""]
    if inspect.isclass(thing) and not issubclass(thing, BaseException):
        for method, function in inspect.getmembers(thing, inspect.isfunction):
            if method in METHODS and function.__doc__:
                text = " ".join((inspect.getdoc(function) or "").split())
                lines += [f"- `{method}{_signature(function)}`: {_escape(text)}"]
        lines += [""]
    return lines


def _signature(thing: Any) -> str:
    try:
        text = str(inspect.signature(thing)).replace("self, ", "").replace("(self)", "()")
    except (TypeError, ValueError):
        return ""
    return re.sub(r"(: |-> )'([^']+)'", r"\1\2", text)


def signals_page() -> str:
    rows = [
        f"| `{name}` | {_cell(text)} |"
        for name, text in docstrings_of_assignments(ROOT / "jobu/signals.py")
    ]
    head = ["# Signals", "", "Django signals in `jobu.signals`; how to receive one is in"]
    head += ["[the lifecycle](../lifecycle.md#signals).", "", "| signal | sent |", "| --- | --- |"]
    return "\n".join([*head, *rows]) + "\n"


def docstrings_of_assignments(path: Path) -> Iterator[tuple[str, str]]:
    """Return each name that is assigned in the file, with the text right below it."""
    for block in ast.walk(ast.parse(path.read_text())):
        body = getattr(block, "body", [])
        if not isinstance(body, list):
            continue
        for statement, below in pairwise(body):
            match statement, below:
                case (
                    ast.Assign(targets=[ast.Name(id=name)])
                    | ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(text))),
                ):
                    yield name, " ".join(text.split())


def _cell(text: str) -> str:
    return _escape(text).replace("|", "\\|")


def _escape(text: str) -> str:
    return text.replace("<", "&lt;").replace("%%", "%")


def _set_up_django() -> None:
    sys.path.insert(0, str(ROOT))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.project.documented")
    django.setup()
