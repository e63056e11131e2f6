"""A queue that lives in Django: set up once for each process, its tables made by migrations."""

from __future__ import annotations

import os
import sys
from typing import ClassVar

from benchmarks.subject import QueueSubject


class DjangoSubject(QueueSubject):
    settings_module: ClassVar[str]

    def prepare(self) -> None:
        os.environ["DJANGO_SETTINGS_MODULE"] = self.settings_module
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)

    def analyse(self) -> None:
        from django.db import connection

        if connection.vendor in {"postgresql", "sqlite"}:
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE")

    @staticmethod
    def manage(*arguments: str) -> list[str]:
        """Return the command line of a management command."""
        return [sys.executable, "-m", "django", *arguments]
