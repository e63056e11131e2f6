"""The queues that occur: in code, in cron jobs, in what waits and in what ran lately."""

from __future__ import annotations

from jobu.handlers.registry import handlers
from jobu.models import CronJob, JobExecution
from jobu.queue.lanes import look

MAX_QUEUES = 200
_LOOKED_AT = 2_000
"""How many of the newest executions are asked for their queue; no index has the queues of all."""


def known_queues() -> list[str]:
    """Return the names of queues, in order, up to a limit; those of handlers are always there."""
    own = {spec.options.queue for spec in handlers}
    crons = CronJob.objects.order_by("queue").values_list("queue", flat=True).distinct()
    newest = JobExecution.objects.order_by("-id").values_list("queue", flat=True)[:_LOOKED_AT]
    found = dict.fromkeys([*sorted(own), *crons[:MAX_QUEUES], *_waiting(), *newest])
    return sorted(list(found)[: max(MAX_QUEUES, len(own))])


def _waiting() -> list[str]:
    return [lane.queue for lane in look(maximum=MAX_QUEUES).lanes]
