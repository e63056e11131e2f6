"""Fields and indexes that mean the same on every database.

Migrations import them from here, and a migration is never edited. So the names in `__all__`, what
they take and the columns that they make stay as they are; tests/migrations compares them with the
schema of each release.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings as django_settings
from django.db import models
from django.db.models import Q
from django.db.models.fields.json import JSONExact

from jobu.dialects import DatabaseNow, dialect_of
from jobu.jsonable import ExactEncoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.core.checks import CheckMessage
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.backends.base.schema import BaseDatabaseSchemaEditor

if TYPE_CHECKING:
    _CharField = models.CharField[Any, Any]
    _BinaryField = models.BinaryField[Any, Any]
    _JSONField = models.JSONField[Any, Any]
else:
    _CharField = models.CharField
    _BinaryField = models.BinaryField
    _JSONField = models.JSONField

__all__ = [
    "BytesField",
    "DatabaseNow",
    "ExactCharField",
    "ExactJSONField",
    "SparseIndex",
    "SparseUniqueConstraint",
    "StatusIndex",
    "project_timezone",
]


def project_timezone() -> str:
    """Return the default of a cron job's `timezone`."""
    return str(django_settings.TIME_ZONE)


class ExactCharField(_CharField):
    """Text that is compared byte by byte, also where the database's default is lax."""

    def deconstruct(self) -> Any:
        return _without(super().deconstruct(), "validators")

    def db_parameters(self, connection: BaseDatabaseWrapper) -> Any:
        parameters = super().db_parameters(connection)
        collation = dialect_of(connection).exact_collation(connection)
        return {**parameters, "collation": collation} if collation else parameters


class ExactJSONField(_JSONField):
    """JSON whose numbers come back as they went in, also where the database's own type differs."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "encoder": ExactEncoder})

    def deconstruct(self) -> Any:
        return _without(super().deconstruct(), "encoder", "validators")

    def db_parameters(self, connection: BaseDatabaseWrapper) -> Any:
        column = connection.ops.quote_name(str(self.column))
        text = dialect_of(connection).json_text_column(connection, column)
        return {**super().db_parameters(connection), **text}


@ExactJSONField.register_lookup
class _ExactJSON(JSONExact):
    def process_lhs(self, compiler: Any, connection: BaseDatabaseWrapper, lhs: Any = None) -> Any:
        sql, params = super().process_lhs(compiler, connection, lhs)
        return dialect_of(connection).json_value_sql(connection, sql), params


class BytesField(_BinaryField):
    """Bytes that are `bytes` when they are read, too: one driver returns a memoryview."""

    def from_db_value(self, value: Any, *_context: Any) -> bytes | None:
        return None if value is None else bytes(value)


class StoredGeneratedField(models.GeneratedField):
    """A stored generated column; every database that jobu runs on has these.

    Django's check would ask each database of the project whether it has them, and fail if one
    cannot be reached.
    """

    def check(self, **kwargs: Any) -> list[CheckMessage]:
        return super().check(**{**kwargs, "databases": ()})

    def deconstruct(self) -> Any:
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.GeneratedField", args, kwargs


class StatusIndex(models.Index):
    """An index over the rows of one status.

    Partial where the database has partial indexes; elsewhere led by the status, which serves the
    same queries at the price of size.
    """

    def __init__(self, *, fields: list[str], name: str, status: str, sparse: bool = False) -> None:
        super().__init__(fields=fields, name=name)
        self.status = status
        self.sparse = sparse

    def create_sql(
        self,
        model: type[models.Model],
        schema_editor: BaseDatabaseSchemaEditor,
        using: str = "",
        **kwargs: Any,
    ) -> Any:
        if schema_editor.connection.features.supports_partial_indexes:
            condition = Q(status=self.status)
            if self.sparse:
                condition &= _is_given(self.fields)
            index = models.Index(fields=self.fields, name=self.name, condition=condition)
        else:
            index = models.Index(fields=["status", *self.fields], name=self.name)
        return index.create_sql(model, schema_editor, using, **kwargs)

    def deconstruct(self) -> Any:
        path, args, kwargs = super().deconstruct()
        extra = {"sparse": True} if self.sparse else {}
        return path, args, {**kwargs, "status": self.status, **extra}


class SparseIndex(models.Index):
    """An index without the rows that have NULL in its first field.

    PostgreSQL writes each row anew at every change of it, into every index that the row is in, so
    an index that most rows have no use for should leave them out. Where the database has no
    partial indexes, an ordinary one.
    """

    def create_sql(
        self,
        model: type[models.Model],
        schema_editor: BaseDatabaseSchemaEditor,
        using: str = "",
        **kwargs: Any,
    ) -> Any:
        has_partial = schema_editor.connection.features.supports_partial_indexes
        condition = _is_given(self.fields) if has_partial else None
        index = models.Index(fields=self.fields, name=self.name, condition=condition)
        return index.create_sql(model, schema_editor, using, **kwargs)


class SparseUniqueConstraint(models.UniqueConstraint):
    """A unique constraint whose index is like a `SparseIndex`: NULLs never collide anyway."""

    def constraint_sql(
        self, model: type[models.Model] | None, schema_editor: BaseDatabaseSchemaEditor | None
    ) -> Any:
        return self._fit_for(schema_editor).constraint_sql(model, schema_editor)

    def create_sql(
        self, model: type[models.Model] | None, schema_editor: BaseDatabaseSchemaEditor | None
    ) -> Any:
        return self._fit_for(schema_editor).create_sql(model, schema_editor)

    def remove_sql(
        self, model: type[models.Model] | None, schema_editor: BaseDatabaseSchemaEditor | None
    ) -> Any:
        return self._fit_for(schema_editor).remove_sql(model, schema_editor)

    def _fit_for(self, schema_editor: BaseDatabaseSchemaEditor | None) -> models.UniqueConstraint:
        has_partial = (
            schema_editor is not None and schema_editor.connection.features.supports_partial_indexes
        )
        condition = _is_given(self.fields) if has_partial else None
        return models.UniqueConstraint(fields=self.fields, name=self.name, condition=condition)


def _is_given(fields: Sequence[str]) -> Q:
    return Q((f"{fields[0]}__isnull", False))


def _without(deconstructed: Any, *options: str) -> Any:
    """Leave out options that do not change the column: a migration would import what they name."""
    name, path, args, kwargs = deconstructed
    return name, path, args, {key: kwargs[key] for key in kwargs if key not in options}
