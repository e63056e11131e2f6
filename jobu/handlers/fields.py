"""Describe a handler's typed params, so that a form can ask a person for them."""

from __future__ import annotations

import datetime
import decimal
import enum
import json
import types
import typing
import uuid
from dataclasses import dataclass
from typing import Any, Literal, Union, get_args, get_origin

from jobu.exceptions import NotJSONError
from jobu.handlers.conversion import REQUIRED
from jobu.jsonable import encode
from jobu.masking import is_sensitive, mask
from jobu.plain import plain

_KINDS: dict[Any, str] = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "boolean",
    datetime.datetime: "datetime",
    datetime.date: "date",
    datetime.time: "text",
    datetime.timedelta: "text",
    decimal.Decimal: "text",
    uuid.UUID: "text",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ParamField:
    """One param: `kind` is text, integer, number, boolean, datetime, date, choice or json.

    All values are JSON. A default that is not JSON is left out, but the param stays optional; the
    default of a sensitive param is masked.
    """

    name: str
    kind: str
    type: str
    is_required: bool
    default: Any = None
    choices: list[Any] | None = None
    is_sensitive: bool = False


def describe_param(
    name: str, hint: Any, default: Any, *, names: tuple[str, ...] = ()
) -> ParamField:
    kind, choices = _kind_of(hint)
    shown = mask({name: None if default is REQUIRED else _as_json(default)}, names)[name]
    return ParamField(
        name=name,
        kind=kind,
        type=_type_name(hint),
        is_required=default is REQUIRED,
        default=shown,
        choices=choices,
        is_sensitive=is_sensitive(name, names),
    )


def _kind_of(hint: Any) -> tuple[str, list[Any] | None]:
    origin = get_origin(hint)
    if origin is typing.Annotated:
        return _kind_of(get_args(hint)[0])
    if origin in (Union, types.UnionType):
        options = [each for each in get_args(hint) if each is not type(None)]
        # None or one type: the form asks for that type, and leaves the param out if it is empty.
        return _kind_of(options[0]) if len(options) == 1 else ("json", None)
    if origin is Literal:
        return "choice", list(get_args(hint))
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return "choice", [member.value for member in hint]
    return _KINDS.get(hint, "json"), None


def _type_name(hint: Any) -> str:
    if hint is Any or hint is REQUIRED:
        return ""
    return hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)


def _as_json(value: Any) -> Any:
    try:
        return json.loads(encode(plain(value), "The default"))
    except NotJSONError:
        return value.value if isinstance(value, enum.Enum) else None
