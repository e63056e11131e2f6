"""Drive django-q2: two workers, its results stored in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from benchmarks.django_subject import DjangoSubject
from benchmarks.workers import Way

if TYPE_CHECKING:
    from collections.abc import Sequence

_TASKS = "benchmarks.peers.django_q2.tasks"


class DjangoQ2(DjangoSubject):
    package = "django-q2"
    settings_module = "benchmarks.peers.django_q2.settings"
    expected_rate = 350

    def ways(self) -> Sequence[Way]:
        return [Way("2 workers", [self.manage("qcluster")])]

    def clear(self) -> None:
        from django_q.brokers import get_broker
        from django_q.models import OrmQ, Task

        get_broker().purge_queue()
        OrmQ.objects.all().delete()
        Task.objects.all().delete()

    def fill(self, jobs: int, way: Way) -> None:
        for _ in range(jobs):
            self.enqueue()

    def enqueue(self) -> object:
        return _enqueue("noop")

    def enqueue_stamp(self) -> object:
        return _enqueue("stamp")

    def settled(self) -> int:
        from django_q.models import Success

        return int(Success.objects.count())


class DjangoQ2ORM(DjangoQ2):
    title = "django-q2, ORM"
    chosen = (
        "two workers (one for each core), batches of 100, no limit to what is saved, no recycling; "
        "results stored, which is slower than running: the drain lasts until they are"
    )
    stores: ClassVar[tuple[str, ...]] = ("postgres",)


class DjangoQ2Redis(DjangoQ2):
    title = "django-q2, Redis"
    chosen = "the same with Redis as the broker; results in PostgreSQL"
    stores: ClassVar[tuple[str, ...]] = ("postgres", "redis")
    expected_rate = 600


def _enqueue(name: str) -> object:
    from django_q.tasks import async_task

    return async_task(f"{_TASKS}.{name}")
