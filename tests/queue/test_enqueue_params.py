"""What may be enqueued with which options, and how what may not is refused."""

from __future__ import annotations

import dataclasses
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import IntEnum
from typing import Any

import pydantic
import pytest
from django.db import models

from jobu import BaseHandler, HandlerParams, enqueue, enqueue_many, handler
from jobu.exceptions import NotJSONError, OptionError, ParamsError
from jobu.handlers.registry import handlers
from jobu.models import CronJob, JobExecution, Status
from jobu.testing import run_pending
from tests.builders import column

pytestmark = pytest.mark.django_db

NOON = datetime(2030, 6, 1, 12, tzinfo=UTC)


@dataclasses.dataclass
class Address:
    city: str


@dataclasses.dataclass
class Parcel:
    to: Address
    grams: int = 100


class Letter(HandlerParams):
    to: str


class Order(pydantic.BaseModel):
    number: int
    placed: datetime
    total: Decimal


def circle() -> dict[str, Any]:
    params: dict[str, Any] = {}
    params["self"] = params
    return params


def nested(depth: int) -> dict[str, Any]:
    return {"deeper": nested(depth - 1)} if depth else {}


@pytest.mark.parametrize(
    "params",
    [
        pytest.param({"x": float("nan")}, id="NaN"),
        pytest.param({"x": [float("inf")]}, id="infinity"),
        pytest.param({"x": {1, 2}}, id="a set"),
        pytest.param({"x": b"bytes"}, id="bytes"),
        pytest.param({"x": NOON}, id="a datetime"),
        pytest.param({"x": Decimal(1)}, id="a Decimal"),
        pytest.param({"x": object()}, id="an object"),
        pytest.param({"x": "a\0b"}, id="NUL"),
        pytest.param({"a\0b": 1}, id="NUL in a key"),
        pytest.param(Parcel(to=Address("a\0b")), id="NUL in a dataclass"),
        pytest.param({"x": ["\ud800"]}, id="a lone surrogate"),
        pytest.param({"\udc00": 1}, id="a lone surrogate in a key"),
        pytest.param({("a", "b"): 1}, id="a tuple as key"),
        pytest.param({"x": 10**400}, id="an int beyond any float"),
        pytest.param({"x": 10**5000}, id="an int that Python does not print"),
        pytest.param(circle(), id="a circle"),
        pytest.param({"a", "b"}, id="only a set"),
        pytest.param([("a", 1)], id="only pairs"),
        pytest.param("a", id="only a text"),
        pytest.param(1, id="only a number"),
        pytest.param(Parcel, id="a dataclass itself"),
        pytest.param(Order, id="a model itself"),
    ],
)
def test_params_that_are_no_json_object_are_refused_in_words(params: Any) -> None:
    with pytest.raises(NotJSONError, match="The params for 'echo'"):
        enqueue("echo", params)
    assert not JobExecution.objects.exists()


@pytest.mark.parametrize(
    "params",
    [
        {"text": "ü 😀 \\u0000 \\ud800 \\ ' \" % %s %% \n\t\x7f\u2028", "": None},
        {"numbers": [0, -1, 2**63, 10**300, 0.1, 1e-300, 1.5e15, 6.02e23], "flags": [True, False]},
        {"a": {"b": [{"c": []}, {}]}, "Ключ 'k' \"q\" %(name)s": "{}"},
    ],
)
def test_params_come_back_as_they_went_in(params: dict[str, Any]) -> None:
    execution = enqueue("echo", params)
    assert execution.params == params
    assert column(execution, "params") == params


@pytest.mark.parametrize("depth", [30, 40, 500])
def test_deep_params_are_stored_or_refused_in_words(depth: int) -> None:
    try:
        execution = enqueue("echo", nested(depth))
    except NotJSONError:
        assert not JobExecution.objects.exists()
    else:
        assert column(execution, "params") == nested(depth)


