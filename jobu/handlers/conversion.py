"""Convert JSON values to the types that a handler's annotations name, or say what does not fit."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import functools
import inspect
import sys
import types
import typing
import uuid
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from django.utils.dateparse import parse_date, parse_datetime, parse_duration, parse_time

from jobu.exceptions import ParamsError
from jobu.masking import MASK, is_sensitive, mask
from jobu.plain import Open

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_FROM_TEXT: dict[Any, Callable[[str], Any]] = {
    datetime.datetime: parse_datetime,
    datetime.date: parse_date,
    datetime.time: parse_time,
    datetime.timedelta: parse_duration,
    decimal.Decimal: decimal.Decimal,
    uuid.UUID: uuid.UUID,
}
_PLAIN_TYPES: dict[Any, frozenset[type]] = {
    **{kind: frozenset({kind}) for kind in (str, int, bool, list, dict, type(None))},
    None: frozenset({type(None)}),
    float: frozenset({float, int}),
}
_JSON_TYPES = frozenset[type]({str, int, float, bool, list, dict, type(None)})
REQUIRED: Any = inspect.Parameter.empty
# The handler's sensitive names, then the steps to a value: ("pin",), "params", ".to", "[0]".
Where = tuple[Any, ...]


def plain_types(hint: Any) -> frozenset[type]:
    """Return the types of JSON values that surely fit the hint, and that `convert` leaves alone."""
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any or hint is inspect.Parameter.empty:
        return _JSON_TYPES
    if origin in (Union, types.UnionType):
        return frozenset().union(*map(plain_types, args))
    if origin is typing.Annotated:
        return plain_types(args[0])
    if origin in (list, dict) and args[-1] is Any:
        return _PLAIN_TYPES[origin]
    return _PLAIN_TYPES.get(hint, frozenset()) if isinstance(hint, type | None) else frozenset()


def convert(value: Any, hint: Any, where: Where) -> Any:
    """Return `value` as the type `hint`; raise ParamsError if it does not fit."""
    origin = get_origin(hint)
    if hint is Any or hint is inspect.Parameter.empty or isinstance(hint, typing.TypeVar):
        return value
    if origin in (Union, types.UnionType):
        return _convert_union(value, get_args(hint), where)
    if origin is Literal:
        options = get_args(hint)
        return _expect(_is_among(value, options), value, where, f"one of {options}")
    if origin is typing.Annotated:
        return convert(value, get_args(hint)[0], where)
    if origin is list or hint is list:
        return _convert_list(value, get_args(hint), where)
    if origin is dict or hint is dict:
        return _convert_dict(value, get_args(hint), where)
    if is_record(hint):
        return _convert_record(value, hint, where)
    return _convert_scalar(value, hint, where)


def _convert_scalar(value: Any, hint: Any, where: Where) -> Any:
    if hint is None or hint is type(None):
        return _expect(value is None, value, where, "null")
    if hint is float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        is_in_range = is_number and abs(value) <= sys.float_info.max
        return float(_expect(is_in_range, value, where, "a number"))
    if hint is int:
        is_int = isinstance(value, int) and not isinstance(value, bool)
        return _expect(is_int, value, where, "a whole number")
    if hint in (str, bool):
        return _expect(isinstance(value, hint), value, where, f"a {hint.__name__}")
    if hint in _FROM_TEXT:
        return _convert_text(value, hint, where)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        values = [member.value for member in hint]
        return hint(_expect(_is_among(value, values), value, where, f"one of {values}"))
    # The handler itself checks a type that we do not know.
    return value


def _convert_text(value: Any, hint: Any, where: Where) -> Any:
    if isinstance(value, hint):
        return value
    _expect(isinstance(value, str), value, where, f"{hint.__name__} as text")
    try:
        parsed = _FROM_TEXT[hint](value)
    except (ValueError, OverflowError, decimal.InvalidOperation):
        parsed = None
    _expect(parsed is not None, value, where, f"{hint.__name__} as text")
    return parsed


def _convert_union(value: Any, options: tuple[Any, ...], where: Where) -> Any:
    problems = []
    for option in options:
        try:
            return convert(value, option, where)
        except ParamsError as error:
            problems.append(str(error))
    raise ParamsError(" or ".join(problems))


def _convert_list(value: Any, args: tuple[Any, ...], where: Where) -> list[Any]:
    _expect(isinstance(value, list), value, where, "a list")
    hint = args[0] if args else Any
    return [convert(item, hint, (*where, f"[{index}]")) for index, item in enumerate(value)]


def _convert_dict(value: Any, args: tuple[Any, ...], where: Where) -> dict[str, Any]:
    _expect(isinstance(value, dict), value, where, "an object")
    hint = args[1] if args else Any
    return {key: convert(item, hint, (*where, f".{key}")) for key, item in value.items()}


def _convert_record(value: Any, record: Any, where: Where) -> Any:
    _expect(isinstance(value, dict), value, where, "an object")
    if hasattr(record, "model_validate"):
        try:
            return record.model_validate(value)
        except ValueError as error:
            raise ParamsError(_problems_of_model(error, _path(where))) from None
    if _is_open(record):
        return record(**value)
    fields = {field.name: field for field in dataclasses.fields(record) if field.init}
    refuse_unknown(value, fields)
    refuse_missing(value, [name for name, field in fields.items() if _is_required(field)])
    hints = _record_hints(record)
    fitted = {n: convert(item, hints[n], (*where, f".{n}")) for n, item in value.items()}
    try:
        return record(**fitted)
    except (TypeError, ValueError) as error:
        # The record's own __post_init__ may refuse values, too.
        raise ParamsError(f"{_path(where)}: {error}") from error


def _problems_of_model(error: Any, where: str) -> str:
    """Return pydantic's message without the values that it quotes."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(f"{'.'.join([where, *map(str, e['loc'])])}: {e['msg']}" for e in found)


