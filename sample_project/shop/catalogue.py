"""Read the supplier's price list."""

import csv
from collections.abc import Iterable, Iterator
from decimal import Decimal, InvalidOperation

from shop.models import Product


def read_products(lines: Iterable[str]) -> Iterator[Product]:
    """Read `sku,name,price` lines; a line that cannot be read is named in the error."""
    for number, row in enumerate(csv.reader(lines), start=1):
        try:
            sku, name, price = row
            yield Product(sku=sku, name=name, price=Decimal(price))
        except (ValueError, InvalidOperation) as error:
            raise ValueError(f"line {number} is not sku,name,price: {','.join(row)}") from error


def sample_price_list(products: int) -> Iterator[str]:
    """Stand in for the supplier's file."""
    for number in range(1, products + 1):
        yield f"SKU-{number:04},Product {number},{number}.90"
