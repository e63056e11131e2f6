"""The first tables. Never edited again: what changes is a new migration.

It has its SQL in it and imports nothing of jobu but `jobu.models.fields`, whose names are promised.
"""

import datetime
import uuid
from typing import Any

import django.db.models.deletion
import django.db.models.functions.text
from django.db import migrations, models

import jobu.models.fields

INDEX = """
CREATE INDEX jobu_exec_unsuccessful ON jobu_jobexecution (id)
WHERE status IN ('FAILED', 'TIMEOUT', 'CANCELLED')
"""

ANNOUNCE_EXECUTIONS = """
CREATE OR REPLACE FUNCTION jobu_jobexecution_announce() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    nothing text;
BEGIN
    -- An assignment takes half the time of a PERFORM, which is a statement.
    nothing := pg_notify('jobu', NEW.queue);
    RETURN NULL;
END $$
"""

ANNOUNCE_EXECUTIONS_TRIGGER = """
CREATE TRIGGER jobu_jobexecution_announce AFTER INSERT ON jobu_jobexecution
FOR EACH ROW EXECUTE FUNCTION jobu_jobexecution_announce()
"""

ANNOUNCE_CRONS = """
CREATE OR REPLACE FUNCTION jobu_cronjob_announce() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('jobu_crons', '');
    RETURN NULL;
END $$
"""

ANNOUNCE_CRONS_TRIGGER = """
CREATE TRIGGER jobu_cronjob_announce
AFTER INSERT OR UPDATE OF name, cron_expression, timezone, is_enabled ON jobu_cronjob
FOR EACH STATEMENT EXECUTE FUNCTION jobu_cronjob_announce()
"""

ENQUEUE = """
CREATE OR REPLACE FUNCTION jobu_jobexecution_enqueue(
    handler_name text,
    queue text,
    priority int,
    max_retry int,
    timeout_seconds int,
    params jsonb,
    available_at timestamptz DEFAULT STATEMENT_TIMESTAMP(),
    param_source text DEFAULT 'code'
)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    made bigint;
BEGIN
    INSERT INTO jobu_jobexecution (
        params, param_source, queue, priority, status, retry_count, max_retry, timeout_seconds,
        attempt, error_message, errors, cancel_requested, handler_name, available_at
    )
    VALUES ($6, $8, $2, $3, 'PENDING', 0, $4, $5, 0, '', '[]'::jsonb, FALSE, $1, $7)
    RETURNING id INTO made;
    RETURN made;
END $$
"""


