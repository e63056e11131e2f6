"""Read the executions page by page, newest first, at a cost that is bounded whatever is asked for.

No index could serve every filter, and each one more would slow the workers down. So a page looks at
no more than `SCAN` ids, or at as many of one cron job's executions as `browse` does; where little
matches, pages come out short, with a next one.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from jobu.api.values import MAX_ID
from jobu.models import JobExecution
from jobu.queue.browse import browse, first_id_after, first_id_since

SCAN = 50_000
# Not in a list, so not read for one.
_LONG = ("params", "result", "errors")


def read_page(
    filters: dict[str, Any],
    *,
    cron_id: int | None,
    start: datetime | None,
    end: datetime | None,
    cursor: int | None,
    limit: int,
) -> dict[str, Any]:
    """Return what matches and was created from `start` to `end`; below the id `cursor`."""
    among = JobExecution.objects.defer(*_LONG)
    if start is not None:
        among = among.filter(id__gte=first_id_since(start))
        filters = {**filters, "created_at__gte": start}
    if end is not None:
        among = among.filter(id__lt=first_id_after(end))
        filters = {**filters, "created_at__lte": end}
    if cron_id is None and filters:
        return _window(among, filters, cursor or MAX_ID, limit)
    # These an index has in their order.
    if cron_id is not None:
        among = among.filter(job_id=cron_id)
    scope = among if filters else None
    page = browse(among.filter(**filters), limit, among=scope, before=cursor or MAX_ID)
    return _page(page.executions, page.older)


def _window(among: Any, filters: dict[str, Any], cursor: int, limit: int) -> dict[str, Any]:
    """Look at the ids right below the cursor; go on below them, past those that were pruned."""
    ids = among.order_by("-id").values_list("id", flat=True)
    newest = ids.filter(id__lt=cursor).first()
    if newest is None:
        return _page([], None)
    floor = newest - SCAN
    inside = among.filter(id__lte=newest, id__gt=floor)
    found = list(inside.filter(**filters).order_by("-id")[: limit + 1])
    if len(found) > limit:
        return _page(found[:limit], found[limit - 1].pk)
    below = ids.filter(id__lte=floor).first()
    return _page(found, None if below is None else below + 1)


def _page(executions: list[JobExecution], older: int | None) -> dict[str, Any]:
    return {"items": executions, "next": None if older is None else str(older)}
