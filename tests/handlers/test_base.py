"""What handlers are built on."""

from __future__ import annotations

import dataclasses
import json
from datetime import date
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from jobu import BaseHandler, HandlerParams, HandlerResult, handler
from jobu.exceptions import HandlerError
from jobu.handlers.registry import handlers
from jobu.jsonable import encode_result
from jobu.models import JobExecution, Status
from jobu.testing import run_pending

pytestmark = pytest.mark.usefixtures("temporary_handlers")


def test_each_run_of_a_class_gets_a_fresh_instance() -> None:
    instances = []

    @handler("fresh")
    class Fresh(BaseHandler):
        def execute(self, params: Any) -> None:
            instances.append(self)

    handlers["fresh"].bind({})()
    handlers["fresh"].bind({})()
    assert len(instances) == 2
    assert instances[0] is not instances[1]
    assert type(instances[0]) is Fresh


def test_a_handler_without_execute_says_so_when_it_runs() -> None:
    @handler("lazy")
    class Lazy(BaseHandler):
        pass

    with pytest.raises(NotImplementedError, match=r"Lazy has no execute\(self, params\)"):
        handlers["lazy"].bind({})()


@pytest.mark.django_db
def test_a_class_and_a_function_enqueue_themselves() -> None:
    @handler("parcel", queue="post", max_retry=9)
    class Parcel(BaseHandler):
        def execute(self, params: Any) -> None: ...

    @handler("letter", priority=3)
    def letter(to: str) -> None: ...

    parcel = Parcel.enqueue({"weight": 2}, priority=1)
    sent = letter.enqueue({"to": "Ann"}, queue="air")
    assert Parcel.enqueue_many({"weight": n} for n in range(3)) == 3
    assert letter.enqueue_many([{"to": "Bob"}], queue="air") == 1

    parcel.refresh_from_db()
    assert (parcel.handler_name, parcel.params, parcel.status) == (
        "parcel",
        {"weight": 2},
        Status.PENDING,
    )
    assert (parcel.queue, parcel.priority, parcel.max_retry) == ("post", 1, 9)
    sent.refresh_from_db()
    assert (sent.handler_name, sent.queue, sent.priority) == ("letter", "air", 3)
    assert JobExecution.objects.filter(handler_name="parcel").count() == 4
    assert JobExecution.objects.filter(handler_name="letter", queue="air").count() == 2


@pytest.mark.django_db
def test_a_class_and_a_function_enqueue_themselves_from_async_code() -> None:
    @handler("parcel")
    class Parcel(BaseHandler):
        def execute(self, params: Any) -> None: ...

    @handler("letter")
    def letter(to: str) -> None: ...

    assert async_to_sync(Parcel.aenqueue)({"weight": 2}).handler_name == "parcel"
    assert async_to_sync(Parcel.aenqueue_many)([{}, {}]) == 2
    assert async_to_sync(letter.aenqueue)({"to": "Ann"}).params == {"to": "Ann"}
    assert async_to_sync(letter.aenqueue_many)([{"to": "Bob"}]) == 1
    assert JobExecution.objects.count() == 5


def test_a_subclass_of_a_handler_is_not_that_handler() -> None:
    @handler("parent")
    class Parent(BaseHandler):
        def execute(self, params: Any) -> None: ...

    class Child(Parent):
        pass

    expected = r'Child is not registered: add @handler\("its-name"\)'
    with pytest.raises(HandlerError, match=expected):
        Child.enqueue({})
    with pytest.raises(HandlerError, match=expected):
        Child.enqueue_many([{}])
    with pytest.raises(HandlerError, match=expected):
        async_to_sync(Child.aenqueue)({})
    with pytest.raises(HandlerError, match=expected):
        async_to_sync(Child.aenqueue_many)([{}])


@pytest.mark.parametrize("base", [HandlerParams, HandlerResult])
def test_params_and_results_are_dataclasses_by_inheritance(base: type) -> None:
    class Invoice(base):  # type: ignore[misc, valid-type]
        number: int
        paid: bool = False

    class Reminder(Invoice):
        level: int

    assert dataclasses.asdict(Reminder(number=7, level=1)) == {
        "number": 7,
        "paid": False,
        "level": 1,
    }
    assert Invoice(number=7) == Invoice(number=7, paid=False)
    with pytest.raises(TypeError, match="positional argument"):
        Invoice(7)
    with pytest.raises(TypeError, match="'number'"):
        Invoice()


def test_params_without_fields_have_whatever_came() -> None:
    @handler("open")
    class Any_(BaseHandler):
        def execute(self, params: HandlerParams) -> list[Any]:
            return [params.to, params.lines[0]["count"], getattr(params, "language", "en")]  # type: ignore[attr-defined]

    @handler("open_function")
    def open_function(order: HandlerParams) -> Any:
        return order

    params = {"to": "Ann", "lines": [{"count": 2}], "self": 1, "a-b": 2}
    assert handlers["open"].bind(params)() == ["Ann", 2, "en"]
    given = handlers["open_function"].bind(params)()
    assert (vars(given), given) == (params, HandlerParams(**params))
    assert given != HandlerParams(to="Bob")
    assert handlers["open"].fields is handlers["open_function"].fields is None


def test_a_param_that_did_not_come_is_named_with_those_that_did() -> None:
    with pytest.raises(AttributeError) as caught:
        _ = HandlerParams(to="Ann", day=1).too  # type: ignore[attr-defined]
    assert str(caught.value) == "There is no param 'too'; there are: to, day"
    with pytest.raises(AttributeError, match="there are: none"):
        _ = HandlerParams().too  # type: ignore[attr-defined]


def test_params_and_results_without_fields_mask_what_they_show() -> None:
    assert repr(HandlerParams(to="Ann", password="geheim")) == (
        "HandlerParams(to='Ann', password='********')"
    )
    assert repr(HandlerResult(action="made")) == "HandlerResult(action='made')"


def test_a_result_without_fields_is_stored_as_what_it_was_made_with() -> None:
    class Row(HandlerResult):
        at: date

    result = HandlerResult(action="created", data={"rows": [Row(at=date(2026, 11, 18))]})
    assert json.loads(encode_result(result) or "") == {
        "action": "created",
        "data": {"rows": [{"at": "2026-11-18"}]},
    }


class Refund(HandlerResult):
    refunded: str


@pytest.mark.parametrize(
    "make",
    [
        lambda: HandlerResult("created"),  # type: ignore[call-arg]
        lambda: Refund(refundd="9.90"),  # type: ignore[call-arg]
        lambda: Refund(),  # type: ignore[call-arg]
        lambda: Refund("9.90"),  # type: ignore[call-arg]
    ],
)
@pytest.mark.django_db(transaction=True)
def test_a_mistake_in_making_a_result_fails_at_once_and_in_words(make: Any) -> None:
    runs = []

    @handler("mistaken", max_retry=5, retry_on=(TypeError,), backoff=0)
    def mistaken() -> Any:
        runs.append(1)
        return make()

    execution = mistaken.enqueue()
    run_pending(include_delayed=True)
    execution.refresh_from_db()
    assert (len(runs), execution.status) == (1, Status.FAILED)
    assert "ResultError: The result cannot be made: " in execution.error_message
    assert "return make()" in execution.errors[0]["traceback"]
