"""Params as whole objects or keyword arguments: which handler gets what, and what is refused."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pydantic
import pytest

from jobu import BaseHandler, HandlerParams, handler, transactional
from jobu.exceptions import HandlerError, JobuError, ParamsError
from jobu.handlers.params import Signature
from jobu.handlers.registry import handlers

if TYPE_CHECKING:
    from collections.abc import Callable
    from decimal import Decimal


@dataclasses.dataclass
class Address:
    street: str
    number: int = 1
    notes: list[str] = dataclasses.field(default_factory=list)
    label: str = dataclasses.field(init=False, default="made here")


@dataclasses.dataclass
class Order:
    address: Address
    quantity: int

    def __post_init__(self) -> None:
        if self.quantity < 1:
            raise ValueError("order at least one")


class Mail(HandlerParams):
    to: str
    urgent: bool = False


class Payment(pydantic.BaseModel):
    amount: int
    currency: str = "EUR"


@dataclasses.dataclass
class Bill:
    """Its annotation is there for type checkers only, as linters like it."""

    total: Decimal


def arguments(function: Callable[..., Any], **params: Any) -> dict[str, Any]:
    return Signature(function, is_method=False).arguments(params)


def refusal(function: Callable[..., Any], **params: Any) -> str:
    with pytest.raises(ParamsError) as caught:
        arguments(function, **params)
    return str(caught.value)


def test_a_parameter_named_params_gets_them_as_a_whole() -> None:
    def function(params): ...  # type: ignore[no-untyped-def]

    assert arguments(function, a=1, b=[2]) == {"params": {"a": 1, "b": [2]}}
    assert arguments(function) == {"params": {}}


def test_a_single_parameter_of_another_name_is_a_keyword() -> None:
    def function(order): ...  # type: ignore[no-untyped-def]

    assert arguments(function, order=5) == {"order": 5}
    assert refusal(function, a=1) == "unknown params: a; the handler takes order"


def test_params_beside_another_parameter_is_a_keyword() -> None:
    def function(params, more): ...  # type: ignore[no-untyped-def]

    assert arguments(function, params=1, more=2) == {"params": 1, "more": 2}


def test_a_single_dataclass_gets_them_as_a_whole_whatever_its_name() -> None:
    def function(where: Address) -> None: ...

    given = arguments(function, street="Main St", number=5, notes=["ring twice"])["where"]
    assert given == Address("Main St", 5, ["ring twice"])
    assert arguments(function, street="Main St") == {"where": Address("Main St")}


def test_two_dataclasses_are_keywords() -> None:
    def function(sender: Address, receiver: Address) -> None: ...

    given = arguments(function, sender={"street": "A"}, receiver={"street": "B", "number": 2})
    assert given == {"sender": Address("A"), "receiver": Address("B", 2)}


def test_handler_params_get_them_as_a_whole() -> None:
    def function(mail: Mail) -> None: ...

    assert arguments(function, to="ann") == {"mail": Mail(to="ann", urgent=False)}
    message = refusal(function, to="ann", urgent="yes")
    assert message == "params.urgent must be a bool, not 'yes'"


def test_a_pydantic_model_validates_them_itself() -> None:
    def function(payment: Payment) -> None: ...

    assert arguments(function, amount="5") == {"payment": Payment(amount=5, currency="EUR")}
    message = refusal(function, amount="a lot")
    assert message.startswith("params.amount: Input should be a valid integer")
    assert "a lot" not in message
    assert "unable to parse string as an integer" in message


def test_the_execute_of_a_class_takes_params_by_any_name_and_type() -> None:
    class Handler(BaseHandler):
        def execute(self, mail: Mail) -> None: ...

    class Plain(BaseHandler):
        def execute(self, anything): ...  # type: ignore[no-untyped-def]

    signature = Signature(Handler.execute, is_method=True)
    assert signature.arguments({"to": "ann"}) == {"mail": Mail(to="ann")}
    signature = Signature(Plain.execute, is_method=True)
    assert signature.arguments({"to": "ann"}) == {"anything": {"to": "ann"}}


def test_an_execute_with_another_number_of_arguments_is_refused() -> None:
    class Nothing(BaseHandler):
        def execute(self) -> None: ...  # type: ignore[override]

    class Two(BaseHandler):
        def execute(self, params: Any, more: Any) -> None: ...  # type: ignore[override]

    class Many(BaseHandler):
        def execute(self, **params: Any) -> None: ...  # type: ignore[override]

    for refused in (Nothing, Two, Many):
        with pytest.raises(HandlerError) as caught:
            Signature(refused.execute, is_method=True)
        assert str(caught.value) == (
            f"{refused.__qualname__}.execute must take exactly one argument besides self: params"
        )


def test_missing_params_are_named() -> None:
    def function(first: int, second: int, third: int = 3) -> None: ...

    assert refusal(function, third=1) == "missing params: first, second"
    assert refusal(function, first=1) == "missing params: second"
    assert arguments(function, first=1, second=2) == {"first": 1, "second": 2}


def test_unknown_params_are_named_beside_those_the_handler_takes() -> None:
    def function(first: int, second: int = 2) -> None: ...

    message = "unknown params: a, z; the handler takes first, second"
    assert refusal(function, first=1, z=1, a=2) == message


def test_a_handler_without_parameters_takes_nothing() -> None:
    def function() -> None: ...

    assert arguments(function) == {}
    assert refusal(function, a=1) == "unknown params: a; the handler takes nothing"


def test_unknown_and_missing_fields_of_a_dataclass_are_named() -> None:
    def function(where: Address) -> None: ...

    assert refusal(function, number=1) == "missing params: street"
    unknown = "unknown params: label, town; the handler takes street, number, notes"
    assert refusal(function, street="A", town="B", label="C") == unknown


def test_fields_of_a_nested_dataclass_are_converted_and_named_by_their_path() -> None:
    def function(order: Order) -> None: ...

    given = arguments(function, address={"street": "A"}, quantity=2)
    assert given == {"order": Order(Address("A"), 2)}
    message = refusal(function, address={"street": "A", "notes": ["ok", 5]}, quantity=1)
    assert message == "params.address.notes[1] must be a str, not 5"
    assert refusal(function, address="A", quantity=1) == (
        "params.address must be an object, not 'A'"
    )


def test_what_a_dataclass_refuses_itself_is_a_params_error() -> None:
    def function(order: Order) -> None: ...

    message = refusal(function, address={"street": "A"}, quantity=0)
    assert message == "params: order at least one"


def test_extra_keywords_go_to_a_handler_that_takes_them_all() -> None:
    def function(first: int, **extra: int) -> None: ...

    assert arguments(function, first=1, more="as it is") == {"first": 1, "more": "as it is"}
    assert refusal(function, more=1) == "missing params: first"
    assert refusal(function, first="1", more=1) == "first must be a whole number, not '1'"


def test_keyword_only_parameters_are_keywords() -> None:
    def function(*, first: int, second: int = 2) -> None: ...

    assert arguments(function, first=1) == {"first": 1}
    assert refusal(function) == "missing params: first"


def test_a_positional_only_parameter_is_refused_when_the_handler_is_defined() -> None:
    def function(first: int, /, second: int) -> None: ...

    with pytest.raises(HandlerError) as caught:
        Signature(function, is_method=False)
    assert str(caught.value) == (
        f"{function.__qualname__}: the parameter 'first' is positional-only, "
        "but params are passed by name; remove the '/'."
    )


def test_the_errors_of_params_are_value_errors_of_jobu() -> None:
    assert issubclass(ParamsError, ValueError)
    assert issubclass(ParamsError, JobuError)


def test_an_annotation_that_cannot_be_resolved_is_no_check() -> None:
    def function(total: Decimal) -> None: ...

    assert arguments(function, total=[1]) == {"total": [1]}


def test_an_annotation_that_cannot_be_resolved_does_not_hide_the_others() -> None:
    def function(where: Address) -> Decimal: ...  # type: ignore[empty-body]

    assert arguments(function, street="A") == {"where": Address("A")}


def test_a_field_whose_annotation_cannot_be_resolved_is_no_check() -> None:
    def function(bill: Bill) -> None: ...

    assert arguments(function, total="5") == {"bill": Bill(total="5")}  # type: ignore[arg-type]


class Account(HandlerParams):
    pin: int
    password: str = ""

    def __post_init__(self) -> None:
        if self.password == "letmein":
            raise ValueError(f"{self.password} is too easy a password")


class Login(pydantic.BaseModel):
    token: int


@pytest.mark.usefixtures("temporary_handlers")
@pytest.mark.parametrize(
    ("record", "params", "message"),
    [
        (Account, {"pin": "12a"}, "params.pin must be a whole number, not ********"),
        (Account, {"pin": 1, "password": 7}, "params.password must be a str, not ********"),
        (
            Account,
            {"pin": {"password": 7}},
            "params.pin must be a whole number, not ********",
        ),
        (Account, {"pin": 1, "password": "letmein"}, "params: ******** is too easy a password"),
        (
            Login,
            {"token": "sesame"},
            "params.token: Input should be a valid integer, unable to parse string as an integer",
        ),
    ],
)
def test_a_refusal_quotes_nothing_that_is_sensitive(record: Any, params: Any, message: str) -> None:
    def function(params: Any) -> None: ...

    function.__annotations__["params"] = record
    handler("log-in", sensitive="pin")(function)
    with pytest.raises(ParamsError) as caught:
        handlers["log-in"].check(params)
    assert str(caught.value) == message
    assert caught.value.__suppress_context__ and caught.value.__cause__ is None


def test_a_refused_object_is_quoted_with_masks() -> None:
    def function(days: int) -> None: ...

    message = refusal(function, days={"password": "sesame", "n": 1})
    assert message == "days must be a whole number, not {'password': '********', 'n': 1}"


def test_a_decorated_handlers_annotations_are_those_of_its_own_module() -> None:
    @transactional("default")
    def function(to: Address) -> None: ...

    assert arguments(function, street="Elm") == {"to": Address("Elm")}
