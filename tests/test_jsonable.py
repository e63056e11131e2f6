"""Values become JSON that every database stores, or an error that says why not."""

from __future__ import annotations

import dataclasses
import enum
import json
import threading
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pydantic
import pytest

from jobu import HandlerResult
from jobu.exceptions import JobuError, NotJSONError
from jobu.jsonable import (
    MAX_RESULT_BYTES,
    encode,
    encode_object,
    encode_result,
    storable_text,
)
from jobu.models import JobExecution
from jobu.plain import plain
from tests.builders import pending


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: Any
    y: Any = 0


class Report(HandlerResult):
    rows: int
    points: list[Point]


class Invoice(pydantic.BaseModel):
    day: date
    total: Decimal = Decimal("0.10")


class Opaque(pydantic.BaseModel, arbitrary_types_allowed=True):
    lock: Any


JSON_VALUES = [
    {"a": [1, -2.5, True, None, "ü €  🎉"], "b": {}},
    [],
    "",
    0,
    False,
    [0.1, -1e15, 5e-300, 123456789.12345679],
    [1e16, -6.02e23, 1.7976931348623157e308],
    [2**63, -(2**64) - 1, 2**70, 10**300],
    [1, 1.0],
    {"\\": [6.02e23, "\\", "6.02e+23"], "1e+22": 'a "quoted" 6.02e+23'},
    "back\\u0000slash",
    "\\ud800 spelled out",
    "\x01\x1f\x7f",
]


@pytest.mark.parametrize("value", JSON_VALUES)
def test_a_json_value_is_encoded_as_itself(value: Any) -> None:
    text = encode(value, "It")
    assert json.loads(text) == value
    assert text.isascii()


@pytest.mark.django_db
@pytest.mark.parametrize("value", JSON_VALUES)
def test_the_database_gives_an_encoded_value_back_unchanged(value: Any) -> None:
    params = json.loads(encode_object({"value": value}, "It"))
    execution = pending(params=params)
    execution.refresh_from_db()
    assert execution.params == {"value": value}
    # Equal, but not the same: 1 and 1.0.
    assert repr(execution.params) == repr({"value": value})


def test_records_are_encoded_by_their_fields_at_any_depth() -> None:
    report = Report(rows=2, points=[Point(1), Point(2, Point(3))])
    expected = {"rows": 2, "points": [{"x": 1, "y": 0}, {"x": 2, "y": {"x": 3, "y": 0}}]}
    assert plain(report) == expected
    assert json.loads(encode({"nested": [report]}, "It")) == {"nested": [expected]}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (datetime(2024, 2, 29, 12, 30, tzinfo=UTC), "2024-02-29T12:30:00+00:00"),
        (date(2024, 2, 29), "2024-02-29"),
        (time(12, 30), "12:30:00"),
        (timedelta(days=1, seconds=5), "P1DT00H00M05S"),
        (Decimal("0.10"), "0.10"),
        (UUID(int=5), "00000000-0000-0000-0000-000000000005"),
        (Colour.RED, "red"),
        ({"days": [date(2024, 2, 29)]}, {"days": ["2024-02-29"]}),
        ((Colour.RED, 5), ["red", 5]),
    ],
)
def test_what_a_record_holds_beyond_json_is_encoded_as_text(value: Any, expected: Any) -> None:
    assert json.loads(encode_object(Point(value), "It")) == {"x": expected, "y": 0}
    assert json.loads(encode([Point(1, Point(value))], "It"))[0]["y"]["x"] == expected


def test_a_pydantic_model_is_encoded_as_pydantic_does_it() -> None:
    invoice = Invoice(day=date(2024, 2, 29))
    expected = {"day": "2024-02-29", "total": "0.10"}
    assert plain(invoice) == expected
    assert json.loads(encode([invoice], "It")) == [expected]
    assert json.loads(encode(Point(invoice), "It")) == {"x": expected, "y": 0}


@pytest.mark.parametrize("value", [5, "text", None, Point, Invoice, [Point(1)]])
def test_anything_but_a_record_is_left_as_it_is(value: Any) -> None:
    assert plain(value) is value


class Moody:
    @property
    def model_dump(self) -> Any:
        raise ValueError("No.")


def circular() -> list[Any]:
    items: list[Any] = []
    items.append(items)
    return items


