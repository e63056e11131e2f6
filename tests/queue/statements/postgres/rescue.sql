SELECT 1 AS "a"
FROM "jobu_jobexecution"
WHERE ("jobu_jobexecution"."status" = 'RUNNING'
        AND NOT EXISTS(SELECT 1 AS "a"
        FROM "jobu_process" U0
        WHERE (U0."heartbeat_at" > (STATEMENT_TIMESTAMP() + (-2.0) * INTERVAL '1 second')
                AND U0."id" = ("jobu_jobexecution"."claimed_by"))
        LIMIT 1) AND EXISTS(SELECT 1 AS "a"
        FROM "jobu_process" U0
        WHERE (U0."heartbeat_at" > (STATEMENT_TIMESTAMP() + (-1.0) * INTERVAL '1 second')
                AND U0."id" = :process_id)
        LIMIT 1))
LIMIT 1;

SELECT "jobu_jobexecution"."id" AS "id", "jobu_jobexecution"."attempt" AS "attempt", "jobu_jobexecution"."claimed_by" AS "claimed_by", "jobu_jobexecution"."handler_name" AS "handler_name", "jobu_jobexecution"."params" AS "params", "jobu_jobexecution"."queue" AS "queue", "jobu_jobexecution"."retry_count" AS "retry_count", "jobu_jobexecution"."max_retry" AS "max_retry", "jobu_jobexecution"."timeout_seconds" AS "timeout_seconds"
FROM "jobu_jobexecution"
WHERE ("jobu_jobexecution"."status" = 'RUNNING'
        AND NOT EXISTS(SELECT 1 AS "a"
        FROM "jobu_process" U0
        WHERE (U0."heartbeat_at" > (STATEMENT_TIMESTAMP() + (-2.0) * INTERVAL '1 second')
                AND U0."id" = ("jobu_jobexecution"."claimed_by"))
        LIMIT 1) AND EXISTS(SELECT 1 AS "a"
        FROM "jobu_process" U0
        WHERE (U0."heartbeat_at" > (STATEMENT_TIMESTAMP() + (-1.0) * INTERVAL '1 second')
                AND U0."id" = :process_id)
        LIMIT 1))
LIMIT 500
FOR UPDATE SKIP LOCKED;

UPDATE "jobu_jobexecution" AS e
SET status = CASE WHEN (o.status = 'PENDING' AND NOT e.cancel_requested) OR o.status <> 'PENDING' THEN o.status ELSE 'CANCELLED' END,
    attempt = e.attempt - o.uncounted,
    retry_count = o.retry_count,
    available_at = CASE WHEN (o.status = 'PENDING' AND NOT e.cancel_requested) AND o.delay IS NOT NULL THEN (STATEMENT_TIMESTAMP() + (o.delay) * INTERVAL '1 second') ELSE e.available_at END,
    claimed_by = CASE WHEN (o.status = 'PENDING' AND NOT e.cancel_requested) THEN NULL ELSE e.claimed_by END,
    started_at = CASE WHEN (o.status = 'PENDING' AND NOT e.cancel_requested) THEN NULL WHEN o.started_ago IS NULL THEN e.started_at ELSE (STATEMENT_TIMESTAMP() + (-o.started_ago) * INTERVAL '1 second') END,
    finished_at = CASE WHEN (o.status = 'PENDING' AND NOT e.cancel_requested) THEN NULL ELSE (STATEMENT_TIMESTAMP() + (-o.finished_ago) * INTERVAL '1 second') END,
    result = o.result::jsonb,
    error_message = COALESCE(o.message, e.error_message),
    errors = CASE WHEN o.error IS NULL THEN e.errors ELSE e.errors || o.error::jsonb END,
    progress = COALESCE(o.progress::jsonb, e.progress)
FROM (SELECT (r ->> 0)::bigint AS id, (r ->> 1)::int AS attempt, (r ->> 2)::float8 AS started_ago, (r ->> 3)::float8 AS finished_ago, (r ->> 4)::text AS result, (r ->> 5)::text AS status, (r ->> 6)::int AS uncounted, (r ->> 7)::int AS retry_count, (r ->> 8)::float8 AS delay, (r ->> 9)::text AS message, (r ->> 10)::text AS error, (r ->> 11)::text AS progress
    FROM jsonb_array_elements(:outcomes::jsonb) AS t (r)) AS o
WHERE e.id = o.id
    AND e.attempt = o.attempt
    AND (e.claimed_by, e.status) IS NOT DISTINCT FROM (:process_id::uuid, 'RUNNING');

SELECT 1 AS "a"
FROM "jobu_jobexecution"
WHERE ("jobu_jobexecution"."status" = 'RUNNING'
        AND NOT EXISTS(SELECT 1 AS "a"
        FROM "jobu_process" U0
        WHERE (U0."heartbeat_at" > (STATEMENT_TIMESTAMP() + (-2.0) * INTERVAL '1 second')
                AND U0."id" = ("jobu_jobexecution"."claimed_by"))
        LIMIT 1) AND EXISTS(SELECT 1 AS "a"
        FROM "jobu_process" U0
        WHERE (U0."heartbeat_at" > (STATEMENT_TIMESTAMP() + (-1.0) * INTERVAL '1 second')
                AND U0."id" = :process_id)
        LIMIT 1))
LIMIT 1;

SELECT "jobu_process"."id" AS "id"
FROM "jobu_process"
WHERE ("jobu_process"."heartbeat_at" <= (STATEMENT_TIMESTAMP() + (-2.0) * INTERVAL '1 second')
        AND NOT EXISTS(SELECT 1 AS "a"
        FROM "jobu_jobexecution" U0
        WHERE (U0."status" = 'RUNNING'
                AND U0."claimed_by" = ("jobu_process"."id"))
        LIMIT 1) AND EXISTS(SELECT 1 AS "a"
        FROM "jobu_process" U0
        WHERE (U0."heartbeat_at" > (STATEMENT_TIMESTAMP() + (-1.0) * INTERVAL '1 second')
                AND U0."id" = :process_id)
        LIMIT 1));

DELETE
FROM "jobu_process"
WHERE ("jobu_process"."heartbeat_at" <= (STATEMENT_TIMESTAMP() + (-2.0) * INTERVAL '1 second')
        AND "jobu_process"."id" IN (:process_id));
