"""One JSON value and one annotation: what the handler gets, or what it is told."""

from __future__ import annotations

import dataclasses
import enum
import types
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal, Optional, TypeVar, Union
from uuid import UUID

import pydantic
import pytest

from jobu.exceptions import ParamsError
from jobu.handlers.params import Signature

T = TypeVar("T")
KEY = "12345678-1234-5678-1234-567812345678"


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Size(pydantic.BaseModel):
    width: int


class Anything:
    """A type that jobu knows nothing about."""


def fit(hint: Any, value: Any) -> Any:
    """Give `value` to a handler whose two parameters have the annotation `hint`."""

    def function(value, other=None): ...  # type: ignore[no-untyped-def]

    function.__annotations__ = {"value": hint}
    return Signature(function, is_method=False).arguments({"value": value})["value"]


@pytest.mark.parametrize(
    ("hint", "value", "expected"),
    [
        (int, 5, 5),
        (float, 5, 5.0),
        (float, 5.5, 5.5),
        (str, "", ""),
        (bool, False, False),
        (None, None, None),
        (type(None), None, None),
        (Any, {"a": [1]}, {"a": [1]}),
        (T, [1], [1]),
        (Anything, "as it is", "as it is"),
        (tuple[int, ...], [1, "a"], [1, "a"]),
        (list, [1, "a"], [1, "a"]),
        (list[int], [1, 2], [1, 2]),
        (list[Decimal], ["1.5"], [Decimal("1.5")]),
        (dict, {"a": 1}, {"a": 1}),
        (dict[str, date], {"a": "2024-02-29"}, {"a": date(2024, 2, 29)}),
        (dict[str, list[Point]], {"a": [{"x": 1}]}, {"a": [Point(1)]}),
        (Point, {"x": 1, "y": 2}, Point(1, 2)),
        (list[Size], [{"width": 3}], [Size(width=3)]),
        (Literal["a", 5], 5, 5),
        (Annotated[date, "the day"], "2024-02-29", date(2024, 2, 29)),
        (Colour, "blue", Colour.BLUE),
        (Level, 2, Level.HIGH),
        (datetime, "2024-02-29T12:30:00Z", datetime(2024, 2, 29, 12, 30, tzinfo=UTC)),
        (date, "2024-02-29", date(2024, 2, 29)),
        (time, "12:30", time(12, 30)),
        (timedelta, "1 02:03:04", timedelta(days=1, hours=2, minutes=3, seconds=4)),
        (timedelta, "P1DT2H", timedelta(days=1, hours=2)),
        (Decimal, "0.10", Decimal("0.10")),
        (UUID, KEY, UUID(KEY)),
        (int | str, 5, 5),
        (int | str, "5", "5"),
        (Optional[int], None, None),  # noqa: UP045 - the old spelling is another type
        (Union[int, date], "2024-02-29", date(2024, 2, 29)),  # noqa: UP007
        (datetime | None, None, None),
        (Point | None, {"x": 1}, Point(1)),
        (list[int | None], [1, None], [1, None]),
    ],
)
def test_a_value_that_fits_is_converted(hint: Any, value: Any, expected: Any) -> None:
    converted = fit(hint, value)
    assert converted == expected
    assert type(converted) is type(expected)


@pytest.mark.parametrize("value", [Decimal("1.5"), UUID(KEY), date(2024, 2, 29)])
def test_a_value_that_has_the_type_already_is_left_alone(value: Any) -> None:
    assert fit(type(value), value) is value


