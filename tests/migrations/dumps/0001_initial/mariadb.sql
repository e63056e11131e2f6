CREATE TABLE `jobu_tally` (
    `id` bigint AUTO_INCREMENT NOT NULL PRIMARY KEY,
    `revision` bigint UNSIGNED NOT NULL CHECK (`revision` >= 0),
    `counted_until` datetime(6) NOT NULL,
    `totals` json NOT NULL
);

CREATE TABLE `jobu_apitoken` (
    `id` bigint AUTO_INCREMENT NOT NULL PRIMARY KEY,
    `name` varchar(100) COLLATE `utf8mb4_nopad_bin` NOT NULL UNIQUE,
    `secret_hash` varchar(64) COLLATE `utf8mb4_nopad_bin` NOT NULL UNIQUE,
    `scope` varchar(10) COLLATE `utf8mb4_nopad_bin` NOT NULL,
    `created_by` varchar(254) NOT NULL,
    `created_at` datetime(6) DEFAULT (UTC_TIMESTAMP(6)) NOT NULL,
    `last_used_at` datetime(6) NULL,
    `revoked_at` datetime(6) NULL,
    CONSTRAINT `jobu_token_scope_known` CHECK (`scope` IN ('read', 'write'))
);

CREATE TABLE `jobu_cronjob` (
    `id` bigint AUTO_INCREMENT NOT NULL PRIMARY KEY,
    `name` varchar(200) COLLATE `utf8mb4_nopad_bin` NOT NULL,
    `description` longtext NOT NULL,
    `cron_expression` varchar(200) COLLATE `utf8mb4_nopad_bin` NOT NULL,
    `timezone` varchar(64) COLLATE `utf8mb4_nopad_bin` NOT NULL,
    `handler_name` varchar(200) COLLATE `utf8mb4_nopad_bin` NOT NULL,
    `handler_params` json NOT NULL,
    `is_enabled` bool NOT NULL,
    `allow_overlap` bool NOT NULL,
    `max_retry` integer UNSIGNED NOT NULL CHECK (`max_retry` >= 0),
    `timeout_seconds` integer UNSIGNED NOT NULL CHECK (`timeout_seconds` >= 0),
    `priority` smallint NOT NULL,
    `queue` varchar(100) COLLATE `utf8mb4_nopad_bin` NOT NULL,
    `misfire` varchar(10) COLLATE `utf8mb4_nopad_bin` NOT NULL,
    `misfire_window_seconds` integer UNSIGNED NOT NULL CHECK (`misfire_window_seconds` >= 0),
    `jitter_seconds` integer UNSIGNED NOT NULL CHECK (`jitter_seconds` >= 0),
    `pause_after_failures` integer UNSIGNED NOT NULL CHECK (`pause_after_failures` >= 0),
    `starts_at` datetime(6) NULL,
    `ends_at` datetime(6) NULL,
    `next_run_at` datetime(6) NULL,
    `last_run_at` datetime(6) NULL,
    `declared` varchar(300) COLLATE `utf8mb4_nopad_bin` NOT NULL,
    `problem` longtext NOT NULL,
    `planned` varchar(500) COLLATE `utf8mb4_nopad_bin` NOT NULL,
    `due_at` datetime(6) GENERATED ALWAYS AS (CASE WHEN (`is_enabled` = 1 AND `planned` = (CONCAT_WS('', `name`, CONCAT_WS('', '\n', CONCAT_WS('', `cron_expression`, CONCAT_WS('', '\n', `timezone`)))))) THEN `next_run_at` WHEN (`is_enabled` = 1 OR NOT (`planned` = '')) THEN '1970-01-01 00:00:00' ELSE NULL END) STORED,
    `created_at` datetime(6) NOT NULL,
    `updated_at` datetime(6) NOT NULL
);