@pytest.mark.parametrize(
    ("params", "stored"),
    [
        (Parcel(Address("Bonn")), {"to": {"city": "Bonn"}, "grams": 100}),
        (Letter(to="Bonn"), {"to": "Bonn"}),
        (
            Order(number=7, placed=NOON, total=Decimal("9.90")),
            {"number": 7, "placed": "2030-06-01T12:00:00Z", "total": "9.90"},
        ),
        (
            {"parcels": [Parcel(Address("Bonn"))]},
            {"parcels": [{"to": {"city": "Bonn"}, "grams": 100}]},
        ),
    ],
)
def test_typed_params_are_stored_as_their_fields(params: Any, stored: dict[str, Any]) -> None:
    assert column(enqueue("echo", params), "params") == stored


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("queue", value) for value in ("", "q" * 101, "a\0b", "a\nb", "\ud800", 5)),
        *(("priority", value) for value in (32_768, -32_768, 1.0, True, "1")),
        *(("max_retry", value) for value in (-1, 2**31, 1.0, True, "1")),
        *(("timeout_seconds", value) for value in (0, -1, 2**31, 1.5, True, "1")),
        *(("available_at", value) for value in (NOON.replace(tzinfo=None), NOON.date(), "now", 1)),
        *(("delay", value) for value in (-1, True, "5", float("nan"), 10**10, timedelta(-1))),
        *(("dedupe_key", value) for value in ("", "k" * 256, "a\0b", "\ud800", 5, b"key")),
    ],
)
def test_an_option_that_cannot_work_is_refused_by_its_name(option: str, value: Any) -> None:
    with pytest.raises(OptionError, match=option):
        enqueue("echo", **{option: value})
    assert not JobExecution.objects.exists()


def test_an_option_at_its_limit_is_accepted() -> None:
    limits: dict[str, Any] = {
        "priority": 32_767,
        "max_retry": 2**31 - 1,
        "timeout_seconds": 2**31 - 1,
    }
    execution = enqueue("echo", queue="ü" * 100, **limits)
    execution.refresh_from_db()
    assert execution.queue == "ü" * 100
    assert {name: getattr(execution, name) for name in limits} == limits


@pytest.mark.parametrize(
    "queue", ["a'b", "a''b", "back\\slash", "100 %s", "%(x)s", 'a"b', "a;--", "ü"]
)
def test_a_queue_may_have_any_name(queue: str) -> None:
    for _ in range(2):
        execution = enqueue("echo", queue=queue)
        execution.refresh_from_db()
        assert execution.queue == queue
    assert enqueue("echo").queue == "default"


def test_an_option_may_be_of_a_type_of_its_own() -> None:
    class Queue(models.TextChoices):
        MAIL = "mail"

    class Urgency(IntEnum):
        HIGH = -5

    execution = enqueue("echo", queue=Queue.MAIL, priority=Urgency.HIGH)
    execution.refresh_from_db()
    assert (execution.queue, execution.priority) == ("mail", -5)


class Parcels(HandlerParams):
    weight: int
    to: Address | None = None


@pytest.fixture
def _temporary_handlers(temporary_handlers: None) -> None:
    @handler("plain")
    def plain(order: int, share: float = 0, language: str | None = None) -> None: ...

    @handler("typed")
    def typed(day: date, tags: list[str] = (), pin: int = 0) -> None: ...  # type: ignore[assignment]

    @handler("record")
    class Record(BaseHandler):
        def execute(self, params: Parcels) -> None: ...

    @handler("open", sensitive="pin")
    def open_(pin: int, **rest: Any) -> None: ...


MISFITS = [
    ("plain", {"ordr": 1}, "unknown params: ordr; the handler takes order, share, language"),
    ("plain", {}, "missing params: order"),
    ("plain", {"order": True}, "order must be a whole number, not True"),
    ("plain", {"order": 1, "language": 5}, "language must be a str, not 5 or language must be nu"),
    ("typed", {"day": "tomorrow"}, "day must be date as text, not 'tomorrow'"),
    ("typed", {"day": "2026-11-18", "tags": ["a", 1]}, "tags[1] must be a str, not 1"),
    ("record", {}, "missing params: weight"),
    ("record", {"weight": 1, "to": {"city": 5}}, "params.to.city must be a str, not 5"),
    ("open", {"other": 1}, "missing params: pin"),
    ("open", {"pin": "1234"}, "pin must be a whole number, not ********"),
]


