"""Find what keeps a value from being JSON that every database stores, and say what to do."""

from __future__ import annotations

import datetime
import decimal
import enum
import json
import math
import uuid
from collections.abc import Iterable
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from jobu.plain import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

_ADVICE: tuple[tuple[tuple[type, ...], str], ...] = (
    ((datetime.date, datetime.time), "write it as text, with .isoformat()"),
    ((datetime.timedelta,), "write its .total_seconds()"),
    ((decimal.Decimal, uuid.UUID, PurePath), "write it as text, with str()"),
    ((enum.Enum,), "write its .value"),
    ((bytes, bytearray, memoryview), "write it as text, with .decode() or as base64"),
)
_KEYS = (str, int, float, bool, type(None))
_MAX_SHOWN = 100


def first_problem(value: Any, root: str) -> str | None:
    """Return where the first such part is, what it is, and what to write instead; never raises.

    None if nothing is found, as with code of the value's own that raises.
    """
    try:
        return next(_problems(value, root, ()), None)
    except Exception:  # noqa: BLE001 - the value may do anything while it is looked at
        return None


def _problems(value: Any, where: str, above: tuple[int, ...]) -> Iterator[str]:
    value = plain(value)
    if id(value) in above:
        yield f"{where} contains itself"
    elif isinstance(value, dict):
        for key, item in value.items():
            step = json.dumps(key)[:_MAX_SHOWN] if isinstance(key, str) else f"{key!r:.100}"
            if not isinstance(key, _KEYS):
                yield f"{where} has a {_type(key)} as a key; write it as text"
            elif isinstance(key, str) and (problem := _problem_of_text(key)):
                yield f"{where} has a key that {problem}"
            yield from _problems(item, f"{where}[{step}]", (*above, id(value)))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _problems(item, f"{where}[{index}]", (*above, id(value)))
    elif problem := _problem_of(value):
        yield f"{where} {problem}"


def _problem_of(value: Any) -> str | None:
    if isinstance(value, str):
        return _problem_of_text(value)
    if isinstance(value, float):
        return None if math.isfinite(value) else f"is {value}, which is not JSON; write None"
    if isinstance(value, int):
        return None if _fits_a_float(value) else "is a number beyond 1.8e308; write it as text"
    if value is None:
        return None
    what = f"is a {_type(value)}"
    for kinds, advice in _ADVICE:
        if isinstance(value, kinds):
            return f"{what}; {advice}"
    if hasattr(value, "pk") and not isinstance(value, type):
        return f"{what}; write its .pk, and fetch it in the handler"
    if isinstance(value, Iterable) and not isinstance(value, type):
        return f"{what}; write a list of what is in it"
    return f"{what}, which is not a JSON type; write it as text, numbers, lists and dicts"


def _problem_of_text(text: str) -> str | None:
    if "\0" in text:
        return "contains a NUL character, which not every database stores"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "contains a lone surrogate, which is no character"
    return None


def _fits_a_float(value: int) -> bool:
    try:
        float(value)
    except OverflowError:
        return False
    return True


def _type(value: Any) -> str:
    return f"{type(value).__name__}" if not isinstance(value, type) else f"class {value.__name__}"
