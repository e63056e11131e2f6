"""The database router for a project that keeps jobu's tables outside `default`.

DATABASE_ROUTERS = ["jobu.router.JobuRouter"]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jobu.conf import settings

if TYPE_CHECKING:
    from django.db.models import Model

APP_LABEL = "jobu"


class JobuRouter:
    """Send jobu's models to `JOBU_DATABASE`; have no opinion on any other."""

    def db_for_read(self, model: type[Model], **_hints: Any) -> str | None:
        return settings.DATABASE if model._meta.app_label == APP_LABEL else None

    db_for_write = db_for_read

    def allow_migrate(self, db: str, app_label: str, **_hints: Any) -> bool | None:
        return db == settings.DATABASE if app_label == APP_LABEL else None
