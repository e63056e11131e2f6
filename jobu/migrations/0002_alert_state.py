"""A table for what alerts have told; the other tables stay as they are."""

from django.db import migrations, models

import jobu.models.fields


class Migration(migrations.Migration):

    dependencies = [
        ('jobu', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='AlertState',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', jobu.models.fields.ExactCharField(max_length=20)),
                ('revision', models.PositiveBigIntegerField(db_default=0)),
                ('looked_at', models.DateTimeField(db_default=jobu.models.fields.DatabaseNow())),
                ('looked_until', models.DateTimeField(db_default=jobu.models.fields.DatabaseNow())),
                ('told_at', models.DateTimeField(null=True)),
                ('told', jobu.models.fields.ExactJSONField(null=True)),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('kind',), name='jobu_alert_unique_kind')],
            },
        ),
    ]
