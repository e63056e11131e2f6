"""What the shop floor does with its stock; knows nothing of jobs, so that views can use it, too."""

from dataclasses import dataclass

from basic.models import Item
from jobu import transactional

DATABASE = "sqlite_2"


@dataclass(frozen=True)
class Restocked:
    checked: int
    restocked: int


class StockService:
    def __init__(self, *, minimum: int) -> None:
        self._minimum = minimum

    @transactional(DATABASE)
    def restock(self, names: list[str]) -> Restocked:
        """Bring what is short up to the minimum, in one transaction."""
        items = [self._item(name) for name in names]
        short = [item for item in items if item.quantity < self._minimum]
        for item in short:
            item.quantity = self._minimum
        Item.objects.using(DATABASE).bulk_update(short, ["quantity"])
        return Restocked(checked=len(items), restocked=len(short))

    def _item(self, name: str) -> Item:
        item = Item.objects.using(DATABASE).filter(name=name).first()
        return item or Item.objects.using(DATABASE).create(name=name)
