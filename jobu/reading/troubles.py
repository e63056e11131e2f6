"""What keeps jobs from being run: nobody serves them, or nobody lives at all."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from django.utils.translation import gettext as _

from jobu.conf import settings
from jobu.dialects import DatabaseNow
from jobu.models import CronJob, JobExecution
from jobu.models.job_execution import IN_LANE
from jobu.models.process import ProcessKind
from jobu.queue.lanes import look
from jobu.reading.waits import living_processes, start_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jobu.reading.waits import LivingProcess

CACHED_SECONDS = 3.0
_MAX_ASIDE = 1_000
_MAX_NAMED = 5

NO_PROCESS, NO_WORKER, UNSERVED, NO_DISPATCHER = (
    "no_process",
    "no_worker",
    "unserved_queue",
    "no_dispatcher",
)
_seen: dict[str, tuple[float, list[Trouble]]] = {}


class Trouble(NamedTuple):
    """Something that is wrong until somebody acts; its text is in the reader's language."""

    code: str
    queues: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        named = ", ".join(f"“{queue}”" for queue in self.queues[:_MAX_NAMED])
        if (more := len(self.queues) - _MAX_NAMED) > 0:
            named = _("%(names)s and %(count)s more") % {"names": named, "count": more}
        match self.code:
            case "no_process":
                return _("No process is alive: nothing runs. Start them: %(command)s") % {
                    "command": "manage.py runjobu"
                }
            case "no_worker":
                text = _(
                    "No worker is alive, and executions are due in %(queues)s. Start one: "
                    "%(command)s"
                )
                return text % {"queues": named, "command": start_command()}
            case "no_dispatcher":
                text = _("Cron jobs are due, and no dispatcher is alive. Start one: %(command)s")
                return text % {"command": "manage.py rundispatcher"}
        text = _(
            "Executions are due in %(queues)s, which no living worker serves. Start one: "
            "%(command)s"
        )
        first = self.queues[0] if len(self.queues) == 1 else None
        return text % {"queues": named, "command": start_command(first)}


def find_troubles(living: Sequence[LivingProcess] | None = None) -> list[Trouble]:
    """Look; one statement where all is well."""
    living = living_processes() if living is None else living
    if not living:
        return [Trouble(NO_PROCESS)]
    found = []
    if queues := unserved_queues(living):
        has_worker = any(each.kind == ProcessKind.WORKER for each in living)
        found.append(Trouble(UNSERVED if has_worker else NO_WORKER, tuple(queues)))
    if is_cron_due_without_dispatcher(living):
        found.append(Trouble(NO_DISPATCHER))
    return found


def recent_troubles() -> list[Trouble]:
    """Do the same for pages, at most once in some seconds in this process."""
    alias, now = settings.DATABASE, time.monotonic()
    at, troubles = _seen.get(alias, (float("-inf"), []))
    if now - at >= CACHED_SECONDS:
        troubles = find_troubles()
        _seen[alias] = now, troubles
    return troubles


def forget_troubles() -> None:
    """Look anew at the next question."""
    _seen.clear()


def unserved_queues(living: Sequence[LivingProcess]) -> list[str]:
    """Return the queues in which executions are due and from which no living worker claims."""
    workers = [each for each in living if each.kind == ProcessKind.WORKER and not each.is_stopping]
    if any(not worker.queues for worker in workers):
        return []
    found = look()
    due = {lane.queue for lane in found.due}
    if found.aside_in <= 0:
        aside = JobExecution.objects.pending().filter(aside_until__gt=IN_LANE)
        rows = aside.filter(aside_until__lte=DatabaseNow()).order_by("aside_until")
        due.update(rows.values_list("queue", flat=True)[:_MAX_ASIDE])
    return sorted(due - {queue for worker in workers for queue in worker.queues})


def is_cron_due_without_dispatcher(living: Sequence[LivingProcess]) -> bool:
    if any(each.kind == ProcessKind.DISPATCHER and not each.is_stopping for each in living):
        return False
    return CronJob.objects.due().filter(is_enabled=True).exists()
