"""An async handler that asks every database at the same time."""

import asyncio

from asgiref.sync import sync_to_async

from basic.models import Item
from config.databases import configured
from jobu import get_connection, handler
from multi_db.models import Customer


@handler("concurrent_queries", timeout_seconds=60, events=True)
async def concurrent_queries() -> dict[str, int]:
    """Takes as long as the slowest database, not as long as all of them."""
    aliases = configured()
    counts = await asyncio.gather(*(count_rows(alias) for alias in aliases))
    return dict(zip(aliases, counts, strict=True))


@sync_to_async(thread_sensitive=False)
def count_rows(alias: str) -> int:
    # The thread is from a pool and outlives the job: leave no connection in it.
    connection = get_connection(alias)
    try:
        return Item.objects.using(alias).count() + Customer.objects.using(alias).count()
    finally:
        connection.close()