class RunOnPostgreSQL(migrations.RunSQL):
    """Run the statements on PostgreSQL, and nothing elsewhere."""

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        if schema_editor.connection.vendor == "postgresql":
            super().database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        if schema_editor.connection.vendor == "postgresql":
            super().database_backwards(app_label, schema_editor, from_state, to_state)


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Tally",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("revision", models.PositiveBigIntegerField(default=0)),
                ("counted_until", models.DateTimeField()),
                ("totals", jobu.models.fields.ExactJSONField(default=dict)),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "name",
                    jobu.models.fields.ExactCharField(
                        help_text="Who will use it, such as ci or grafana.",
                        max_length=100,
                        unique=True,
                    ),
                ),
                (
                    "secret_hash",
                    jobu.models.fields.ExactCharField(editable=False, max_length=64, unique=True),
                ),
                (
                    "scope",
                    jobu.models.fields.ExactCharField(
                        choices=[("read", "read"), ("write", "read and write")],
                        default="read",
                        max_length=10,
                    ),
                ),
                (
                    "created_by",
                    models.CharField(blank=True, default="", editable=False, max_length=254),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=jobu.models.fields.DatabaseNow(), editable=False
                    ),
                ),
                ("last_used_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, editable=False, null=True)),
            ],
            options={
                "verbose_name": "API token",
                "verbose_name_plural": "API tokens",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("scope__in", ["read", "write"])),
                        name="jobu_token_scope_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="CronJob",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", jobu.models.fields.ExactCharField(max_length=200)),
                ("description", models.TextField(blank=True, default="")),
                (
                    "cron_expression",
                    jobu.models.fields.ExactCharField(
                        help_text="Minute, hour, day of month, month, day of week; such as 30 6 * * mon-fri.",
                        max_length=200,
                    ),
                ),
                (
                    "timezone",
                    jobu.models.fields.ExactCharField(
                        default=jobu.models.fields.project_timezone, max_length=64
                    ),
                ),
                ("handler_name", jobu.models.fields.ExactCharField(max_length=200)),
                (
                    "handler_params",
                    jobu.models.fields.ExactJSONField(blank=True, default=dict),
                ),
                ("is_enabled", models.BooleanField(default=True)),
                (
                    "allow_overlap",
                    models.BooleanField(
                        default=True,
                        help_text="If not, a tick is skipped while an earlier execution is unfinished.",
                    ),
                ),
                (
                    "max_retry",
                    models.PositiveIntegerField(
                        default=3,
                        help_text="How often an execution runs at most; 0 and 1 mean once.",
                    ),
                ),
                ("timeout_seconds", models.PositiveIntegerField(default=3600)),
                ("priority", models.SmallIntegerField(default=0, help_text="Higher goes first.")),
                ("queue", jobu.models.fields.ExactCharField(default="default", max_length=100)),
                (
                    "misfire",
                    jobu.models.fields.ExactCharField(
                        choices=[
                            ("skip", "skip them"),
                            ("latest", "run the latest one"),
                            ("all", "run all of them"),
                        ],
                        default="latest",
                        max_length=10,
                    ),
                ),
                (
                    "misfire_window_seconds",
                    models.PositiveIntegerField(
                        default=86400, help_text="Ticks that were missed longer ago are skipped."
                    ),
                ),
                (
                    "jitter_seconds",
                    models.PositiveIntegerField(
                        default=0,
                        help_text="Each execution starts up to this much later than its tick.",
                    ),
                ),
                (
                    "pause_after_failures",
                    models.PositiveIntegerField(
                        default=0,
                        help_text="Disable after so many dead executions in a row; 0 means never.",
                    ),
                ),
                ("starts_at", models.DateTimeField(blank=True, null=True)),
                ("ends_at", models.DateTimeField(blank=True, null=True)),
                ("next_run_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("last_run_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "declared",
                    jobu.models.fields.ExactCharField(
                        blank=True, default="", editable=False, max_length=300
                    ),
                ),
                ("problem", models.TextField(blank=True, default="", editable=False)),
                (
                    "planned",
                    jobu.models.fields.ExactCharField(
                        blank=True, default="", editable=False, max_length=500
                    ),
                ),
                (
                    "due_at",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Case(
                            models.When(
                                is_enabled=True,
                                planned=django.db.models.functions.text.Concat(
                                    "name",
                                    models.Value("\n"),
                                    "cron_expression",
                                    models.Value("\n"),
                                    "timezone",
                                    output_field=models.CharField(),
                                ),
                                then=models.F("next_run_at"),
                            ),
                            models.When(
                                models.Q(
                                    ("is_enabled", True),
                                    models.Q(("planned", ""), _negated=True),
                                    _connector="OR",
                                ),
                                then=models.Value(
                                    datetime.datetime(1970, 1, 1, 0, 0, tzinfo=datetime.UTC)
                                ),
                            ),
                            output_field=models.DateTimeField(),
                        ),
                        output_field=models.DateTimeField(null=True),
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "verbose_name": "cron job",
                "verbose_name_plural": "cron jobs",
                "ordering": ["name"],
                "permissions": [("run_cronjob", "Can run cron job now")],
                "indexes": [models.Index(fields=["due_at"], name="jobu_cron_due")],
                "constraints": [
                    models.UniqueConstraint(fields=("name",), name="jobu_cron_unique_name"),
                    models.CheckConstraint(
                        condition=models.Q(("misfire__in", ["skip", "latest", "all"])),
                        name="jobu_cron_misfire_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("max_retry__gte", 0)),
                        name="jobu_cron_max_retry_not_negative",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("timeout_seconds__gt", 0)),
                        name="jobu_cron_timeout_positive",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="JobExecution",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("handler_name", jobu.models.fields.ExactCharField(max_length=200)),
                ("params", jobu.models.fields.ExactJSONField(default=dict)),
                (
                    "param_source",
                    jobu.models.fields.ExactCharField(
                        choices=[
                            ("cron", "cron"),
                            ("event", "event"),
                            ("api", "API"),
                            ("code", "code"),
                            ("manual", "manual"),
                        ],
                        default="code",
                        max_length=10,
                    ),
                ),
                ("queue", jobu.models.fields.ExactCharField(default="default", max_length=100)),
                ("priority", models.SmallIntegerField(default=0)),
                ("scheduled_time", models.DateTimeField(blank=True, null=True)),
                ("available_at", models.DateTimeField(db_default=jobu.models.fields.DatabaseNow())),
                (
                    "aside_until",
                    models.DateTimeField(
                        db_default=datetime.datetime(1970, 1, 1, 0, 0, tzinfo=datetime.UTC)
                    ),
                ),
                (
                    "status",
                    jobu.models.fields.ExactCharField(
                        choices=[
                            ("PENDING", "pending"),
                            ("RUNNING", "running"),
                            ("SUCCESS", "success"),
                            ("FAILED", "failed"),
                            ("TIMEOUT", "timeout"),
                            ("CANCELLED", "cancelled"),
                        ],
                        default="PENDING",
                        max_length=16,
                    ),
                ),
                ("retry_count", models.PositiveIntegerField(default=0)),
                ("max_retry", models.PositiveIntegerField(default=3)),
                ("timeout_seconds", models.PositiveIntegerField(default=3600)),
                ("attempt", models.PositiveIntegerField(default=0)),
                ("claimed_by", models.UUIDField(blank=True, null=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("result", jobu.models.fields.ExactJSONField(blank=True, null=True)),
                ("error_message", models.TextField(blank=True, default="")),
                ("errors", jobu.models.fields.ExactJSONField(blank=True, default=list)),
                (
                    "dedupe_key",
                    jobu.models.fields.ExactCharField(blank=True, max_length=255, null=True),
                ),
                ("cancel_requested", models.BooleanField(default=False)),
                ("progress", jobu.models.fields.ExactJSONField(blank=True, null=True)),
                (
                    "extra",
                    jobu.models.fields.ExactJSONField(
                        blank=True,
                        help_text="What a message said that jobu has no use for.",
                        null=True,
                    ),
                ),
                ("created_at", models.DateTimeField(db_default=jobu.models.fields.DatabaseNow())),
                (
                    "job",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="executions",
                        to="jobu.cronjob",
                    ),
                ),
            ],
            options={
                "verbose_name": "job execution",
                "verbose_name_plural": "job executions",
                "indexes": [
                    jobu.models.fields.StatusIndex(
                        fields=["aside_until", "queue", "priority", "available_at", "id"],
                        name="jobu_exec_pending",
                        status="PENDING",
                    ),
                    jobu.models.fields.StatusIndex(
                        fields=["claimed_by"], name="jobu_exec_running", status="RUNNING"
                    ),
                    jobu.models.fields.SparseIndex(
                        fields=["finished_at"], name="jobu_exec_finished_at"
                    ),
                    jobu.models.fields.StatusIndex(
                        fields=["job"], name="jobu_exec_pending_job", sparse=True, status="PENDING"
                    ),
                    jobu.models.fields.SparseIndex(fields=["job", "id"], name="jobu_exec_job"),
                ],
                "constraints": [
                    jobu.models.fields.SparseUniqueConstraint(
                        fields=("job", "scheduled_time"), name="jobu_exec_unique_tick"
                    ),
                    jobu.models.fields.SparseUniqueConstraint(
                        fields=("dedupe_key",), name="jobu_exec_unique_dedupe_key"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("status", "PENDING"),
                            models.Q(("claimed_by__isnull", False), ("status", "RUNNING")),
                            models.Q(
                                ("finished_at__isnull", False),
                                ("status__in", ("SUCCESS", "FAILED", "TIMEOUT", "CANCELLED")),
                            ),
                            _connector="OR",
                        ),
                        name="jobu_exec_status_consistent",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("param_source__in", ["cron", "event", "api", "code", "manual"])
                        ),
                        name="jobu_exec_param_source_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("timeout_seconds__gt", 0)),
                        name="jobu_exec_timeout_positive",
                    ),
                ],
                "permissions": [
                    ("retry_jobexecution", "Can retry job execution"),
                    ("cancel_jobexecution", "Can cancel job execution"),
                    ("publish_message", "Can publish message"),
                    ("view_sensitive_params", "Can view sensitive params"),
                ],
            },
        ),
        migrations.CreateModel(
            name="DeadLetter",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("adapter", jobu.models.fields.ExactCharField(max_length=100)),
                ("source_id", jobu.models.fields.ExactCharField(max_length=255)),
                ("body", jobu.models.fields.BytesField()),
                ("key", jobu.models.fields.BytesField(blank=True, null=True)),
                (
                    "headers",
                    jobu.models.fields.ExactJSONField(
                        blank=True,
                        default=list,
                        help_text="Pairs of a name and a text, as they came.",
                    ),
                ),
                ("reason", models.TextField()),
                ("received_at", models.DateTimeField(db_default=jobu.models.fields.DatabaseNow())),
                ("requeued_at", models.DateTimeField(blank=True, null=True)),
                ("discarded_at", models.DateTimeField(blank=True, null=True)),
                (
                    "execution",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="dead_letters",
                        to="jobu.jobexecution",
                    ),
                ),
            ],
            options={
                "verbose_name": "dead letter",
                "verbose_name_plural": "dead letters",
                "indexes": [
                    models.Index(fields=["received_at"], name="jobu_dead_received_at"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("adapter", "source_id"), name="jobu_dead_unique_source"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LogLine",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("attempt", models.PositiveIntegerField()),
                (
                    "logged_at",
                    models.DateTimeField(
                        help_text="By the clock of the machine that ran it; no two lines of a run share one."
                    ),
                ),
                ("level", models.PositiveSmallIntegerField()),
                ("logger", jobu.models.fields.ExactCharField(max_length=200)),
                ("message", models.TextField()),
                (
                    "execution",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="log_lines",
                        to="jobu.jobexecution",
                    ),
                ),
            ],
            options={
                "verbose_name": "log line",
                "verbose_name_plural": "log lines",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("execution", "attempt", "logged_at"), name="jobu_log_unique_line"
                    ),
                ],
                "ordering": ["execution_id", "attempt", "logged_at"],
            },
        ),
        migrations.CreateModel(
            name="Process",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "kind",
                    jobu.models.fields.ExactCharField(
                        choices=[
                            ("worker", "worker"),
                            ("dispatcher", "dispatcher"),
                            ("queue-dispatcher", "queue dispatcher"),
                        ],
                        max_length=20,
                    ),
                ),
                ("host", models.CharField(max_length=255)),
                ("pid", models.PositiveIntegerField()),
                (
                    "queues",
                    jobu.models.fields.ExactJSONField(
                        blank=True, default=list, help_text="Empty means every queue."
                    ),
                ),
                ("slots", models.PositiveIntegerField(default=0)),
                ("started_at", models.DateTimeField(db_default=jobu.models.fields.DatabaseNow())),
                (
                    "heartbeat_at",
                    models.DateTimeField(
                        db_default=jobu.models.fields.DatabaseNow(), db_index=True
                    ),
                ),
                ("stopping", models.BooleanField(default=False)),
            ],
            options={
                "verbose_name": "process",
                "verbose_name_plural": "processes",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("kind__in", ["worker", "dispatcher", "queue-dispatcher"])
                        ),
                        name="jobu_process_kind_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Summary",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("seconds", models.PositiveIntegerField()),
                ("begins_at", models.DateTimeField()),
                ("content", jobu.models.fields.ExactJSONField(default=dict)),
            ],
            options={
                "verbose_name": "summary",
                "verbose_name_plural": "summaries",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("seconds", "begins_at"), name="jobu_summary_unique_time"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Dashboard",
            fields=[],
            options={
                "verbose_name": "dashboard",
                "verbose_name_plural": "dashboard",
                "proxy": True,
                "default_permissions": ("view",),
                "indexes": [],
                "constraints": [],
            },
            bases=("jobu.summary",),
        ),
        # Other databases need nothing beside the above.
        RunOnPostgreSQL(INDEX, "DROP INDEX IF EXISTS jobu_exec_unsuccessful"),
        RunOnPostgreSQL(
            [ANNOUNCE_EXECUTIONS, ANNOUNCE_EXECUTIONS_TRIGGER],
            [
                "DROP TRIGGER IF EXISTS jobu_jobexecution_announce ON jobu_jobexecution",
                "DROP FUNCTION IF EXISTS jobu_jobexecution_announce",
            ],
        ),
        RunOnPostgreSQL(
            [ANNOUNCE_CRONS, ANNOUNCE_CRONS_TRIGGER],
            [
                "DROP TRIGGER IF EXISTS jobu_cronjob_announce ON jobu_cronjob",
                "DROP FUNCTION IF EXISTS jobu_cronjob_announce",
            ],
        ),
        RunOnPostgreSQL(ENQUEUE, "DROP FUNCTION IF EXISTS jobu_jobexecution_enqueue"),
    ]
