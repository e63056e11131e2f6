"""Changes that the database itself refuses, past every validator."""

from __future__ import annotations

from typing import Any

from django.db import DataError, IntegrityError, transaction
from django.db.models import Model


def refused(row: Model, **change: Any) -> bool:
    """Tell whether the database refuses the change."""
    try:
        with transaction.atomic():
            type(row)._default_manager.filter(pk=row.pk).update(**change)
    except (IntegrityError, DataError):
        return True
    return False
