"""Turn Python values into JSON that every supported database can store."""

from __future__ import annotations

import datetime
import json
import math
import re
from json.encoder import (  # type: ignore[attr-defined] # the stubs leave one out
    c_make_encoder,
    encode_basestring_ascii,
)
from typing import TYPE_CHECKING, Any

from jobu.exceptions import NotJSONError
from jobu.not_json import first_problem
from jobu.plain import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_RESULT_BYTES = 1024 * 1024
MAX_DEPTH = 30
_FIRST_YEAR, _LAST_YEAR = 1970, 9998
_HUGE_DIGITS = 309
"""So many digits has the first int that no float can be as large as."""
_THIRTY_DIGITS = re.compile(r"[0-9]{30}")


def encode(value: Any, what: str, root: str = "it") -> str:
    """Return `value` as JSON text, or say in which way `what` is not JSON.

    `root` is what the value is called when the path to a part of it is told.
    """
    try:
        text = _written(value)
    except Exception as error:
        # Whatever it is: a value may bring code of its own, or change while it is read.
        problem = first_problem(value, root) or str(error)
        raise NotJSONError(f"{what} cannot be stored as JSON: {problem}") from error
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        # MariaDB's limit, kept on every database so that they behave the same.
        raise NotJSONError(
            f"{what} cannot be stored as JSON: nested deeper than {MAX_DEPTH} levels"
        )
    # MySQL's limit, likewise. PostgreSQL's jsonb and UTF-8 have no room for the other two.
    if (
        (len(text) >= _HUGE_DIGITS and _has_huge_int(text))
        or ("\\u0000" in text and _contains(value, "\0"))
        or ("\\ud" in text and _has_lone_surrogate(text))
    ):
        problem = first_problem(value, root) or "the database has no room for a part of it"
        raise NotJSONError(f"{what} cannot be stored as JSON: {problem}")
    return text


def encode_object(value: Any, what: str) -> str:
    """Like `encode`, for what must be a JSON object."""
    unwrapped = _plain_or_refuse(value, what)
    if not isinstance(unwrapped, dict):
        raise NotJSONError(
            f"{what} must be a dict, a dataclass or a pydantic model, not {type(value).__name__}"
        )
    return encode(unwrapped, what, "params")


def encode_result(value: Any) -> str | None:
    """Encode what a handler returned; None is stored as no result."""
    if value is None:
        return None
    what = "The handler's result"
    text = encode(_plain_or_refuse(value, what), what, "result")
    if len(text) > MAX_RESULT_BYTES:
        raise NotJSONError(
            f"The handler's result is {len(text):,} bytes as JSON; at most {MAX_RESULT_BYTES:,} "
            "are stored. Keep large results in a file or table and return where they are."
        )
    return text


def json_arrays(texts: Iterable[str], limit: int) -> Iterator[str]:
    """Join JSON texts to arrays of at most `limit` characters, or of one text that is longer."""
    chunk: list[str] = []
    length = 0
    for text in texts:
        if chunk and length + len(text) > limit:
            yield f"[{','.join(chunk)}]"
            chunk, length = [], 0
        chunk.append(text)
        length += len(text)
    if chunk:
        yield f"[{','.join(chunk)}]"


def storable_text(text: str, limit: int) -> str:
    """Make any text fit for every database: no NUL, no lone surrogate, not longer than `limit`."""
    clean = text.replace("\0", "\\x00").encode(errors="backslashreplace").decode()
    if len(clean) <= limit:
        return clean
    # Both ends matter: a traceback ends with its error, a message begins with it.
    head = limit // 3
    tail = limit - head - 40
    return f"{clean[:head]}\n… {len(clean) - head - tail:,} characters left out …\n{clean[-tail:]}"


def storable_time(moment: datetime.datetime) -> datetime.datetime:
    """Return the moment in UTC; refuse what not every database could keep or compare with."""
    try:
        utc = moment.astimezone(datetime.UTC)
    except OverflowError:
        utc = datetime.datetime.max.replace(tzinfo=datetime.UTC)
    if not _FIRST_YEAR <= utc.year <= _LAST_YEAR:
        raise ValueError(f"The time must be between the years {_FIRST_YEAR} and {_LAST_YEAR}.")
    return utc


def _plain_or_refuse(value: Any, what: str) -> Any:
    if type(value) is dict:
        return value
    try:
        return plain(value)
    except Exception as error:
        raise NotJSONError(f"{what} cannot be stored as JSON: {error}") from error


def _encode_nested(value: Any) -> Any:
    unwrapped = plain(value)
    if unwrapped is value:
        raise TypeError(f"{type(value).__name__} is not a JSON type")
    return unwrapped


class ExactEncoder(json.JSONEncoder):
    """Write a large float, such as 6.02e+23, with a fraction: without, PostgreSQL reads an int."""

    def encode(self, o: Any) -> str:
        text = super().encode(o)
        return _TEXT_OR_LARGE_FLOAT.sub(_with_fraction, text) if "e+" in text else text


def _with_fraction(found: re.Match[str]) -> str:
    text = found[0]
    return text if text.startswith('"') else f"{float(text):.1f}"


_TEXT_OR_LARGE_FLOAT = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\d.-]+e\+\d+')
_slow = json.JSONEncoder(allow_nan=False, default=_encode_nested)
# One for all values: what json.dumps does is to make a new one for each. Without markers it finds a
# circle by its depth.
_write = (
    _slow.iterencode
    if c_make_encoder is None
    else c_make_encoder(
        None, _encode_nested, encode_basestring_ascii, None, ": ", ", ", False, False, False
    )
)


def _written(value: Any) -> str:
    text = "".join(_write(value, 0))  # type: ignore[arg-type] # False, to the slow one
    return _TEXT_OR_LARGE_FLOAT.sub(_with_fraction, text) if "e+" in text else text


def _contains(value: Any, character: str) -> bool:
    if isinstance(value, str):
        return character in value
    if isinstance(value, dict):
        return any(_contains(k, character) or _contains(v, character) for k, v in value.items())
    if isinstance(value, list | tuple):
        return any(_contains(item, character) for item in value)
    unwrapped = plain(value)
    return unwrapped is not value and _contains(unwrapped, character)


def _depth(value: Any) -> int:
    depth = 0
    level = [value]
    while level := [item for each in level for item in _items(each)]:
        depth += 1
    return depth


def _items(value: Any) -> Iterable[Any]:
    unwrapped = plain(value)
    if isinstance(unwrapped, dict):
        return unwrapped.values()
    return unwrapped if isinstance(unwrapped, list | tuple) else ()


def _has_huge_int(text: str) -> bool:
    # Every tenth character is enough to rule it out, at a tenth of the time that all would take.
    if not _THIRTY_DIGITS.search(text[::10]):
        return False
    ints: list[float] = []
    json.loads(text, parse_int=lambda digits: ints.append(float(digits)))
    return any(map(math.isinf, ints))


def _has_lone_surrogate(text: str) -> bool:
    try:
        json.dumps(json.loads(text), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False
