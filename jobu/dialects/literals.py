"""The defaults of a model's fields as SQL: they are written in the model alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from django.db.models import JSONField

if TYPE_CHECKING:
    from django.db.models import Model

    from jobu.dialects.base import Dialect


def default_literals(model: type[Model], dialect: Dialect) -> dict[str, str]:
    """Return column → SQL of each field whose default is made in Python."""
    return {
        str(field.column): dialect.json_sql(literal(json.dumps(field.get_default())))
        if isinstance(field, JSONField)
        else literal(field.get_default())
        for field in model._meta.concrete_fields
        if field.has_default()
    }


def literal(value: str | int) -> str:
    """Return one of our own values as SQL, for a statement that has parameters as well."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    text = str(value).replace("'", "''").replace("%", "%%")
    return f"'{text}'"
