"""What the shop's handlers work on."""

from typing import ClassVar

from django.db import models


class Product(models.Model):
    sku = models.CharField(max_length=20, unique=True)
    name = models.CharField(max_length=100)
    price = models.DecimalField(max_digits=10, decimal_places=2)

    def __str__(self) -> str:
        return self.name


class Order(models.Model):
    number = models.PositiveIntegerField(unique=True)
    email = models.EmailField()
    total = models.DecimalField(max_digits=10, decimal_places=2)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"Order {self.number}"


class LedgerEntry(models.Model):
    """One side of a posting: the two of an order sum up to zero."""

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="entries")
    account = models.CharField(max_length=20)
    amount = models.DecimalField(max_digits=10, decimal_places=2)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "ledger entries"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["order", "account"], name="shop_ledger_unique_posting")
        ]

    def __str__(self) -> str:
        return f"{self.account} {self.amount}"
