"""Unwrap typed records to the values that they are made of."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import uuid
from typing import Any

from django.utils.duration import duration_iso_string


class Open:
    """An object without fields of its own: its attributes are what it was made with."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment] # it can change


def plain(value: Any) -> Any:
    """Unwrap a dataclass, an open object or a pydantic model; return anything else as it is."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _as_text(dataclasses.asdict(value))
    if isinstance(value, Open):
        return _as_text(vars(value))
    dump = getattr(value, "model_dump", None)
    if dump is not None and not isinstance(value, type):
        return dump(mode="json")
    return value


def _as_text(value: Any) -> Any:
    """Write what a typed record may hold beyond JSON as the text it is read from again."""
    if isinstance(value, dict):
        return {key: _as_text(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_as_text(item) for item in value]
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return duration_iso_string(value)
    return str(value) if isinstance(value, decimal.Decimal | uuid.UUID) else value
