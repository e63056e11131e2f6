"""What is sensitive, and how it is masked where it would be shown. Masks; encrypts nothing.

`names` are a handler's own sensitive names; those of JOBU_SENSITIVE_PARAMS always count.
"""

from __future__ import annotations

import fnmatch
import json
import re
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from jobu.conf import settings
from jobu.exceptions import MaskedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    IsSensitive = Callable[[str], bool]

MASK = "********"
# What is shorter would be found, and masked, in the middle of any text.
_SHORTEST_QUOTED = 4

_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\s-]")
_TOKEN = re.compile(
    r""" "(?:[^"\\]|\\.)*"? | '(?:[^'\\]|\\.)*'? | [{}\[\],:] | [^"'{}\[\],:\s]+ """,
    re.DOTALL | re.VERBOSE,
)
_DEPTHS = {"{": 1, "[": 1, "}": -1, "]": -1}


def is_sensitive(name: str, names: Iterable[str] = ()) -> bool:
    return _judge(names)(name)


def is_one_of(name: str, names: Iterable[str]) -> bool:
    """Tell whether one of these names, in which * is any text, means this param."""
    return _pattern(tuple(names)).match(_snake_case(name)) is not None


def mask(value: Any, names: Iterable[str] = ()) -> Any:
    """Return a JSON value with a mask for whatever stands under a sensitive name, at any depth."""
    return _masked(value, _judge(names))


def mask_text(text: str, names: Iterable[str] = ()) -> str:
    """Mask JSON as it stands: its layout stays, and it may be broken or have a name twice."""
    judge = _judge(names)
    parts: list[str] = []
    copied = 0
    before = ""
    tokens = _TOKEN.finditer(text)
    for token in tokens:
        if token[0] == ":" and before[:1] in ('"', "'") and judge(_unquoted(before)):
            start, end = _span_of_value(tokens, len(text))
            if text[start:end] != "null":
                parts += [text[copied:start], f'"{MASK}"']
                copied = end
        before = token[0]
    return "".join([*parts, text[copied:]])


def mask_quotes(text: str, params: Any, names: Iterable[str] = ()) -> str:
    """Mask the sensitive values of `params` wherever the text quotes them."""
    for secret in sorted(set(_secrets(params, _judge(names))), key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text


def restore(given: Any, kept: Any, names: Iterable[str] = ()) -> Any:
    """Return `given` with what `kept` has in place of each mask; MaskedError if it has nothing.

    So whoever was shown masks can send them back: they are never stored as values.
    """
    return _restored(given, kept, _judge(names), "")


def restore_text(given: str, kept: str, names: Iterable[str] = ()) -> str:
    """Like `restore`, for JSON as text; what has no mask in it is returned as it is."""
    if MASK not in given:
        return given
    try:
        return json.dumps(restore(json.loads(given), json.loads(kept), names), ensure_ascii=False)
    except (ValueError, RecursionError) as error:
        if isinstance(error, MaskedError):
            raise
        raise MaskedError(
            "It has masked values, which can be kept only if it is JSON before and after; "
            "write them yourself."
        ) from None


def _judge(names: Iterable[str]) -> IsSensitive:
    pattern = _pattern((*settings.SENSITIVE_PARAMS, *names))
    return lambda name: pattern.match(_snake_case(name)) is not None


@lru_cache(maxsize=256)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    # Without any name it matches nothing.
    return re.compile("|".join(fnmatch.translate(_snake_case(name)) for name in names) or "(?!)")


def _snake_case(name: str) -> str:
    return _HUMPS.sub("_", name).lower()


def _masked(value: Any, judge: IsSensitive) -> Any:
    if isinstance(value, dict):
        return {
            name: MASK if item is not None and judge(name) else _masked(item, judge)
            for name, item in value.items()
        }
    return [_masked(item, judge) for item in value] if isinstance(value, list) else value


def _restored(given: Any, kept: Any, judge: IsSensitive, where: str) -> Any:
    if given == MASK:
        raise MaskedError(f"{where or 'It'} is masked, and there is no value to keep: write one.")
    if isinstance(given, dict):
        known = kept if isinstance(kept, dict) else {}
        return {
            name: known[name]
            if item == MASK and known.get(name) is not None and judge(name)
            else _restored(item, known.get(name), judge, f"{where}.{name}" if where else name)
            for name, item in given.items()
        }
    if isinstance(given, list):
        # Whose mask one is, in a list that was edited, is anybody's guess.
        if given == _masked(kept, judge):
            return kept
        return [_restored(item, None, judge, f"{where}[{i}]") for i, item in enumerate(given)]
    return given


def _secrets(value: Any, judge: IsSensitive, *, is_secret: bool = False) -> Iterator[str]:
    """Yield each text that a sensitive value may be quoted as."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _secrets(item, judge, is_secret=is_secret or judge(name))
    elif isinstance(value, list):
        for item in value:
            yield from _secrets(item, judge, is_secret=is_secret)
    elif is_secret and not isinstance(value, bool | None) and len(str(value)) >= _SHORTEST_QUOTED:
        yield str(value)
        if isinstance(value, str):
            yield from (repr(value)[1:-1], json.dumps(value)[1:-1])


def _unquoted(token: str) -> str:
    with suppress(ValueError):
        return str(json.loads(token))
    return token.strip(token[0])


def _span_of_value(tokens: Iterator[re.Match[str]], end: int) -> tuple[int, int]:
    """Read on to the end of the value that comes next: a token, or all between two brackets."""
    start = end
    depth = 0
    for token in tokens:
        start = min(start, token.start())
        depth += _DEPTHS.get(token[0], 0)
        if depth <= 0:
            return start, token.end()
    return start, end
