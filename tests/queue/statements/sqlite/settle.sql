UPDATE "jobu_jobexecution" AS e
SET status = 'SUCCESS',
    started_at = STRFTIME('%Y-%m-%d %H:%M:%f', 'now', PRINTF('%+.3f seconds', -o.started_ago)),
    finished_at = STRFTIME('%Y-%m-%d %H:%M:%f', 'now', PRINTF('%+.3f seconds', -o.finished_ago)),
    result = o.result,
    error_message = ''
FROM (SELECT JSON_EXTRACT(value, '$[0]') AS id, JSON_EXTRACT(value, '$[1]') AS attempt, JSON_EXTRACT(value, '$[2]') AS started_ago, JSON_EXTRACT(value, '$[3]') AS finished_ago, JSON_EXTRACT(value, '$[4]') AS result
    FROM JSON_EACH(:outcomes)) AS o
WHERE e.id = o.id
    AND e.attempt = o.attempt
    AND +e.claimed_by = :process_id
    AND e.status = 'RUNNING';

UPDATE "jobu_jobexecution" AS e
SET status = CASE WHEN (o.status = 'PENDING' AND NOT e.cancel_requested) OR o.status <> 'PENDING' THEN o.status ELSE 'CANCELLED' END,
    attempt = e.attempt - o.uncounted,
    retry_count = o.retry_count,
    available_at = CASE WHEN (o.status = 'PENDING' AND NOT e.cancel_requested) AND o.delay IS NOT NULL THEN STRFTIME('%Y-%m-%d %H:%M:%f', 'now', PRINTF('%+.3f seconds', o.delay)) ELSE e.available_at END,
    claimed_by = CASE WHEN (o.status = 'PENDING' AND NOT e.cancel_requested) THEN NULL ELSE e.claimed_by END,
    started_at = CASE WHEN (o.status = 'PENDING' AND NOT e.cancel_requested) THEN NULL WHEN o.started_ago IS NULL THEN e.started_at ELSE STRFTIME('%Y-%m-%d %H:%M:%f', 'now', PRINTF('%+.3f seconds', -o.started_ago)) END,
    finished_at = CASE WHEN (o.status = 'PENDING' AND NOT e.cancel_requested) THEN NULL ELSE STRFTIME('%Y-%m-%d %H:%M:%f', 'now', PRINTF('%+.3f seconds', -o.finished_ago)) END,
    result = o.result,
    error_message = COALESCE(o.message, e.error_message),
    errors = CASE WHEN o.error IS NULL THEN e.errors ELSE JSON_INSERT(e.errors, '$[#]', JSON(o.error)) END,
    progress = COALESCE(o.progress, e.progress)
FROM (SELECT JSON_EXTRACT(value, '$[0]') AS id, JSON_EXTRACT(value, '$[1]') AS attempt, JSON_EXTRACT(value, '$[2]') AS started_ago, JSON_EXTRACT(value, '$[3]') AS finished_ago, JSON_EXTRACT(value, '$[4]') AS result, JSON_EXTRACT(value, '$[5]') AS status, JSON_EXTRACT(value, '$[6]') AS uncounted, JSON_EXTRACT(value, '$[7]') AS retry_count, JSON_EXTRACT(value, '$[8]') AS delay, JSON_EXTRACT(value, '$[9]') AS message, JSON_EXTRACT(value, '$[10]') AS error, JSON_EXTRACT(value, '$[11]') AS progress
    FROM JSON_EACH(:outcomes)) AS o
WHERE e.id = o.id
    AND e.attempt = o.attempt
    AND +e.claimed_by = :process_id
    AND e.status = 'RUNNING';
