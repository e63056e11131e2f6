"""Which tables are made in which database."""

from typing import Any

from config.databases import VARIABLES

HANDLER_APPS = {"basic", "multi_db"}


class HandlerTablesRouter:
    """Makes the handlers' tables in every database, and all others in `default` only."""

    def allow_migrate(self, db: str, app_label: str, **_hints: Any) -> bool | None:
        return app_label in HANDLER_APPS if db in VARIABLES else None
