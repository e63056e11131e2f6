"""Typed params survive the way through the database."""

from __future__ import annotations

import datetime
import decimal
import enum
import uuid

import pytest

from jobu import HandlerParams, HandlerResult, handler
from jobu.handlers.registry import handlers
from jobu.testing import run_pending


class Colour(enum.Enum):
    RED = "red"


class Order(HandlerParams):
    day: datetime.date
    at: datetime.datetime
    takes: datetime.timedelta
    price: decimal.Decimal
    key: uuid.UUID
    colour: Colour
    tags: list[str]
    note: str | None = None


class Receipt(HandlerResult):
    price: decimal.Decimal


@pytest.mark.django_db
def test_an_instance_is_enqueued_and_comes_back_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handlers, "_specs", dict(handlers._specs))
    received: list[Order] = []

    @handler("order")
    def order(params: Order) -> Receipt:
        received.append(params)
        return Receipt(price=params.price)

    sent = Order(
        day=datetime.date(2026, 11, 16),
        at=datetime.datetime(2026, 11, 16, 9, 30, 0, 123456, tzinfo=datetime.UTC),
        takes=datetime.timedelta(hours=1, microseconds=5),
        price=decimal.Decimal("9.90"),
        key=uuid.uuid4(),
        colour=Colour.RED,
        tags=["a", "b"],
    )
    order.enqueue(sent)
    [execution] = run_pending()
    assert received == [sent]
    assert execution.result == {"price": "9.90"}
