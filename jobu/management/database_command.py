"""What jobu's commands that look into the database share."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error

from jobu.dialects import not_migrated


class DatabaseCommand(BaseCommand):
    """Says so if jobu's tables are missing."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except Error as error:
            if missing := not_migrated(error):
                raise CommandError(str(missing)) from error
            raise
