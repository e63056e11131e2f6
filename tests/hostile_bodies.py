"""Message bodies that cannot become executions, of every kind that anybody thought of."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

_FIELDS = ("handler_name", "params", "job_id", "queue", "priority", "available_at", "dedupe_key")
_WRONG: dict[str, list[Any]] = {
    "handler_name": [None, 1, 1.5, True, [], {}, "", "no such handler", "echo\0", "\ud800"],
    "params": [1, "x", True, [], [1], {"x": "\0"}, {"\ud800": 1}, {"x": "\udfff"}],
    "job_id": [0, -1, 1.5, "1", True, [], {}, 2**62, 2**70],
    "queue": [1, True, [], {}, "", "q" * 101, "a\nb", "\0"],
    "priority": [1.5, "1", True, [], {}, 40_000, -(10**30)],
    "available_at": [1, True, [], {}, "", "soon", "2030-01-01", "9999-99-99T00:00Z"],
    "dedupe_key": [1, True, [], {}, "", "k" * 256, "\0", "\ud800"],
}


def hostile_bodies(count: int) -> Iterator[bytes]:
    """Yield bodies of each kind in turn."""
    for number in range(count):
        yield _KINDS[number % len(_KINDS)]()


def huge_bodies() -> Iterator[bytes]:
    """Yield a few bodies of five megabytes and more."""
    text = "x" * 5_000_000
    yield json.dumps({"handler_name": "echo", "params": {"text": text}}).encode()
    yield random.Random(1).randbytes(5_000_000)
    yield b"[" * 5_000_000


def _random_bytes() -> bytes:
    # The first is no beginning of any JSON text.
    return b"\xfe" + random.randbytes(random.randrange(200))


def _broken_utf8() -> bytes:
    cut = random.choice([b"\xc3", b"\xe2\x82", b"\xf0\x9f\x92", b"\xed\xa0\x80", b"\xc0\xaf"])
    return b'{"handler_name": "echo", "params": {"x": "' + cut + b'"}}'


def _cut_off() -> bytes:
    whole = b'{"handler_name": "echo", "params": {"x": [1, 2, {"y": "z"}]}}'
    return whole[: random.randrange(len(whole))]


def _deep_nesting() -> bytes:
    depth = random.choice([31, 100, 1_000, 5_000])
    opening, closing = random.choice([(b"[", b"]"), (b'{"a":', b"}")])
    inner = opening * depth + b"1" + closing * depth
    return b'{"handler_name": "echo", "params": {"x": ' + inner + b"}}"


def _huge_number() -> bytes:
    number = random.choice([b"1e999", b"-1e999", b"9" * 5_000])
    return b'{"handler_name": "echo", "params": {"x": ' + number + b"}}"


def _not_a_number() -> bytes:
    number = random.choice([b"NaN", b"Infinity", b"-Infinity"])
    return b'{"handler_name": "echo", "params": {"x": ' + number + b"}}"


def _duplicate_keys() -> bytes:
    return random.choice(
        [
            b'{"handler_name": "echo", "handler_name": "echo"}',
            b'{"handler_name": "echo", "params": {"x": 1, "x": 2}}',
            b'{"handler_name": "echo", "params": {"x": [{"y": 1, "\\u0079": 2}]}}',
        ]
    )


def _nul_bytes() -> bytes:
    return random.choice(
        [
            b"\0",
            b'\0{"handler_name": "echo"}',
            b'{"handler_name": "echo", "params": {"x": "\0"}}',
            b'{"handler_name": "echo", "params": {"x": "a\\u0000b"}}',
        ]
    )


def _not_an_object() -> bytes:
    return random.choice([b"", b" ", b"null", b"1", b'"echo"', b"[]", b'["echo"]', b"true"])


def _wrong_type() -> bytes:
    field = random.choice(_FIELDS)
    return json.dumps({"handler_name": "echo", field: random.choice(_WRONG[field])}).encode()


_KINDS: tuple[Callable[[], bytes], ...] = (
    _random_bytes,
    _broken_utf8,
    _cut_off,
    _deep_nesting,
    _huge_number,
    _not_a_number,
    _duplicate_keys,
    _nul_bytes,
    _not_an_object,
    _wrong_type,
)
