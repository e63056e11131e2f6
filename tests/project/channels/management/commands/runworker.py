"""manage.py runworker of another app"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand


class Command(BaseCommand):
    def handle(self, *_args: Any, **_options: Any) -> None:
        self.stdout.write("a worker of channels")
