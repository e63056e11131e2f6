"""The types of values in requests; each allows only what every database can store."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive
from pydantic import AfterValidator, BeforeValidator, Field, StrictInt, StrictStr, WithJsonSchema

from jobu.handlers.options import MAX_COUNT, MAX_PRIORITY
from jobu.jsonable import storable_time

MAX_ID = 2**63 - 1


def _storable(text: str) -> str:
    if "\0" in text or not _is_unicode(text):
        raise ValueError("A NUL character or a lone surrogate cannot be stored.")
    return text


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("Only printable characters are allowed.")
    return text


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _moment(value: Any) -> datetime:
    if isinstance(value, datetime):
        return value
    try:
        parsed = parse_datetime(value) if isinstance(value, str) else None
    except ValueError:
        parsed = None
    if parsed is None:
        raise ValueError("Write a time like 2026-11-16T06:30:00Z.")
    if is_naive(parsed):
        raise ValueError("The time needs a zone, such as Z or +09:00.")
    return storable_time(parsed)


Text = Annotated[StrictStr, AfterValidator(_storable)]
Name = Annotated[Text, AfterValidator(_printable), Field(min_length=1, max_length=200)]
QueueName = Annotated[Text, AfterValidator(_printable), Field(min_length=1, max_length=100)]
ZoneName = Annotated[
    Text,
    AfterValidator(_printable),
    Field(min_length=1, max_length=64, examples=["Europe/Berlin"]),
]
Moment = Annotated[
    datetime,
    BeforeValidator(_moment),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
Count = Annotated[StrictInt, Field(ge=0, le=MAX_COUNT)]
Seconds = Annotated[StrictInt, Field(ge=1, le=MAX_COUNT)]
Priority = Annotated[StrictInt, Field(ge=-MAX_PRIORITY, le=MAX_PRIORITY)]
StatusFilter = Literal[
    "PENDING", "RUNNING", "SUCCESS", "FAILED", "TIMEOUT", "CANCELLED", "RETRY", "DEAD"
]
"""A status, or RETRY (pending, after a failure), or DEAD (failed or timeout)."""
Id = Annotated[int, Field(ge=1, le=MAX_ID)]
