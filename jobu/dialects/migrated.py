"""Tell a database without jobu's tables from one that fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connections

from jobu.conf import settings
from jobu.dialects.lookup import dialect_for
from jobu.exceptions import NotMigratedError

if TYPE_CHECKING:
    from django.db import Error


def not_migrated(error: Error) -> NotMigratedError | None:
    """Return what to raise instead if the error comes of a migration that was not run."""
    if isinstance(error, NotMigratedError):
        return error
    alias = settings.DATABASE
    if alias not in connections or not dialect_for(alias).is_unmigrated(error):
        return None
    return NotMigratedError(
        f"The tables of jobu in the database '{alias}' are missing, or older than this version of "
        f"jobu. Run: manage.py migrate --database {alias}"
    )
