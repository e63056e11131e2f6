"""An index on a table that is large and in use, by itself and outside of a transaction."""

from typing import Any

from django.db import migrations

import jobu.models.fields


class AddIndexWhileInUse(migrations.AddIndex):
    """On PostgreSQL, build the index without locking out those who write to the table."""

    atomic = False

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        if schema_editor.connection.vendor != "postgresql":
            super().database_forwards(app_label, schema_editor, from_state, to_state)
            return
        model = to_state.apps.get_model(app_label, self.model_name)
        if self.allow_migrate_model(schema_editor.connection.alias, model):
            # An attempt that was interrupted has left an index that is not valid.
            schema_editor.execute(
                f"DROP INDEX CONCURRENTLY IF EXISTS {self.index.name}", params=None
            )
            schema_editor.add_index(model, self.index, concurrently=True)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("jobu", "9998_later")]

    operations = [
        AddIndexWhileInUse(
            "jobexecution",
            jobu.models.fields.StatusIndex(
                fields=["later_defaulted", "id"], name="jobu_exec_later", status="PENDING"
            ),
        ),
    ]
