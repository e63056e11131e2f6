UPDATE "jobu_jobexecution" AS e
SET status = 'SUCCESS',
    started_at = (STATEMENT_TIMESTAMP() + (-o.started_ago) * INTERVAL '1 second'),
    finished_at = (STATEMENT_TIMESTAMP() + (-o.finished_ago) * INTERVAL '1 second'),
    result = o.result::jsonb,
    error_message = ''
FROM (SELECT (r ->> 0)::bigint AS id, (r ->> 1)::int AS attempt, (r ->> 2)::float8 AS started_ago, (r ->> 3)::float8 AS finished_ago, (r ->> 4)::text AS result
    FROM jsonb_array_elements(:outcomes::jsonb) AS t (r)) AS o
WHERE e.id = o.id
    AND e.attempt = o.attempt
    AND (e.claimed_by, e.status) IS NOT DISTINCT FROM (:process_id::uuid, 'RUNNING');

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
