"""A peer that is a backend of django.tasks, which came with Django 6.0."""

from __future__ import annotations

from benchmarks.django_subject import DjangoSubject


class TasksPeer(DjangoSubject):
    def enqueue(self) -> object:
        from benchmarks.peers.tasks import noop

        return noop.enqueue()

    def enqueue_stamp(self) -> object:
        from benchmarks.peers.tasks import stamp

        return stamp.enqueue()
