"""Drive django-ox: one process, several threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from benchmarks.peers.tasks_peer import TasksPeer
from benchmarks.workers import Way

if TYPE_CHECKING:
    from collections.abc import Sequence


class DjangoOx(TasksPeer):
    title = "django-ox, PostgreSQL"
    package = "django-ox"
    chosen = (
        "`--concurrency 4` threads in one process, and one; connections kept (CONN_MAX_AGE), with "
        "which its own benchmarks are best; the default interval of one second"
    )
    stores: ClassVar[tuple[str, ...]] = ("postgres",)
    settings_module = "benchmarks.peers.django_ox.settings"
    expected_rate = 350
    has_bulk = True

    def ways(self) -> Sequence[Way]:
        command = self.manage("ox_worker", "--verbosity", "0", "--concurrency")
        return [Way("4 threads", [[*command, "4"]]), Way("1 thread", [[*command, "1"]])]

    def clear(self) -> None:
        from django_ox.models import OxTask

        OxTask.objects.all().delete()

    def fill(self, jobs: int, way: Way) -> None:
        from django_ox.bulk import enqueue_many

        from benchmarks.peers.tasks import noop

        enqueue_many(noop, [((), {})] * jobs)

    def settled(self) -> int:
        from django_ox.models import OxTask

        return int(OxTask.objects.filter(status="SUCCESSFUL").count())
