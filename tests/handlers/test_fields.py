"""What a form asks for is what the handler takes."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
from typing import Annotated, Any, Literal

import pydantic
import pytest

from jobu import BaseHandler, HandlerParams, handler
from jobu.exceptions import ParamsError
from jobu.handlers.fields import ParamField
from jobu.handlers.registry import handlers

pytestmark = [pytest.mark.pure, pytest.mark.usefixtures("temporary_handlers")]


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Typed(HandlerParams):
    to: str
    order: int = 1
    tags: list[str] = dataclasses.field(default_factory=list)


def surprise() -> str:
    raise AssertionError("called")


class Model(pydantic.BaseModel):
    size: int
    colour: Colour = Colour.RED
    token: str = pydantic.Field(default_factory=surprise)


def fields(name: str = "it") -> list[ParamField]:
    found = handlers[name].fields
    assert found is not None
    return found


def kinds() -> dict[str, str]:
    return {field.name: field.kind for field in fields()}


def test_a_functions_arguments_are_fields() -> None:
    @handler("it")
    def it(
        name: str,
        count: int = 3,
        share: float = 0.5,
        sure: bool = False,
        day: datetime.date | None = None,
        at: datetime.datetime | None = None,
        price: decimal.Decimal = decimal.Decimal("1.5"),
        mode: Literal["fast", "slow"] = "fast",
        colour: Colour = Colour.BLUE,
        many: list[int] | None = None,
        either: int | str = 1,
        annotated: Annotated[int, "whatever"] = 1,
        untyped=None,
    ) -> None:
        """Say what it does.

        And more.
        """

    assert kinds() == {
        "name": "text",
        "count": "integer",
        "share": "number",
        "sure": "boolean",
        "day": "date",
        "at": "datetime",
        "price": "text",
        "mode": "choice",
        "colour": "choice",
        "many": "json",
        "either": "json",
        "annotated": "integer",
        "untyped": "json",
    }
    named = {field.name: field for field in fields()}
    assert [name for name, field in named.items() if field.is_required] == ["name"]
    assert named["mode"].choices == ["fast", "slow"]
    assert (named["colour"].choices, named["colour"].default) == (["red", "blue"], "blue")
    assert (named["count"].default, named["count"].type) == (3, "int")
    assert named["untyped"].type == ""
    assert named["many"].type == "list[int] | None"
    assert handlers["it"].doc == "Say what it does.\n\nAnd more."


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (Typed, [("to", "text", True), ("order", "integer", False), ("tags", "json", False)]),
        (
            Model,
            [("size", "integer", True), ("colour", "choice", False), ("token", "text", False)],
        ),
    ],
)
def test_a_records_fields_are_fields(record: Any, expected: list[Any]) -> None:
    class It(BaseHandler):
        def execute(self, params: Any) -> None: ...

    It.execute.__annotations__["params"] = record
    handler("it")(It)
    assert [(field.name, field.kind, field.is_required) for field in fields()] == expected
    assert {field.name: field.default for field in fields()}.get("tags", []) == []


def test_a_handler_that_takes_any_object_has_no_fields() -> None:
    @handler("whole")
    def whole(params: dict[str, Any]) -> None: ...

    @handler("keywords")
    def keywords(**params: Any) -> None: ...

    assert handlers["whole"].fields is None
    assert handlers["keywords"].fields is None


def test_a_handler_without_params_has_an_empty_form() -> None:
    @handler("it")
    def it() -> None: ...

    assert fields() == []


def test_params_can_be_checked_without_a_run() -> None:
    @handler("it")
    def it(days: int) -> None:
        raise AssertionError("run")

    handlers["it"].check({"days": 1})
    with pytest.raises(ParamsError, match="days must be a whole number"):
        handlers["it"].check({"days": "x"})


def test_a_class_does_not_inherit_the_docstring_of_its_base() -> None:
    @handler("it")
    class It(BaseHandler):
        def execute(self, params: dict[str, Any]) -> None: ...

    assert handlers["it"].doc == ""
