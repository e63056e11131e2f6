SELECT 1 AS `a`
FROM `jobu_jobexecution`
WHERE (`jobu_jobexecution`.`status` = 'RUNNING'
        AND NOT EXISTS(SELECT 1 AS `a`
        FROM `jobu_process` U0
        WHERE (U0.`heartbeat_at` > (UTC_TIMESTAMP(6) + INTERVAL ROUND((-2.0) * 1000000) MICROSECOND)
                AND U0.`id` = (`jobu_jobexecution`.`claimed_by`))
        LIMIT 1) AND EXISTS(SELECT 1 AS `a`
        FROM `jobu_process` U0
        WHERE (U0.`heartbeat_at` > (UTC_TIMESTAMP(6) + INTERVAL ROUND((-1.0) * 1000000) MICROSECOND)
                AND U0.`id` = :process_id)
        LIMIT 1))
LIMIT 1;

SELECT `jobu_jobexecution`.`id` AS `id`, `jobu_jobexecution`.`attempt` AS `attempt`, `jobu_jobexecution`.`claimed_by` AS `claimed_by`, `jobu_jobexecution`.`handler_name` AS `handler_name`, `jobu_jobexecution`.`params` AS `params`, `jobu_jobexecution`.`queue` AS `queue`, `jobu_jobexecution`.`retry_count` AS `retry_count`, `jobu_jobexecution`.`max_retry` AS `max_retry`, `jobu_jobexecution`.`timeout_seconds` AS `timeout_seconds`
FROM `jobu_jobexecution`
WHERE (`jobu_jobexecution`.`status` = 'RUNNING'
        AND NOT EXISTS(SELECT 1 AS `a`
        FROM `jobu_process` U0
        WHERE (U0.`heartbeat_at` > (UTC_TIMESTAMP(6) + INTERVAL ROUND((-2.0) * 1000000) MICROSECOND)
                AND U0.`id` = (`jobu_jobexecution`.`claimed_by`))
        LIMIT 1) AND EXISTS(SELECT 1 AS `a`
        FROM `jobu_process` U0
        WHERE (U0.`heartbeat_at` > (UTC_TIMESTAMP(6) + INTERVAL ROUND((-1.0) * 1000000) MICROSECOND)
                AND U0.`id` = :process_id)
        LIMIT 1))
LIMIT 500
FOR UPDATE SKIP LOCKED;

UPDATE JSON_TABLE(:outcomes, '$[*]' COLUMNS (id BIGINT PATH '$[0]', attempt INT PATH '$[1]', started_ago DOUBLE PATH '$[2]', finished_ago DOUBLE PATH '$[3]', result LONGTEXT PATH '$[4]', status LONGTEXT PATH '$[5]', uncounted INT PATH '$[6]', retry_count INT PATH '$[7]', delay DOUBLE PATH '$[8]', message LONGTEXT PATH '$[9]', error LONGTEXT PATH '$[10]', progress LONGTEXT PATH '$[11]')) AS o STRAIGHT_JOIN `jobu_jobexecution` AS e FORCE INDEX (PRIMARY) ON e.id = o.id AND e.attempt = o.attempt AND e.claimed_by = :process_id AND e.status = 'RUNNING'
SET e.status = CASE WHEN (o.status = 'PENDING' AND NOT e.cancel_requested) OR o.status <> 'PENDING' THEN o.status ELSE 'CANCELLED' END, e.attempt = e.attempt - o.uncounted, e.retry_count = o.retry_count, e.available_at = CASE WHEN (o.status = 'PENDING' AND NOT e.cancel_requested) AND o.delay IS NOT NULL THEN (UTC_TIMESTAMP(6) + INTERVAL ROUND((o.delay) * 1000000) MICROSECOND) ELSE e.available_at END, e.claimed_by = CASE WHEN (o.status = 'PENDING' AND NOT e.cancel_requested) THEN NULL ELSE e.claimed_by END, e.started_at = CASE WHEN (o.status = 'PENDING' AND NOT e.cancel_requested) THEN NULL WHEN o.started_ago IS NULL THEN e.started_at ELSE (UTC_TIMESTAMP(6) + INTERVAL ROUND((-o.started_ago) * 1000000) MICROSECOND) END, e.finished_at = CASE WHEN (o.status = 'PENDING' AND NOT e.cancel_requested) THEN NULL ELSE (UTC_TIMESTAMP(6) + INTERVAL ROUND((-o.finished_ago) * 1000000) MICROSECOND) END, e.result = o.result, e.error_message = COALESCE(o.message, e.error_message), e.errors = CASE WHEN o.error IS NULL THEN e.errors ELSE JSON_MERGE_PRESERVE(e.errors, CONCAT('[', o.error, ']')) END, e.progress = COALESCE(o.progress, e.progress);

SELECT 1 AS `a`
FROM `jobu_jobexecution`
WHERE (`jobu_jobexecution`.`status` = 'RUNNING'
        AND NOT EXISTS(SELECT 1 AS `a`
        FROM `jobu_process` U0
        WHERE (U0.`heartbeat_at` > (UTC_TIMESTAMP(6) + INTERVAL ROUND((-2.0) * 1000000) MICROSECOND)
                AND U0.`id` = (`jobu_jobexecution`.`claimed_by`))
        LIMIT 1) AND EXISTS(SELECT 1 AS `a`
        FROM `jobu_process` U0
        WHERE (U0.`heartbeat_at` > (UTC_TIMESTAMP(6) + INTERVAL ROUND((-1.0) * 1000000) MICROSECOND)
                AND U0.`id` = :process_id)
        LIMIT 1))
LIMIT 1;

SELECT `jobu_process`.`id` AS `id`
FROM `jobu_process`
WHERE (`jobu_process`.`heartbeat_at` <= (UTC_TIMESTAMP(6) + INTERVAL ROUND((-2.0) * 1000000) MICROSECOND)
        AND NOT EXISTS(SELECT 1 AS `a`
        FROM `jobu_jobexecution` U0
        WHERE (U0.`status` = 'RUNNING'
                AND U0.`claimed_by` = (`jobu_process`.`id`))
        LIMIT 1) AND EXISTS(SELECT 1 AS `a`
        FROM `jobu_process` U0
        WHERE (U0.`heartbeat_at` > (UTC_TIMESTAMP(6) + INTERVAL ROUND((-1.0) * 1000000) MICROSECOND)
                AND U0.`id` = :process_id)
        LIMIT 1));

DELETE
FROM `jobu_process`
WHERE (`jobu_process`.`heartbeat_at` <= (UTC_TIMESTAMP(6) + INTERVAL ROUND((-2.0) * 1000000) MICROSECOND)
        AND `jobu_process`.`id` IN (:process_id));
