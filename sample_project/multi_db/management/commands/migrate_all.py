"""manage.py migrate_all"""

from typing import Any

from django.core.management.base import BaseCommand
from django.core.management.commands.migrate import Command as Migrate
from django.db import connections


class Command(BaseCommand):
    help = "Migrate every database that is configured."
    requires_system_checks: list[str] = []  # noqa: RUF012 - each migrate makes its own checks

    def handle(self, *_args: Any, **options: Any) -> None:
        for alias in connections:
            self.stdout.write(f"Migrating {alias} ({connections[alias].display_name}).")
            Migrate(stdout=self.stdout, stderr=self.stderr).run_from_argv(
                ["manage.py", "migrate", "--database", alias, "--verbosity", "0"]
            )