CREATE TABLE `jobu_jobexecution` (
    `id` bigint AUTO_INCREMENT NOT NULL PRIMARY KEY,
    `handler_name` varchar(200) COLLATE `utf8mb4_nopad_bin` NOT NULL,
    `params` json NOT NULL,
    `param_source` varchar(10) COLLATE `utf8mb4_nopad_bin` NOT NULL,
    `queue` varchar(100) COLLATE `utf8mb4_nopad_bin` NOT NULL,
    `priority` smallint NOT NULL,
    `scheduled_time` datetime(6) NULL,
    `available_at` datetime(6) DEFAULT (UTC_TIMESTAMP(6)) NOT NULL,
    `aside_until` datetime(6) DEFAULT '1970-01-01 00:00:00' NOT NULL,
    `status` varchar(16) COLLATE `utf8mb4_nopad_bin` NOT NULL,
    `retry_count` integer UNSIGNED NOT NULL CHECK (`retry_count` >= 0),
    `max_retry` integer UNSIGNED NOT NULL CHECK (`max_retry` >= 0),
    `timeout_seconds` integer UNSIGNED NOT NULL CHECK (`timeout_seconds` >= 0),
    `attempt` integer UNSIGNED NOT NULL CHECK (`attempt` >= 0),
    `claimed_by` uuid NULL,
    `started_at` datetime(6) NULL,
    `finished_at` datetime(6) NULL,
    `result` json NULL,
    `error_message` longtext NOT NULL,
    `errors` json NOT NULL,
    `dedupe_key` varchar(255) COLLATE `utf8mb4_nopad_bin` NULL,
    `cancel_requested` bool NOT NULL,
    `progress` json NULL,
    `extra` json NULL,
    `created_at` datetime(6) DEFAULT (UTC_TIMESTAMP(6)) NOT NULL,
    `job_id` bigint NULL
);

CREATE TABLE `jobu_deadletter` (
    `id` bigint AUTO_INCREMENT NOT NULL PRIMARY KEY,
    `adapter` varchar(100) COLLATE `utf8mb4_nopad_bin` NOT NULL,
    `source_id` varchar(255) COLLATE `utf8mb4_nopad_bin` NOT NULL,
    `body` longblob NOT NULL,
    `key` longblob NULL,
    `headers` json NOT NULL,
    `reason` longtext NOT NULL,
    `received_at` datetime(6) DEFAULT (UTC_TIMESTAMP(6)) NOT NULL,
    `requeued_at` datetime(6) NULL,
    `discarded_at` datetime(6) NULL,
    `execution_id` bigint NULL,
    CONSTRAINT `jobu_dead_unique_source` UNIQUE (`adapter`, `source_id`)
);

CREATE TABLE `jobu_logline` (
    `id` bigint AUTO_INCREMENT NOT NULL PRIMARY KEY,
    `attempt` integer UNSIGNED NOT NULL CHECK (`attempt` >= 0),
    `logged_at` datetime(6) NOT NULL,
    `level` smallint UNSIGNED NOT NULL CHECK (`level` >= 0),
    `logger` varchar(200) COLLATE `utf8mb4_nopad_bin` NOT NULL,
    `message` longtext NOT NULL,
    `execution_id` bigint NOT NULL,
    CONSTRAINT `jobu_log_unique_line` UNIQUE (`execution_id`, `attempt`, `logged_at`)
);

CREATE TABLE `jobu_process` (
    `id` uuid NOT NULL PRIMARY KEY,
    `kind` varchar(20) COLLATE `utf8mb4_nopad_bin` NOT NULL,
    `host` varchar(255) NOT NULL,
    `pid` integer UNSIGNED NOT NULL CHECK (`pid` >= 0),
    `queues` json NOT NULL,
    `slots` integer UNSIGNED NOT NULL CHECK (`slots` >= 0),
    `started_at` datetime(6) DEFAULT (UTC_TIMESTAMP(6)) NOT NULL,
    `heartbeat_at` datetime(6) DEFAULT (UTC_TIMESTAMP(6)) NOT NULL,
    `stopping` bool NOT NULL,
    CONSTRAINT `jobu_process_kind_known` CHECK (`kind` IN ('worker', 'dispatcher', 'queue-dispatcher'))
);

