"""Drive dj-queue: one worker process of four threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from benchmarks.peers.tasks_peer import TasksPeer
from benchmarks.workers import Way

if TYPE_CHECKING:
    from collections.abc import Sequence


class DjQueue(TasksPeer):
    title = "dj-queue, PostgreSQL"
    package = "dj-queue"
    chosen = (
        "one worker process of 4 threads that claims 100 at a time (`prefetch_multiplier` 25), "
        "`--only-work`; LISTEN/NOTIFY and SKIP LOCKED as by default; connections kept"
    )
    stores: ClassVar[tuple[str, ...]] = ("postgres",)
    settings_module = "benchmarks.peers.dj_queue.settings"
    expected_rate = 350
    has_bulk = True

    def ways(self) -> Sequence[Way]:
        return [Way("4 threads", [self.manage("dj_queue", "--only-work", "--verbosity", "0")])]

    def clear(self) -> None:
        from dj_queue.models import Job

        Job.objects.all().delete()

    def fill(self, jobs: int, way: Way) -> None:
        from benchmarks.peers.tasks import noop

        noop.get_backend().enqueue_all([(noop, [], {})] * jobs)

    def settled(self) -> int:
        from dj_queue.models import Job

        return int(Job.objects.filter(finished_at__isnull=False).count())
