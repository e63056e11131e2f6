"""Why executions wait: what one of them waits for, and what is wrong with the whole.

Asking costs a few bounded statements, however much waits.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import Count, Q, Subquery
from django.utils.translation import gettext as _

from jobu.durations import whole
from jobu.handlers.registry import handlers
from jobu.models import JobExecution, Process
from jobu.models.process import ProcessKind
from jobu.outcomes import Status
from jobu.queue.lanes import look

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

MAX_AHEAD = 20_000
"""How many executions that come before one are counted."""
_MAX_LANES_AHEAD = 50
_MAX_PROCESSES = 1_000


class Reason(NamedTuple):
    """Something that an execution waits for; if it `is_stuck`, it waits until somebody acts."""

    code: str
    text: str
    is_stuck: bool = False


@dataclass(frozen=True, slots=True)
class LivingProcess:
    """A process that beat within the lease; a worker that serves no `queues` serves all."""

    id: UUID
    kind: str
    queues: tuple[str, ...]
    slots: int
    is_stopping: bool

    def serves(self, queue: str) -> bool:
        """Tell whether it is a worker that claims from the queue."""
        is_working = self.kind == ProcessKind.WORKER and not self.is_stopping
        return is_working and (not self.queues or queue in self.queues)


def living_processes() -> list[LivingProcess]:
    rows = Process.objects.alive().order_by("started_at")
    columns = ("id", "kind", "queues", "slots", "stopping")
    return [
        LivingProcess(pk, kind, tuple(map(str, queues or ())), slots, stopping)
        for pk, kind, queues, slots, stopping in rows.values_list(*columns)[:_MAX_PROCESSES]
    ]


class Waits:
    """Says of executions what they wait for; reads the processes once, when it needs them."""

    def reasons(
        self, execution: JobExecution, now: datetime, *, in_detail: bool = True
    ) -> list[Reason]:
        """Return what it waits for, the most important first; nothing if it does not wait.

        Without detail, what comes before it is not counted: that takes statements of its own.
        """
        if execution.status == Status.RUNNING:
            return self._if_lost(execution) if in_detail else []
        if execution.status != Status.PENDING:
            return []
        found = [self._main_reason(execution, now, in_detail)]
        if execution.handler_name not in handlers:
            found.insert(0, _unknown_handler(execution.handler_name))
        if in_detail and execution.job is not None and not execution.job.is_enabled:
            found.append(_disabled_cron(is_paused=bool(execution.job.problem)))
        return found

    @cached_property
    def living(self) -> list[LivingProcess]:
        return living_processes()

    @cached_property
    def _running(self) -> dict[UUID | None, int]:
        rows = JobExecution.objects.running().values_list("claimed_by").order_by()
        return dict(rows.annotate(count=Count("id")))

    def _main_reason(self, execution: JobExecution, now: datetime, in_detail: bool) -> Reason:
        serving = [each for each in self.living if each.serves(execution.queue)]
        if not serving:
            return _unserved(execution.queue, self.living)
        due_in = (execution.available_at - now).total_seconds()
        if due_in > 0:
            return _due(due_in, is_retry=execution.retry_count > 0)
        if in_detail and (before := _find_ahead(execution, serving)):
            return before
        slots = sum(each.slots for each in serving)
        if slots > sum(self._running.get(each.id, 0) for each in serving):
            return Reason(
                "any_moment", _("A worker serves it and has a free slot: any moment now.")
            )
        text = _("All slots of the workers that serve its queue are in use: %(slots)s.")
        return Reason("busy", text % {"slots": slots})

    def _if_lost(self, execution: JobExecution) -> list[Reason]:
        if any(each.id == execution.claimed_by for each in self.living):
            return []
        text = _("Its process stopped beating: any living process rescues it soon.")
        if not self.living:
            text = _("Its process stopped beating, and no process is alive to rescue it.")
        return [Reason("lost", text, is_stuck=not self.living)]


def _find_ahead(execution: JobExecution, serving: list[LivingProcess]) -> Reason | None:
    """Return how much is claimed before it, by the workers that serve its queue."""
    due = JobExecution.objects.claimable().in_lane()
    queues = {queue for each in serving for queue in each.queues}
    lanes = look(sorted(queues) if all(each.queues for each in serving) else ()).due
    higher = [lane for lane in lanes if lane.priority > execution.priority]
    count = 0
    for lane in higher[:_MAX_LANES_AHEAD]:
        in_lane = due.filter(queue=lane.queue, priority=lane.priority)
        in_order = in_lane.order_by("available_at", "id").values("id")
        count += in_order[: MAX_AHEAD - count].count() if count < MAX_AHEAD else 0
    is_exact = count < MAX_AHEAD and len(higher) <= _MAX_LANES_AHEAD
    if count:
        text = _("Behind %(count)s of a higher priority.")
        return Reason("behind_higher", text % {"count": _counted(count, is_exact)})
    # Compared inside the database, which may keep the time in another precision than Python.
    own = JobExecution.objects.filter(pk=execution.pk).values("available_at")
    own_time = Subquery(own[:1])
    earlier = Q(available_at__lt=own_time)
    same = Q(available_at=own_time, id__lt=execution.pk)
    in_lane = due.filter(queue=execution.queue, priority=execution.priority)
    before = in_lane.filter(earlier | same).order_by("available_at", "id").values("id")
    count = before[:MAX_AHEAD].count()
    if not count:
        return None
    text = _("Behind others that were due earlier: %(count)s.")
    return Reason("behind_earlier", text % {"count": _counted(count, count < MAX_AHEAD)})


def _counted(count: int, is_exact: bool) -> str:
    return f"{count:,}" if is_exact else _("more than %s") % f"{count:,}"


def _due(seconds: float, *, is_retry: bool) -> Reason:
    when = {"duration": whole(max(1, round(seconds)))}
    if is_retry:
        return Reason("retry", _("A retry, due in %(duration)s.") % when)
    return Reason("due_later", _("Due in %(duration)s.") % when)


def _unserved(queue: str, living: list[LivingProcess]) -> Reason:
    if not living:
        text = _("No process is alive. Start a worker: %(command)s")
        return Reason("no_process", text % {"command": start_command()}, is_stuck=True)
    if not any(each.kind == ProcessKind.WORKER for each in living):
        text = _("No worker is alive. Start one: %(command)s")
        return Reason("no_worker", text % {"command": start_command()}, is_stuck=True)
    text = _("No living worker serves the queue %(queue)s. Start one: %(command)s")
    values = {"queue": f"“{queue}”", "command": start_command(queue)}
    return Reason("unserved_queue", text % values, is_stuck=True)


def start_command(queue: str | None = None) -> str:
    """Return the command that starts a worker for the queue, or for all."""
    return "manage.py runworker" + ("" if queue is None else f" --queue {shlex.quote(queue)}")


def _unknown_handler(name: str) -> Reason:
    text = _("No installed app here has its handler %(name)s: without it the execution fails.")
    return Reason("unknown_handler", text % {"name": f"“{name}”"}, is_stuck=True)


def _disabled_cron(*, is_paused: bool) -> Reason:
    if is_paused:
        text = _("Its cron job is paused: no more executions come of it, but this one runs.")
        return Reason("cron_paused", text)
    text = _("Its cron job is disabled: no more executions come of it, but this one runs.")
    return Reason("cron_disabled", text)