def described_record(record: Any) -> list[tuple[str, Any, Any]] | None:
    """Return (name, type, default) of each field; None if the record takes anything."""
    if hasattr(record, "model_fields"):
        return [
            (
                field.alias or name,
                field.annotation,
                REQUIRED if field.is_required() else _default_of(field),
            )
            for name, field in record.model_fields.items()
        ]
    if _is_open(record):
        return None
    hints = _record_hints(record)
    return [
        (field.name, hints[field.name], REQUIRED if _is_required(field) else _default_of(field))
        for field in dataclasses.fields(record)
        if field.init
    ]


def _default_of(field: Any) -> Any:
    """Return the default of a dataclass's or a model's field.

    Of factories only `list` and `dict` are called: another one may make a new value for each run.
    """
    factory = field.default_factory
    if factory is None or factory is dataclasses.MISSING:
        return field.default
    return factory() if factory in (list, dict) else None


@functools.cache
def _record_hints(record: Any) -> dict[str, Any]:
    namespace = vars(sys.modules[record.__module__])
    return {field.name: resolve(field.type, namespace) for field in dataclasses.fields(record)}


def resolve(annotation: Any, namespace: dict[str, Any]) -> Any:
    """Evaluate an annotation, which may be text; Any if that fails, so nothing is checked."""
    owner = types.SimpleNamespace(__annotations__={"it": annotation})
    try:
        return get_type_hints(owner, namespace)["it"]
    except Exception:  # noqa: BLE001 - the evaluated text may raise anything
        return Any


def _is_among(value: Any, options: Iterable[Any]) -> bool:
    """Like `in`, but True is not 1."""
    return any(value == option and type(value) is type(option) for option in options)


def is_record(hint: Any) -> bool:
    return isinstance(hint, type) and (
        dataclasses.is_dataclass(hint) or issubclass(hint, Open) or hasattr(hint, "model_validate")
    )


def _is_open(record: Any) -> bool:
    return issubclass(record, Open) and not dataclasses.is_dataclass(record)


def _is_required(field: dataclasses.Field[Any]) -> bool:
    missing = dataclasses.MISSING
    return field.default is missing and field.default_factory is missing


def _expect(condition: bool, value: Any, where: Where, expected: str) -> Any:
    if not condition:
        raise ParamsError(f"{_path(where)} must be {expected}, not {_quote(value, where)}")
    return value


def _path(where: Where) -> str:
    return "".join(where[1:])


def _quote(value: Any, where: Where) -> str:
    names, *steps = where
    is_hidden = any(is_sensitive(step.removeprefix("."), names) for step in steps)
    return MASK if is_hidden else f"{mask(value, names)!r:.100}"


def refuse_unknown(params: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    if not params.keys() <= known.keys():
        unknown = ", ".join(sorted(params.keys() - known.keys()))
        takes = ", ".join(known) or "nothing"
        raise ParamsError(f"unknown params: {unknown}; the handler takes {takes}")


def refuse_missing(params: Mapping[str, Any], required: list[str]) -> None:
    if missing := [name for name in required if name not in params]:
        raise ParamsError(f"missing params: {', '.join(missing)}")
