UPDATE "jobu_jobexecution"
SET status = 'RUNNING',
    claimed_by = :process_id,
    attempt = attempt + 1,
    started_at = STATEMENT_TIMESTAMP()
WHERE id = ANY(ARRAY(SELECT "jobu_jobexecution"."id" AS "id"
        FROM "jobu_jobexecution"
        WHERE ("jobu_jobexecution"."status" = 'PENDING'
                AND "jobu_jobexecution"."available_at" <= (STATEMENT_TIMESTAMP())
                AND "jobu_jobexecution"."aside_until" = :in_lane
                AND "jobu_jobexecution"."priority" = :priority
                AND "jobu_jobexecution"."queue" = :queue)
        ORDER BY "jobu_jobexecution"."available_at" ASC, 1 ASC
        LIMIT 37
        FOR UPDATE SKIP LOCKED)) AND status NOT IN ('RUNNING', 'SUCCESS', 'FAILED', 'TIMEOUT', 'CANCELLED')
RETURNING id, attempt - 1, handler_name, params, retry_count, max_retry, timeout_seconds, available_at;
