"""The shop's handlers, run in the test itself."""

from datetime import UTC, datetime
from unittest.mock import patch

from django.core import mail
from django.db.models import Sum
from django.test import TestCase

from jobu import enqueue
from jobu.models import JobExecution
from jobu.testing import run_pending
from shop.catalogue import read_products
from shop.models import LedgerEntry, Order, Product

ORDER = {"order": 7, "email": "ada@example.com", "total": "12.50"}


class ShopTest(TestCase):
    def test_a_mail_server_that_is_busy_is_tried_again(self) -> None:
        enqueue("send_welcome_mail", {"to": "ada@example.com", "name": "Ada"})
        busy = [ConnectionRefusedError("busy"), ConnectionRefusedError("busy"), 1]
        with patch("shop.jobs.send_mail", side_effect=busy):
            [execution] = run_pending(include_delayed=True)
        self.assertEqual((execution.status, execution.attempt), ("SUCCESS", 3))

    def test_a_mistake_in_a_mail_is_not_tried_again(self) -> None:
        enqueue("send_welcome_mail", {"to": "ada@example.com"})
        with patch("shop.jobs.send_mail", side_effect=ValueError("no such template")):
            [execution] = run_pending(include_delayed=True)
        self.assertEqual((execution.status, execution.attempt), ("FAILED", 1))

    def test_an_order_is_posted_and_welcomed_once_however_often_its_event_comes(self) -> None:
        for _ in range(2):
            enqueue("order_placed", ORDER)
        done = run_pending()
        self.assertEqual({execution.status for execution in done}, {"SUCCESS"})
        self.assertEqual(len(done), 4)
        self.assertEqual(LedgerEntry.objects.count(), 2)
        self.assertEqual(LedgerEntry.objects.aggregate(sum=Sum("amount"))["sum"], 0)
        self.assertEqual([message.to for message in mail.outbox], [["ada@example.com"]])

    def test_half_a_posting_is_none(self) -> None:
        order = Order.objects.create(number=7, email="ada@example.com", total="12.50")
        LedgerEntry.objects.create(order=order, account="sales", amount="-12.50")
        enqueue("post_ledger_entry", {"order": 7}, max_retry=1)
        [execution] = run_pending()
        self.assertEqual(execution.status, "FAILED")
        self.assertEqual(LedgerEntry.objects.get().account, "sales")

    def test_a_day_of_the_report_begins_at_midnight_in_seoul(self) -> None:
        for number, hour in ((1, 14), (2, 15)):
            Order.objects.create(number=number, email="ada@example.com", total="10")
            created = datetime(2026, 11, 15, hour, 30, tzinfo=UTC)
            Order.objects.filter(number=number).update(created_at=created)
        enqueue("nightly_report", {"day": "2026-11-16"})
        [execution] = run_pending()
        self.assertEqual(execution.result, {"day": "2026-11-16", "orders": 1, "total": "10.00"})

    def test_an_import_can_be_repeated_and_says_how_far_it_is(self) -> None:
        for _ in range(2):
            enqueue("import_products", {"products": 3, "pause_seconds": 0})
        done = run_pending()
        self.assertEqual([execution.status for execution in done], ["SUCCESS"] * 2)
        self.assertEqual(Product.objects.count(), 3)
        self.assertEqual(JobExecution.objects.filter(handler_name="import_products").count(), 2)

    def test_a_line_that_cannot_be_read_is_named(self) -> None:
        with self.assertRaisesMessage(ValueError, "line 2 is not sku,name,price: SKU-2,pear"):
            list(read_products(["SKU-1,apple,1.90", "SKU-2,pear"]))
