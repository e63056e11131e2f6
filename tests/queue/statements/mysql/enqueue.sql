INSERT INTO `jobu_jobexecution` (`param_source`, `status`, `retry_count`, `attempt`, `error_message`, `errors`, `cancel_requested`, `handler_name`, `queue`, `priority`, `max_retry`, `timeout_seconds`, `params`)
VALUES ('code', 'PENDING', 0, 0, '', '[]', FALSE, 'echo', 'default', 0, 3, 3600, :params);

SELECT id, created_at
FROM `jobu_jobexecution`
WHERE id = :id;

SELECT `jobu_jobexecution`.`id`, `jobu_jobexecution`.`job_id`, `jobu_jobexecution`.`handler_name`, `jobu_jobexecution`.`params`, `jobu_jobexecution`.`param_source`, `jobu_jobexecution`.`queue`, `jobu_jobexecution`.`priority`, `jobu_jobexecution`.`scheduled_time`, `jobu_jobexecution`.`available_at`, `jobu_jobexecution`.`aside_until`, `jobu_jobexecution`.`status`, `jobu_jobexecution`.`retry_count`, `jobu_jobexecution`.`max_retry`, `jobu_jobexecution`.`timeout_seconds`, `jobu_jobexecution`.`attempt`, `jobu_jobexecution`.`claimed_by`, `jobu_jobexecution`.`started_at`, `jobu_jobexecution`.`finished_at`, `jobu_jobexecution`.`result`, `jobu_jobexecution`.`error_message`, `jobu_jobexecution`.`errors`, `jobu_jobexecution`.`dedupe_key`, `jobu_jobexecution`.`cancel_requested`, `jobu_jobexecution`.`progress`, `jobu_jobexecution`.`extra`, `jobu_jobexecution`.`created_at`
FROM `jobu_jobexecution`
WHERE `jobu_jobexecution`.`dedupe_key` = :dedupe_key
LIMIT 21;

INSERT INTO `jobu_jobexecution` (`param_source`, `status`, `retry_count`, `attempt`, `error_message`, `errors`, `cancel_requested`, `handler_name`, `queue`, `priority`, `max_retry`, `timeout_seconds`, `dedupe_key`, `params`)
VALUES ('code', 'PENDING', 0, 0, '', '[]', FALSE, 'echo', 'default', 0, 3, 3600, :dedupe_key, :params);

SELECT id, created_at
FROM `jobu_jobexecution`
WHERE id = :id;
