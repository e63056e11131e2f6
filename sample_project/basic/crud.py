"""Create, read, update, delete: the same on every database."""

from basic.models import Item
from jobu import HandlerResult, transactional


class CrudReport(HandlerResult):
    created: int
    read: int
    updated: int
    deleted: int


def crud(alias: str, rows: int) -> CrudReport:
    """Do all four in one transaction on the database `alias`."""
    items = Item.objects.using(alias)
    with transactional(alias):
        created = [items.create(name=f"item {number}", quantity=number) for number in range(rows)]
        mine = items.filter(pk__in=[item.pk for item in created])
        read = len(mine)
        updated = mine.update(quantity=100)
        deleted, _ = mine.filter(quantity=100).delete()
    return CrudReport(created=len(created), read=read, updated=updated, deleted=deleted)
