"""The Django app."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.apps import apps as installed_apps
from django.db import connections
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _

from jobu.conf import settings
from jobu.dialects import default_literals, dialect_of
from jobu.printable import printable


class JobuConfig(AppConfig):
    name = "jobu"
    verbose_name = _("Jobs")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from jobu import checks  # noqa: F401 - registers the system checks
        from jobu.handlers.discovery import discover

        _open_door()
        _register_own_handlers()
        discover()
        post_migrate.connect(_complete, sender=self)


def _open_door() -> None:
    """Let handlers and cron jobs enqueue."""
    from jobu.door import door
    from jobu.queue import enqueue as queue
    from jobu.queue import enqueue_rows as rows

    door.enqueue, door.enqueue_many = queue.enqueue, queue.enqueue_many
    door.aenqueue, door.aenqueue_many = queue.aenqueue, queue.aenqueue_many
    door.enqueue_row, door.enqueue_ticks = rows.enqueue_row, rows.enqueue_ticks


def _register_own_handlers() -> None:
    from jobu.alerts import sending

    if settings.ALERTS:
        sending.register()


def _complete(
    using: str, apps: Any = installed_apps, verbosity: int = 1, stdout: Any = None, **_kwargs: Any
) -> None:
    """After `migrate`: add what is missing in the database, and the crons declared in code."""
    from jobu.dispatchers.sync import UNCHANGED, sync

    # `migrate jobu zero` has left no table to sync with. (`flush` does not say which apps.)
    has_table = "cronjob" in apps.all_models[JobuConfig.name]
    if using == settings.DATABASE and has_table:
        _install_what_is_missing(using)
        _switch_notifications(using)
        for line in sync():
            if stdout is not None and verbosity > 0 and not line.endswith(UNCHANGED):
                stdout.write(f"  Cron job {printable(line)}")


def _switch_notifications(alias: str) -> None:
    """Do as `JOBU_NOTIFY` says."""
    from jobu.models import CronJob, JobExecution

    connection = connections[alias]
    tables = [JobExecution._meta.db_table, CronJob._meta.db_table]
    dialect_of(connection).switch_notifications(connection, tables, on=settings.NOTIFY)


def _install_what_is_missing(alias: str) -> None:
    """Complete tables that were made without migrations: `pytest --nomigrations`."""
    from jobu.models import CronJob, JobExecution

    connection = connections[alias]
    dialect = dialect_of(connection)
    table, cron_table = JobExecution._meta.db_table, CronJob._meta.db_table
    if not dialect.is_installed(connection, table):
        with connection.schema_editor() as editor:
            defaults = default_literals(JobExecution, dialect)
            for statement in dialect.install_sql(table, cron_table, defaults):
                editor.execute(statement)