def deep() -> list[Any]:
    items: list[Any] = []
    for _ in range(100_000):
        items = [items]
    return items


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({1, 2}, "it is a set; write a list of what is in it"),
        (
            {"a": [datetime(2024, 1, 1, tzinfo=UTC)]},
            'it["a"][0] is a datetime; write it as text, with .isoformat()',
        ),
        ({"a": Decimal(1)}, 'it["a"] is a Decimal; write it as text, with str()'),
        ({"a": timedelta(1)}, 'it["a"] is a timedelta; write its .total_seconds()'),
        ([Colour.RED], "it[0] is a Colour; write its .value"),
        (b"bytes", "it is a bytes; write it as text, with .decode() or as base64"),
        (JobExecution(pk=1), "it is a JobExecution; write its .pk, and fetch it in the handler"),
        ((n for n in [1]), "it is a generator; write a list of what is in it"),
        (Point, "it is a class Point, which is not a JSON type; write it as text, numbers"),
        ({"a": {(1, 2): 3}}, 'it["a"] has a tuple as a key; write it as text'),
        ([Point(Point(print))], 'it[0]["x"]["x"] is a builtin_function_or_method, which is not'),
        (float("nan"), "it is nan, which is not JSON; write None"),
        ([float("inf")], "it[0] is inf, which is not JSON; write None"),
        (2**1024, "it is a number beyond 1.8e308; write it as text"),
        ({"a": [0, -(10**400)]}, 'it["a"][1] is a number beyond 1.8e308'),
        (circular(), "it[0] contains itself"),
        (deep(), "maximum recursion depth exceeded"),
        ("a\0b", "it contains a NUL character, which not every database stores"),
        ({"a\0": 1}, "it has a key that contains a NUL character"),
        ({"a": ("b", ["c\0"])}, 'it["a"][1][0] contains a NUL character'),
        ([Point("a\0b")], 'it[0]["x"] contains a NUL character'),
        ("a\ud800b", "it contains a lone surrogate"),
        ({"\udfff": 1}, "it has a key that contains a lone surrogate"),
        ({"a": Moody()}, "No."),
    ],
)
def test_what_json_or_a_database_cannot_hold_is_refused(value: Any, reason: str) -> None:
    with pytest.raises(NotJSONError) as caught:
        encode(value, "The parcel")
    assert str(caught.value).startswith(f"The parcel cannot be stored as JSON: {reason}")


def test_not_json_is_a_type_error_of_jobu() -> None:
    assert issubclass(NotJSONError, TypeError)
    assert issubclass(NotJSONError, JobuError)


def test_an_object_may_be_a_dict_or_a_record() -> None:
    assert json.loads(encode_object({"a": 1}, "It")) == {"a": 1}
    assert json.loads(encode_object(Point(1), "It")) == {"x": 1, "y": 0}
    assert json.loads(encode_object(Invoice(day=date(2024, 2, 29)), "It"))["day"] == "2024-02-29"


@pytest.mark.parametrize("value", [[1], "text", 5, None, Point])
def test_an_object_that_is_none_is_refused(value: Any) -> None:
    with pytest.raises(NotJSONError) as caught:
        encode_object(value, "The params")
    assert str(caught.value) == (
        f"The params must be a dict, a dataclass or a pydantic model, not {type(value).__name__}"
    )


def test_no_result_is_stored_as_none() -> None:
    assert encode_result(None) is None
    assert encode_result(0) == "0"
    assert encode_result(Point(None)) == '{"x": null, "y": 0}'


def test_a_result_that_is_not_json_is_said_to_be_one() -> None:
    with pytest.raises(
        NotJSONError, match=r"^The handler's result cannot be stored as JSON: result is a set; "
    ):
        encode_result({1})


@pytest.mark.parametrize("value", [Point(threading.Lock()), Opaque(lock=threading.Lock())])
def test_a_record_that_cannot_be_unwrapped_is_not_json(value: Any) -> None:
    with pytest.raises(NotJSONError, match="cannot be stored as JSON"):
        encode_result(value)
    with pytest.raises(NotJSONError, match="cannot be stored as JSON"):
        encode_object(value, "It")


def test_a_result_of_a_megabyte_is_stored_and_a_larger_one_refused() -> None:
    largest = "x" * (MAX_RESULT_BYTES - 2)
    assert encode_result(largest) == f'"{largest}"'
    with pytest.raises(NotJSONError) as caught:
        encode_result(largest + "x")
    assert str(caught.value) == (
        "The handler's result is 1,048,577 bytes as JSON; at most 1,048,576 are stored. "
        "Keep large results in a file or table and return where they are."
    )


def test_text_is_made_fit_for_every_database() -> None:
    assert storable_text("plain ü 🎉", 100) == "plain ü 🎉"
    assert storable_text("a\0b\ud800c", 100) == "a\\x00b\\ud800c"
    assert storable_text("x" * 100, 100) == "x" * 100


def test_text_that_is_too_long_keeps_both_its_ends() -> None:
    text = "begin" + "x" * 5_000 + "end"
    short = storable_text(text, 300)
    assert len(short) <= 300
    assert short.startswith("beginxx")
    assert short.endswith("xxend")
    left_out = 5_008 - (short.count("x") + len("begin") + len("end"))
    # The note itself has no x in it.
    assert f"\n… {left_out:,} characters left out …\n" in short


@pytest.mark.parametrize(
    "value",
    [
        {"text": 'ü 😀 \u2028 "\\', "": None, "1": [True, False, -1, 2**80]},
        {2: "a", None: "b", True: "c", 1.5: "d"},
        [0.1, 1e-300, 1.5e15, -0.0, [], {}, ()],
        "text",
        None,
    ],
)
def test_json_encoder_c_make_encoder_writes_what_the_public_encoder_writes(value: Any) -> None:
    assert encode(value, "It") == json.dumps(value)
