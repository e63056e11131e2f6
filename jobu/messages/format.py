"""The format of a queue message: bytes to an event, and an event to bytes."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NoReturn

from jobu.conf import settings
from jobu.exceptions import MessageError, OptionError
from jobu.handlers.options import check_execution_options, checked_dedupe_key, checked_time
from jobu.jsonable import encode_object
from jobu.messages.rows import check_published

_LARGEST_ID = 2**63 - 1
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True, kw_only=True)
class Event:
    """The content of a message; `extra` has the members that jobu does not know."""

    handler_name: str
    params: dict[str, Any] = field(repr=False)
    job_id: int | None
    queue: str | None
    priority: int | None
    available_at: datetime | None
    dedupe_key: str | None
    extra: dict[str, Any] = field(repr=False)


def check_size(size: int) -> None:
    """Refuse a message that has too many bytes in its body, key and headers."""
    limit = settings.QUEUE_DISPATCHER_MAX_MESSAGE_BYTES
    if size > limit:
        raise MessageError(
            f"It is {size:,} bytes; JOBU_QUEUE_DISPATCHER_MAX_MESSAGE_BYTES allows {limit:,}. Keep "
            "large data elsewhere and send where it is."
        )


def read_event(body: bytes) -> Event:
    """Return the event of a message, or raise MessageError with the reason why it has none."""
    members = _parse(body)
    name = _take(members, "handler_name")
    if name is None:
        name = _take(members, "handler")
    if not isinstance(name, str):
        raise MessageError(
            'It names no handler; a message looks like {"handler_name": "email", "params": {}}.'
            if name is None
            else f"handler_name must be a text, not {_shown(name)}"
        )
    params = _take(members, "params")
    if params is not None and not isinstance(params, dict):
        raise MessageError(f"params must be a JSON object, not {_kind(params)}")
    try:
        return Event(
            handler_name=name,
            params=params or {},
            job_id=_checked_id(_take(members, "job_id")),
            queue=_checked_option("queue", _take(members, "queue")),
            priority=_checked_option("priority", _take(members, "priority")),
            available_at=_parsed_time(_take(members, "available_at")),
            dedupe_key=_checked_key(_take(members, "dedupe_key")),
            extra=members,
        )
    except OptionError as error:
        raise MessageError(str(error)) from error


def write_event(
    handler_name: str,
    params: Any = None,
    *,
    job_id: int | None = None,
    queue: str | None = None,
    priority: int | None = None,
    available_at: datetime | None = None,
    dedupe_key: str | None = None,
) -> bytes:
    """Return the body of a message, or raise the reason why this project would refuse it."""
    encoded = encode_object({} if params is None else params, f"The params for {handler_name!r}")
    members = {
        "handler_name": handler_name,
        "params": json.loads(encoded),
        "job_id": job_id,
        "queue": queue,
        "priority": priority,
        "available_at": None if available_at is None else checked_time(available_at).isoformat(),
        "dedupe_key": dedupe_key,
    }
    given = {name: value for name, value in members.items() if value is not None}
    body = json.dumps(given, allow_nan=False, ensure_ascii=False).encode()
    check_published(read_event(body))
    return body


def _parse(body: bytes) -> dict[str, Any]:
    try:
        # Not by `json`, which would take some binary data for UTF-16.
        members = _decoder.decode(body.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise MessageError(f"It is not UTF-8: {error}") from error
    except RecursionError as error:
        raise MessageError("It is nested too deeply.") from error
    except ValueError as error:
        if isinstance(error, MessageError):
            raise
        raise MessageError(f"It is not JSON: {error}") from error
    if not isinstance(members, dict):
        raise MessageError(f"It must be a JSON object, not {_kind(members)}")
    return members


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        # Nobody can know which of the two was meant.
        [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise MessageError(f"It has the key {_shown(twice)} twice.")
    return members


def _refuse_constant(name: str) -> NoReturn:
    raise MessageError(f"It has the number {name}, which JSON does not have.")


# One for all messages: json.loads would make a new one for each.
_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse_constant)


def _take(members: dict[str, Any], name: str) -> Any:
    return members.pop(name, None)


def _checked_id(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _LARGEST_ID:
        raise MessageError(f"job_id must be the id of a cron job, not {_shown(value)}")
    return value


def _checked_option(name: str, value: Any) -> Any:
    if value is not None:
        check_execution_options(**{name: value})
    return value


def _parsed_time(value: Any) -> datetime | None:
    if value is None:
        return None
    try:
        time = checked_time(datetime.fromisoformat(value)).astimezone(UTC)
        if time >= _EARLIEST:
            return time
        raise ValueError("not every database can hold a time before 1970")
    except (TypeError, ValueError, OverflowError) as error:
        raise MessageError(
            "available_at must be a time with its offset, such as "
            f"2030-01-31T09:00:00+00:00, not {_shown(value)}"
        ) from error


def _checked_key(value: Any) -> str | None:
    return None if value is None else checked_dedupe_key(value)


def _shown(value: Any) -> str:
    """Describe a value briefly: it may be megabytes, or an integer too long to print."""
    if isinstance(value, dict | list):
        return _kind(value)
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 64:
        return "a huge number"
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def _kind(value: Any) -> str:
    """Name only the type: params that were encoded twice are a text full of values."""
    kinds = {dict: "an object", list: "an array", str: "a text", int: "a number", float: "a number"}
    return kinds.get(type(value)) or json.dumps(value)