@pytest.mark.parametrize(
    ("hint", "value", "message"),
    [
        (int, "5", "value must be a whole number, not '5'"),
        (int, 5.0, "value must be a whole number, not 5.0"),
        (int, True, "value must be a whole number, not True"),
        (int, None, "value must be a whole number, not None"),
        (float, "5", "value must be a number, not '5'"),
        (float, False, "value must be a number, not False"),
        (str, 5, "value must be a str, not 5"),
        (bool, 1, "value must be a bool, not 1"),
        (bool, "true", "value must be a bool, not 'true'"),
        (None, 0, "value must be null, not 0"),
        (list, {"a": 1}, "value must be a list, not {'a': 1}"),
        (list, "abc", "value must be a list, not 'abc'"),
        (list[int], [1, "a"], "value[1] must be a whole number, not 'a'"),
        (list[list[int]], [[1], ["a"]], "value[1][0] must be a whole number, not 'a'"),
        (dict, [1], "value must be an object, not [1]"),
        (dict[str, int], {"a": "b"}, "value.a must be a whole number, not 'b'"),
        (Point, [1, 2], "value must be an object, not [1, 2]"),
        (Point, {"x": "1"}, "value.x must be a whole number, not '1'"),
        (list[Size], [5], "value[0] must be an object, not 5"),
        (Literal["a", 5], "b", "value must be one of ('a', 5), not 'b'"),
        (Literal["a", 5], [5], "value must be one of ('a', 5), not [5]"),
        (Literal[0, 1], True, "value must be one of (0, 1), not True"),
        (Annotated[int, "a count"], "5", "value must be a whole number, not '5'"),
        (Colour, "green", "value must be one of ['red', 'blue'], not 'green'"),
        (Colour, "RED", "value must be one of ['red', 'blue'], not 'RED'"),
        (Colour, ["red"], "value must be one of ['red', 'blue'], not ['red']"),
        (Level, 3, "value must be one of [1, 2], not 3"),
        (Level, True, "value must be one of [1, 2], not True"),
        (datetime, "yesterday", "value must be datetime as text, not 'yesterday'"),
        (datetime, "2023-02-29T12:00", "value must be datetime as text, not '2023-02-29T12:00'"),
        (datetime, 1709200000, "value must be datetime as text, not 1709200000"),
        (date, "2023-02-29", "value must be date as text, not '2023-02-29'"),
        (time, "25:00", "value must be time as text, not '25:00'"),
        (timedelta, "a while", "value must be timedelta as text, not 'a while'"),
        (
            timedelta,
            "9999999999 00:00:00",
            "value must be timedelta as text, not '9999999999 00:00:00'",
        ),
        (Decimal, "ten", "value must be Decimal as text, not 'ten'"),
        (Decimal, 1.5, "value must be Decimal as text, not 1.5"),
        (UUID, "1234", "value must be UUID as text, not '1234'"),
        (
            int | None,
            "5",
            "value must be a whole number, not '5' or value must be null, not '5'",
        ),
        (
            Union[int, date],  # noqa: UP007
            "never",
            "value must be a whole number, not 'never' or value must be date as text, not 'never'",
        ),
    ],
)
def test_a_value_that_does_not_fit_is_refused(hint: Any, value: Any, message: str) -> None:
    with pytest.raises(ParamsError) as caught:
        fit(hint, value)
    assert str(caught.value) == message


def test_a_pydantic_model_inside_a_list_is_refused_with_its_place() -> None:
    with pytest.raises(ParamsError, match=r"^value\[1\]\.width: Input should be a valid integer"):
        fit(list[Size], [{"width": 3}, {"width": "wide"}])


def test_a_long_value_is_shortened_in_the_message() -> None:
    with pytest.raises(ParamsError) as caught:
        fit(int, "x" * 10_000)
    assert str(caught.value) == "value must be a whole number, not '" + "x" * 99


def test_a_whole_number_too_large_for_a_float_is_refused() -> None:
    with pytest.raises(ParamsError, match=r"^value must be a number, not 1000"):
        fit(float, 10**400)


def test_no_annotation_is_no_check() -> None:
    def function(value, other=None): ...  # type: ignore[no-untyped-def]

    sent = {"value": types.SimpleNamespace()}
    assert Signature(function, is_method=False).arguments(sent) == sent
