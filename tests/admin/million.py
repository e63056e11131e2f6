"""A long history on PostgreSQL, made by the database itself: many crons, few failures."""

from __future__ import annotations

import uuid

from django.db import connection

from jobu.models import CronJob, JobExecution, LogLine, Process

CRONS = 200
WORKER = uuid.UUID(int=7)

_EXECUTIONS = """
INSERT INTO {table} (
    job_id, handler_name, params, param_source, queue, priority, scheduled_time, available_at,
    status, retry_count, max_retry, timeout_seconds, attempt, claimed_by, started_at, finished_at,
    result, error_message, errors, cancel_requested, progress, created_at, extra
)
SELECT
    CASE WHEN n %% 5 < 2 THEN 1 + n %% {crons} END,
    CASE WHEN n %% 99991 = 0 THEN 'rare' ELSE 'handler' || n %% 20 END,
    '{{"order": 1}}', CASE WHEN n %% 5 < 2 THEN 'cron' ELSE 'code' END,
    'queue' || n %% 4, 0,
    CASE WHEN n %% 5 < 2 THEN now() - (({rows} - n) * interval '2 seconds') END,
    now() - (({rows} - n) * interval '2 seconds'),
    status, CASE WHEN status IN ('FAILED', 'TIMEOUT') THEN 3 ELSE 0 END, 3, 60,
    CASE WHEN status = 'PENDING' THEN 0 ELSE 1 END,
    CASE WHEN status <> 'PENDING' THEN '{worker}'::uuid END,
    CASE WHEN status <> 'PENDING' THEN now() - (({rows} - n) * interval '2 seconds') END,
    CASE WHEN status NOT IN ('PENDING', 'RUNNING')
        THEN now() - (({rows} - n) * interval '2 seconds') + interval '1 second' END,
    '{{"done": true}}', CASE WHEN status = 'FAILED' THEN 'ValueError: no luck' ELSE '' END,
    CASE WHEN status = 'FAILED'
        THEN jsonb_build_array(jsonb_build_object('attempt', 1, 'traceback', repeat('x', 3000)))
        ELSE '[]' END,
    false, NULL, now() - (({rows} - n) * interval '2 seconds'), '{{}}'
FROM (
    SELECT n, CASE
        WHEN n > {rows} - 20 THEN 'RUNNING'
        WHEN n %% 100 = 1 THEN 'PENDING'
        WHEN n %% 1000 < 15 THEN 'FAILED'
        WHEN n %% 1000 = 555 THEN 'TIMEOUT'
        WHEN n %% 1000 = 777 THEN 'CANCELLED'
        ELSE 'SUCCESS' END AS status
    FROM generate_series(1, {rows}) AS n
) AS numbered
"""


def fill(rows: int) -> None:
    """Fill the empty tables, and let the planner know."""
    CronJob.objects.bulk_create(
        CronJob(pk=n + 1, name=f"cron {n}", cron_expression="0 * * * *", handler_name="echo")
        for n in range(CRONS)
    )
    Process.objects.create(id=WORKER, kind="worker", host="here", pid=1, slots=20)
    table = JobExecution._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(_EXECUTIONS.format(table=table, rows=rows, crons=CRONS, worker=WORKER), [])
    LogLine.objects.bulk_create(
        LogLine(
            execution_id=pk,
            attempt=1,
            logged_at=created_at,
            level=20,
            logger="shop",
            message="a line",
        )
        for pk, created_at in JobExecution.objects.order_by("-id").values_list("id", "created_at")[
            :1000
        ]
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
