"""An additive migration, as docs/upgrading.md allows them."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models

import jobu.migrations
import jobu.models.fields

NEWEST = max(file.stem for file in Path(jobu.migrations.__path__[0]).glob("[0-9]*.py"))
TABLES = ("cronjob", "deadletter", "jobexecution", "logline", "process")


class Migration(migrations.Migration):
    dependencies = [("jobu", NEWEST)]

    operations = [
        *(
            migrations.AddField(
                table, "later_nullable", jobu.models.fields.ExactJSONField(null=True)
            )
            for table in TABLES
        ),
        *(
            migrations.AddField(
                table,
                "later_defaulted",
                jobu.models.fields.ExactCharField(max_length=50, db_default="by the database"),
            )
            for table in TABLES
        ),
        migrations.AddField(
            "jobexecution",
            "later_at",
            models.DateTimeField(db_default=jobu.models.fields.DatabaseNow()),
        ),
        migrations.CreateModel(
            "Later",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("note", jobu.models.fields.ExactCharField(max_length=50, db_default="")),
                (
                    "execution",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        to="jobu.jobexecution",
                    ),
                ),
            ],
        ),
    ]
