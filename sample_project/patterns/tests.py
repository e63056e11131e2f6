"""The service alone, and both handlers."""

from django.test import TestCase

from basic.models import Item
from jobu import enqueue
from jobu.testing import run_pending
from patterns.services import Restocked, StockService


class PatternsTest(TestCase):
    databases = frozenset(["default", "sqlite_2"])

    def test_the_service_restocks_only_what_is_short(self) -> None:
        Item.objects.using("sqlite_2").create(name="pears", quantity=20)
        restocked = StockService(minimum=10).restock(["apples", "pears"])
        self.assertEqual(restocked, Restocked(checked=2, restocked=1))

    def test_the_handler_returns_what_the_service_says(self) -> None:
        enqueue("service_layer", {"names": ["plums"], "minimum": 3})
        [execution] = run_pending()
        self.assertEqual(execution.result, {"checked": 1, "restocked": 1})

    def test_selling_takes_from_the_stock_but_never_below_zero(self) -> None:
        Item.objects.using("sqlite_2").create(name="apples", quantity=5)
        for left in (1, 0):
            enqueue("do_work_pattern", {"name": "apples", "quantity": 4})
            [execution] = run_pending()
            self.assertEqual(execution.result, {"item": "apples", "left": left})