@pytest.mark.usefixtures("_temporary_handlers")
@pytest.mark.parametrize(("name", "params", "problem"), MISFITS)
def test_params_that_do_not_fit_the_handler_are_refused_where_they_were_made(
    name: str, params: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ParamsError) as caught:
        enqueue(name, params)
    assert str(caught.value).startswith(f"The params for '{name}' do not fit: {problem}")
    good = {"plain": {"order": 1}, "typed": {"day": "2026-11-18"}, "record": {"weight": 1}}
    fits = good.get(name, {"pin": 1})
    with pytest.raises(ParamsError) as caught:
        enqueue_many(name, [fits, params])
    expected = f"The params at index 1 for '{name}' do not fit: {problem}"
    assert str(caught.value).startswith(expected)
    assert not JobExecution.objects.exists()


@pytest.mark.usefixtures("_temporary_handlers")
@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("plain", {"order": 1, "share": 1}),
        ("plain", {"order": 1, "share": 0.5, "language": None}),
        ("typed", {"day": "2026-11-18", "tags": ("a", "b"), "pin": 1}),
        ("record", {"weight": 1, "to": Address("Bonn")}),
        ("record", Parcels(weight=1, to=Address("Bonn"))),
        ("open", {"pin": 1, "other": [{}]}),
        ("echo", None),
    ],
)
def test_params_are_checked_as_the_worker_will_read_them(name: str, params: Any) -> None:
    enqueue(name, params)
    enqueue_many(name, [params])
    first, second = JobExecution.objects.all()
    assert first.params == second.params
    handlers[name].bind(first.params)


@pytest.mark.usefixtures("_temporary_handlers")
def test_a_project_may_leave_the_check_to_the_run(settings: Any) -> None:
    settings.JOBU_VALIDATE_ON_ENQUEUE = False
    enqueue("plain", {"ordr": 1})
    enqueue_many("plain", [{"ordr": 1}])
    assert {execution.status for execution in run_pending()} == {Status.FAILED}


@pytest.mark.usefixtures("_temporary_handlers")
def test_a_run_out_of_schedule_is_checked_if_its_handler_is_known() -> None:
    job = CronJob.objects.create(name="c", cron_expression="0 9 * * *", handler_name="plain")
    with pytest.raises(ParamsError, match=r"The params for 'plain' do not fit: missing params"):
        job.run_now()
    with pytest.raises(ParamsError, match="unknown params: ordr"):
        job.run_now({"order": 1, "ordr": 1})
    job.handler_name = "elsewhere"
    assert job.run_now().handler_name == "elsewhere"


@pytest.mark.usefixtures("_temporary_handlers")
def test_a_tick_is_not_lost_for_params_that_do_not_fit() -> None:
    job = CronJob.objects.create(name="c", cron_expression="0 9 * * *", handler_name="plain")
    assert job.backfill(NOON - timedelta(days=1), NOON) == 1
    [execution] = run_pending(include_delayed=True)
    assert (execution.status, execution.attempt) == (Status.FAILED, 1)
    assert "missing params: order" in execution.error_message


def test_params_that_are_too_large_are_refused_in_words(settings: Any) -> None:
    settings.JOBU_MAX_PARAMS_BYTES = 100
    largest = {"text": "x" * (100 - len('{"text": ""}'))}
    assert enqueue("echo", largest).params == largest
    assert enqueue_many("echo", [largest]) == 1
    too_large = {"text": largest["text"] + "x"}
    with pytest.raises(ParamsError) as caught:
        enqueue("echo", too_large)
    assert str(caught.value) == (
        "The params for 'echo' are 101 bytes as JSON; at most 100 are accepted "
        "(JOBU_MAX_PARAMS_BYTES). Keep large data in a file or table and enqueue where it is."
    )
    with pytest.raises(ParamsError, match="The params at index 1 for 'echo' are 101 bytes"):
        enqueue_many("echo", [largest, too_large])
    assert JobExecution.objects.count() == 2


def test_what_is_not_json_is_named_by_its_key_with_what_to_do() -> None:
    expected = (
        r"""^The params for 'echo' cannot be stored as JSON: params\["order"\]\["when"\] is a """
    )
    with pytest.raises(NotJSONError, match=expected + "datetime; write it as text, with .isofo"):
        enqueue("echo", {"order": {"lines": [1], "when": NOON}})