CREATE TABLE `jobu_summary` (
    `id` bigint AUTO_INCREMENT NOT NULL PRIMARY KEY,
    `seconds` integer UNSIGNED NOT NULL CHECK (`seconds` >= 0),
    `begins_at` datetime(6) NOT NULL,
    `content` json NOT NULL,
    CONSTRAINT `jobu_summary_unique_time` UNIQUE (`seconds`, `begins_at`)
);

ALTER TABLE `jobu_cronjob` ADD CONSTRAINT `jobu_cron_unique_name` UNIQUE (`name`);

ALTER TABLE `jobu_cronjob` ADD CONSTRAINT `jobu_cron_misfire_known` CHECK (`misfire` IN ('skip', 'latest', 'all'));

ALTER TABLE `jobu_cronjob` ADD CONSTRAINT `jobu_cron_max_retry_not_negative` CHECK (`max_retry` >= 0);

ALTER TABLE `jobu_cronjob` ADD CONSTRAINT `jobu_cron_timeout_positive` CHECK (`timeout_seconds` > 0);

CREATE INDEX `jobu_cron_due` ON `jobu_cronjob` (`due_at`);

ALTER TABLE `jobu_jobexecution` ADD CONSTRAINT `jobu_jobexecution_job_id_c3a7d8d5_fk_jobu_cronjob_id` FOREIGN KEY (`job_id`) REFERENCES `jobu_cronjob` (`id`);

ALTER TABLE `jobu_jobexecution` ADD CONSTRAINT `jobu_exec_unique_tick` UNIQUE (`job_id`, `scheduled_time`);

ALTER TABLE `jobu_jobexecution` ADD CONSTRAINT `jobu_exec_unique_dedupe_key` UNIQUE (`dedupe_key`);

ALTER TABLE `jobu_jobexecution` ADD CONSTRAINT `jobu_exec_status_consistent` CHECK ((`status` = 'PENDING' OR (`claimed_by` IS NOT NULL AND `status` = 'RUNNING') OR (`finished_at` IS NOT NULL AND `status` IN ('SUCCESS', 'FAILED', 'TIMEOUT', 'CANCELLED'))));

ALTER TABLE `jobu_jobexecution` ADD CONSTRAINT `jobu_exec_param_source_known` CHECK (`param_source` IN ('cron', 'event', 'api', 'code', 'manual'));

ALTER TABLE `jobu_jobexecution` ADD CONSTRAINT `jobu_exec_timeout_positive` CHECK (`timeout_seconds` > 0);

CREATE INDEX `jobu_exec_pending` ON `jobu_jobexecution` (`status`, `aside_until`, `queue`, `priority`, `available_at`, `id`);

CREATE INDEX `jobu_exec_running` ON `jobu_jobexecution` (`status`, `claimed_by`);

CREATE INDEX `jobu_exec_finished_at` ON `jobu_jobexecution` (`finished_at`);

CREATE INDEX `jobu_exec_pending_job` ON `jobu_jobexecution` (`status`, `job_id`);

CREATE INDEX `jobu_exec_job` ON `jobu_jobexecution` (`job_id`, `id`);

ALTER TABLE `jobu_deadletter` ADD CONSTRAINT `jobu_deadletter_execution_id_fc658d7d_fk_jobu_jobexecution_id` FOREIGN KEY (`execution_id`) REFERENCES `jobu_jobexecution` (`id`);

CREATE INDEX `jobu_dead_received_at` ON `jobu_deadletter` (`received_at`);

CREATE INDEX `jobu_process_heartbeat_at_c96e5761` ON `jobu_process` (`heartbeat_at`);

