"""The Django app."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.apps import apps as installed_apps
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _

from jobu.conf import settings


class JobuConfig(AppConfig):
    name = "jobu"
    verbose_name = _("jobs")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from jobu import checks  # noqa: F401 - registers the system checks
        from jobu.handlers.discovery import discover

        discover()
        post_migrate.connect(_sync_declared_crons, sender=self)


def _sync_declared_crons(using: str, apps: Any = installed_apps, **_kwargs: Any) -> None:
    from jobu.dispatchers.sync import sync

    # `migrate jobu zero` has left no table to sync with. (`flush` does not say which apps.)
    has_table = "cronjob" in apps.all_models[JobuConfig.name]
    if using == settings.DATABASE and has_table:
        sync()
