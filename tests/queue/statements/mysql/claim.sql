SELECT `jobu_jobexecution`.`id` AS `id`, `jobu_jobexecution`.`attempt` AS `attempt`, `jobu_jobexecution`.`handler_name` AS `handler_name`, `jobu_jobexecution`.`params` AS `params`, `jobu_jobexecution`.`retry_count` AS `retry_count`, `jobu_jobexecution`.`max_retry` AS `max_retry`, `jobu_jobexecution`.`timeout_seconds` AS `timeout_seconds`, CAST(`jobu_jobexecution`.`available_at` AS char) AS `cast1`
FROM `jobu_jobexecution`
WHERE (`jobu_jobexecution`.`status` = 'PENDING'
        AND `jobu_jobexecution`.`available_at` <= (UTC_TIMESTAMP(6))
        AND `jobu_jobexecution`.`aside_until` = :in_lane
        AND `jobu_jobexecution`.`priority` = :priority
        AND `jobu_jobexecution`.`queue` = :queue
        AND ((available_at > :time OR (available_at = :time
                    AND id > :id))))
ORDER BY `jobu_jobexecution`.`available_at` ASC, 1 ASC
LIMIT 37
FOR UPDATE SKIP LOCKED;

UPDATE `jobu_jobexecution`
SET status = 'RUNNING',
    claimed_by = :process_id,
    attempt = attempt + 1,
    started_at = UTC_TIMESTAMP(6)
WHERE id IN (:ids)
    AND status NOT IN ('RUNNING', 'SUCCESS', 'FAILED', 'TIMEOUT', 'CANCELLED');
