"""Settings from environment variables, for projects that are configured that way.

`globals().update(settings_from_environment())` in a project's settings makes each `JOBU_*` variable
the setting of that name.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import json
import os
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, get_args, get_origin

from django.core.exceptions import ImproperlyConfigured

from jobu.conf import PREFIX, Settings, setting_types

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

_TRUE = {"true", "yes", "on", "1"}
_FALSE = {"false", "no", "off", "0"}
_SURELY_MISSPELT = 0.9
"""How alike a variable and a setting are; `JOBU_TEST_DATABASE` is not `JOBU_DATABASE`."""


def settings_from_environment(environ: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Return the settings of jobu that are in `environ`, each with the type that it must have.

    An empty text means None for a setting that may be None, and leaves the default of any other.
    Lists are written with commas or as JSON, dicts as JSON. A misspelt name is returned, too, as
    the text that it has: `manage.py check` then asks which setting was meant.
    """
    found = {}
    for variable, text in environ.items():
        name = variable.removeprefix(PREFIX)
        if name == variable:
            continue
        if name in setting_types:
            kinds = _kinds(setting_types[name])
            if text != "" or NoneType in kinds:
                found[variable] = _read(variable, text, kinds)
        elif difflib.get_close_matches(name, setting_types, n=1, cutoff=_SURELY_MISSPELT):
            found[variable] = text
    return found


def env_example() -> str:
    """Return all settings as lines of a `.env` file: meaning, and the default behind a #."""
    meanings = dict(_meanings())
    return "\n".join(
        f"# {meanings[name]}\n#{PREFIX}{name}={_write(getattr(Settings, name))}\n"
        for name in setting_types
    )


def _kinds(expected: Any) -> dict[Any, Any]:
    """Return the types that a setting may have, each with the type of its items."""
    options = get_args(expected) if isinstance(expected, UnionType) else (expected,)
    return {get_origin(each) or each: next(iter(get_args(each)), None) for each in options}


def _read(variable: str, text: str, kinds: Mapping[Any, Any]) -> Any:
    try:
        if text == "" and NoneType in kinds:
            return None
        if list in kinds and (str not in kinds or "," in text or text.startswith("[")):
            return [_read_one(item, {kinds[list]}) for item in _items(text)]
        if dict in kinds:
            value = json.loads(text)
            if isinstance(value, dict):
                return value
            raise ValueError(value)
        return _read_one(text, kinds.keys())
    except ValueError as error:
        raise ImproperlyConfigured(
            f"The environment variable {variable} is {text!r}, but it must be "
            f"{' or '.join(_WORDS[kind] for kind in kinds)}."
        ) from error


def _items(text: str) -> list[str]:
    if text.startswith("["):
        items = json.loads(text)
        return [item if isinstance(item, str) else json.dumps(item) for item in items]
    return [item.strip() for item in text.split(",") if item.strip()]


def _read_one(text: str, kinds: Collection[Any]) -> Any:
    if bool in kinds:
        if text.lower() in _TRUE | _FALSE:
            return text.lower() in _TRUE
        raise ValueError(text)
    if int in kinds and float not in kinds:
        return int(text)
    if float in kinds:
        return float(text)
    return text


_WORDS = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    NoneType: "empty",
    list: "a list with commas, as in a,b",
    dict: 'a JSON object, as in {"a": 1}',
}


def _write(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case list():
            return ",".join(map(str, value)) or "[]"
        case dict():
            return json.dumps(value)
        case _:
            return str(value)


def _meanings() -> Iterator[tuple[str, str]]:
    """Yield each setting's name and the text that stands under it in `jobu/conf.py`."""
    [definition] = ast.parse(inspect.getsource(Settings)).body
    name = ""
    for statement in getattr(definition, "body", ()):
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name)):
                pass
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield name, " ".join(text.split())
