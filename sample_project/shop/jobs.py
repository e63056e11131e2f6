"""The shop's handlers: one for each thing that jobu does for a handler."""

import time
from datetime import date, datetime, timedelta
from decimal import Decimal
from smtplib import SMTPException
from zoneinfo import ZoneInfo

from django.core.mail import send_mail
from django.db import transaction
from django.db.models import Count, Sum

from jobu import BaseHandler, HandlerParams, HandlerResult, current_job, handler
from shop.catalogue import read_products, sample_price_list
from shop.models import LedgerEntry, Order, Product

SEOUL = ZoneInfo("Asia/Seoul")


class WelcomeMail(HandlerParams):
    to: str
    name: str = "customer"


@handler(
    "send_welcome_mail",
    queue="mail",
    timeout_seconds=30,
    max_retry=5,
    backoff=2,
    retry_on=(OSError, SMTPException),
)
class SendWelcomeMail(BaseHandler):
    """A mail server that does not answer is tried again; a mistake in the code is not."""

    def execute(self, params: WelcomeMail) -> dict[str, int]:
        sent = send_mail(
            "Welcome", f"Dear {params.name}, thank you.", "shop@example.com", [params.to]
        )
        return {"sent": sent}


class DayReport(HandlerResult):
    day: str
    orders: int
    total: str


@handler("nightly_report", timeout_seconds=300, cron="0 2 * * *", timezone="Asia/Seoul")
def nightly_report(day: date | None = None) -> DayReport:
    """Sum up a day of the shop, which is one in Seoul; yesterday unless a day is given."""
    day = day or (datetime.now(SEOUL) - timedelta(days=1)).date()
    start = datetime(day.year, day.month, day.day, tzinfo=SEOUL)
    orders = Order.objects.filter(created_at__gte=start, created_at__lt=start + timedelta(days=1))
    sums = orders.aggregate(orders=Count("id"), total=Sum("total"))
    return DayReport(day=str(day), orders=sums["orders"], total=f"{sums['total'] or 0:.2f}")


@handler("import_products", timeout_seconds=300)
def import_products(products: int = 200, pause_seconds: float = 0.05) -> dict[str, int]:
    """Says how far it is; a second run updates the same products."""
    job = current_job()
    for done, product in enumerate(read_products(sample_price_list(products)), start=1):
        Product.objects.update_or_create(
            sku=product.sku, defaults={"name": product.name, "price": product.price}
        )
        job.progress(done, products, product.sku)
        time.sleep(pause_seconds)
    return {"imported": products}


@handler("post_ledger_entry", atomic=True, max_retry=10)
def post_ledger_entry(order: int) -> list[str]:
    """Commits both sides of the posting together with its own success: all of it, once."""
    posted = Order.objects.get(number=order)
    sides = {"receivables": posted.total, "sales": -posted.total}
    entries = [
        LedgerEntry.objects.create(order=posted, account=account, amount=amount)
        for account, amount in sides.items()
    ]
    return [str(entry) for entry in entries]


class OrderPlaced(HandlerParams):
    order: int
    email: str
    total: Decimal


@handler("order_placed", max_retry=5, events=True)
def order_placed(event: OrderPlaced) -> dict[str, bool]:
    """Takes an event, from Kafka or from a view; what it starts is enqueued if it commits."""
    with transaction.atomic():
        _, is_new = Order.objects.get_or_create(
            number=event.order, defaults={"email": event.email, "total": event.total}
        )
        post_ledger_entry.enqueue({"order": event.order}, dedupe_key=f"ledger:{event.order}")
        SendWelcomeMail.enqueue({"to": event.email}, dedupe_key=f"welcome:{event.email}")
    return {"new": is_new}
