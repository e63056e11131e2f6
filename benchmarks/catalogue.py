"""Every subject, by name, in the order of measuring; loaded only in the process that measures it.

A peer's subjects bear its name up to the first dot: `PEERS=django-q2` means both of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.subject import Subject

SUBJECTS: dict[str, str] = {
    "raw.postgres": "benchmarks.raw.postgres.RawPostgreSQL",
    "raw.mysql": "benchmarks.raw.mysql.RawMariaDB",
    "raw.sqlite": "benchmarks.raw.sqlite.RawSQLite",
    "jobu.postgres": "benchmarks.ours.queue.JobuOnPostgreSQL",
    "pgqueuer": "benchmarks.peers.pgqueuer.subject.PgQueuer",
    "chancy": "benchmarks.peers.chancy.subject.Chancy",
    "procrastinate.async": "benchmarks.peers.procrastinate.subject.ProcrastinateAsync",
    "procrastinate.django": "benchmarks.peers.procrastinate.subject.ProcrastinateDjango",
    "celery": "benchmarks.peers.celery.subject.Celery",
    "huey.redis": "benchmarks.peers.huey.subject.HueyRedis",
    "huey.sqlite": "benchmarks.peers.huey.subject.HueySQLite",
    "dramatiq": "benchmarks.peers.dramatiq.subject.Dramatiq",
    "jobu.mysql": "benchmarks.ours.queue.JobuOnMariaDB",
    "django-q2.orm": "benchmarks.peers.django_q2.subject.DjangoQ2ORM",
    "django-q2.redis": "benchmarks.peers.django_q2.subject.DjangoQ2Redis",
    "django-tasks-db.postgres": "benchmarks.peers.django_tasks_db.subject.TasksDBOnPostgreSQL",
    "django-tasks-db.sqlite": "benchmarks.peers.django_tasks_db.subject.TasksDBOnSQLite",
    "jobu.sqlite": "benchmarks.ours.queue.JobuOnSQLite",
    "django-ox": "benchmarks.peers.django_ox.subject.DjangoOx",
    "dj-queue": "benchmarks.peers.dj_queue.subject.DjQueue",
    "extremes.postgres": "benchmarks.ours.extremes.ExtremesOnPostgreSQL",
    "extremes.mysql": "benchmarks.ours.extremes.ExtremesOnMariaDB",
    "extremes.sqlite": "benchmarks.ours.extremes.ExtremesOnSQLite",
}
OURS = frozenset({"raw", "jobu", "extremes"})


def family(name: str) -> str:
    return name.partition(".")[0]


def peers() -> list[str]:
    return list(dict.fromkeys(family(name) for name in SUBJECTS if family(name) not in OURS))


def load(name: str) -> type[Subject]:
    """Import a subject's class; what it measures is imported only when it is measured."""
    module, _, attribute = SUBJECTS[name].rpartition(".")
    loaded: type[Subject] = getattr(import_module(module), attribute)
    return loaded
