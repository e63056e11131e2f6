CREATE TABLE "jobu_apitoken" (
    "id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
    "name" varchar(100) NOT NULL UNIQUE,
    "secret_hash" varchar(64) NOT NULL UNIQUE,
    "scope" varchar(10) NOT NULL,
    "created_by" varchar(254) NOT NULL,
    "created_at" datetime DEFAULT (STRFTIME('%Y-%m-%d %H:%M:%f', 'now')) NOT NULL,
    "last_used_at" datetime NULL,
    "revoked_at" datetime NULL,
    CONSTRAINT "jobu_token_scope_known" CHECK ("scope" IN ('read', 'write'))
);

CREATE TABLE "jobu_cronjob" (
    "id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
    "name" varchar(200) NOT NULL,
    "description" text NOT NULL,
    "cron_expression" varchar(200) NOT NULL,
    "timezone" varchar(64) NOT NULL,
    "handler_name" varchar(200) NOT NULL,
    "handler_params" text NOT NULL CHECK ((JSON_VALID("handler_params") OR "handler_params" IS NULL)),
    "is_enabled" bool NOT NULL,
    "allow_overlap" bool NOT NULL,
    "max_retry" integer unsigned NOT NULL CHECK ("max_retry" >= 0),
    "timeout_seconds" integer unsigned NOT NULL CHECK ("timeout_seconds" >= 0),
    "priority" smallint NOT NULL,
    "queue" varchar(100) NOT NULL,
    "misfire" varchar(10) NOT NULL,
    "misfire_window_seconds" integer unsigned NOT NULL CHECK ("misfire_window_seconds" >= 0),
    "jitter_seconds" integer unsigned NOT NULL CHECK ("jitter_seconds" >= 0),
    "pause_after_failures" integer unsigned NOT NULL CHECK ("pause_after_failures" >= 0),
    "starts_at" datetime NULL,
    "ends_at" datetime NULL,
    "next_run_at" datetime NULL,
    "last_run_at" datetime NULL,
    "declared" varchar(300) NOT NULL,
    "problem" text NOT NULL,
    "planned" varchar(500) NOT NULL,
    "due_at" datetime GENERATED ALWAYS AS (CASE WHEN ("is_enabled" AND "planned" = (COALESCE("name", '') || COALESCE((COALESCE('
', '') || COALESCE((COALESCE("cron_expression", '') || COALESCE((COALESCE('
', '') || COALESCE("timezone", '')), '')), '')), ''))) THEN "next_run_at" WHEN ("is_enabled" OR NOT ("planned" = '')) THEN '1970-01-01 00:00:00' ELSE NULL END) STORED,
    "created_at" datetime NOT NULL,
    "updated_at" datetime NOT NULL,
    CONSTRAINT "jobu_cron_unique_name" UNIQUE ("name"),
    CONSTRAINT "jobu_cron_misfire_known" CHECK ("misfire" IN ('skip', 'latest', 'all')),
    CONSTRAINT "jobu_cron_max_retry_not_negative" CHECK ("max_retry" >= 0),
    CONSTRAINT "jobu_cron_timeout_positive" CHECK ("timeout_seconds" > 0)
);

CREATE TABLE "jobu_deadletter" (
    "id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
    "adapter" varchar(100) NOT NULL,
    "source_id" varchar(255) NOT NULL,
    "body" BLOB NOT NULL,
    "key" BLOB NULL,
    "headers" text NOT NULL CHECK ((JSON_VALID("headers") OR "headers" IS NULL)),
    "reason" text NOT NULL,
    "received_at" datetime DEFAULT (STRFTIME('%Y-%m-%d %H:%M:%f', 'now')) NOT NULL,
    "requeued_at" datetime NULL,
    "discarded_at" datetime NULL,
    "execution_id" bigint NULL REFERENCES "jobu_jobexecution" ("id") DEFERRABLE INITIALLY DEFERRED,
    CONSTRAINT "jobu_dead_unique_source" UNIQUE ("adapter", "source_id")
);

CREATE TABLE "jobu_jobexecution" (
    "id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
    "handler_name" varchar(200) NOT NULL,
    "params" text NOT NULL CHECK ((JSON_VALID("params") OR "params" IS NULL)),
    "param_source" varchar(10) NOT NULL,
    "queue" varchar(100) NOT NULL,
    "priority" smallint NOT NULL,
    "scheduled_time" datetime NULL,
    "available_at" datetime DEFAULT (STRFTIME('%Y-%m-%d %H:%M:%f', 'now')) NOT NULL,
    "aside_until" datetime DEFAULT '1970-01-01 00:00:00' NOT NULL,
    "status" varchar(16) NOT NULL,
    "retry_count" integer unsigned NOT NULL CHECK ("retry_count" >= 0),
    "max_retry" integer unsigned NOT NULL CHECK ("max_retry" >= 0),
    "timeout_seconds" integer unsigned NOT NULL CHECK ("timeout_seconds" >= 0),
    "attempt" integer unsigned NOT NULL CHECK ("attempt" >= 0),
    "claimed_by" char(32) NULL,
    "started_at" datetime NULL,
    "finished_at" datetime NULL,
    "result" text NULL CHECK ((JSON_VALID("result") OR "result" IS NULL)),
    "error_message" text NOT NULL,
    "errors" text NOT NULL CHECK ((JSON_VALID("errors") OR "errors" IS NULL)),
    "dedupe_key" varchar(255) NULL,
    "cancel_requested" bool NOT NULL,
    "progress" text NULL CHECK ((JSON_VALID("progress") OR "progress" IS NULL)),
    "extra" text NULL CHECK ((JSON_VALID("extra") OR "extra" IS NULL)),
    "created_at" datetime DEFAULT (STRFTIME('%Y-%m-%d %H:%M:%f', 'now')) NOT NULL,
    "job_id" bigint NULL REFERENCES "jobu_cronjob" ("id") DEFERRABLE INITIALLY DEFERRED,
    CONSTRAINT "jobu_exec_status_consistent" CHECK (("status" = 'PENDING' OR ("claimed_by" IS NOT NULL AND "status" = 'RUNNING') OR ("finished_at" IS NOT NULL AND "status" IN ('SUCCESS', 'FAILED', 'TIMEOUT', 'CANCELLED')))),
    CONSTRAINT "jobu_exec_param_source_known" CHECK ("param_source" IN ('cron', 'event', 'api', 'code', 'manual')),
    CONSTRAINT "jobu_exec_timeout_positive" CHECK ("timeout_seconds" > 0)
);

CREATE TABLE "jobu_logline" (
    "id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
    "attempt" integer unsigned NOT NULL CHECK ("attempt" >= 0),
    "logged_at" datetime NOT NULL,
    "level" smallint unsigned NOT NULL CHECK ("level" >= 0),
    "logger" varchar(200) NOT NULL,
    "message" text NOT NULL,
    "execution_id" bigint NOT NULL,
    CONSTRAINT "jobu_log_unique_line" UNIQUE ("execution_id", "attempt", "logged_at")
);

CREATE TABLE "jobu_process" (
    "id" char(32) NOT NULL PRIMARY KEY,
    "kind" varchar(20) NOT NULL,
    "host" varchar(255) NOT NULL,
    "pid" integer unsigned NOT NULL CHECK ("pid" >= 0),
    "queues" text NOT NULL CHECK ((JSON_VALID("queues") OR "queues" IS NULL)),
    "slots" integer unsigned NOT NULL CHECK ("slots" >= 0),
    "started_at" datetime DEFAULT (STRFTIME('%Y-%m-%d %H:%M:%f', 'now')) NOT NULL,
    "heartbeat_at" datetime DEFAULT (STRFTIME('%Y-%m-%d %H:%M:%f', 'now')) NOT NULL,
    "stopping" bool NOT NULL,
    CONSTRAINT "jobu_process_kind_known" CHECK ("kind" IN ('worker', 'dispatcher', 'queue-dispatcher'))
);

CREATE TABLE "jobu_summary" (
    "id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
    "seconds" integer unsigned NOT NULL CHECK ("seconds" >= 0),
    "begins_at" datetime NOT NULL,
    "content" text NOT NULL CHECK ((JSON_VALID("content") OR "content" IS NULL)),
    CONSTRAINT "jobu_summary_unique_time" UNIQUE ("seconds", "begins_at")
);

CREATE TABLE "jobu_tally" (
    "id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
    "revision" bigint unsigned NOT NULL CHECK ("revision" >= 0),
    "counted_until" datetime NOT NULL,
    "totals" text NOT NULL CHECK ((JSON_VALID("totals") OR "totals" IS NULL))
);

CREATE INDEX "jobu_cron_due" ON "jobu_cronjob" ("due_at");

CREATE INDEX "jobu_dead_received_at" ON "jobu_deadletter" ("received_at");

CREATE INDEX "jobu_deadletter_execution_id_fc658d7d" ON "jobu_deadletter" ("execution_id");

CREATE INDEX "jobu_exec_finished_at" ON "jobu_jobexecution" ("finished_at") WHERE "finished_at" IS NOT NULL;

CREATE INDEX "jobu_exec_job" ON "jobu_jobexecution" ("job_id", "id") WHERE "job_id" IS NOT NULL;

CREATE INDEX "jobu_exec_pending" ON "jobu_jobexecution" ("aside_until", "queue", "priority", "available_at", "id") WHERE "status" = 'PENDING';

CREATE INDEX "jobu_exec_pending_job" ON "jobu_jobexecution" ("job_id") WHERE ("status" = 'PENDING' AND "job_id" IS NOT NULL);

CREATE INDEX "jobu_exec_running" ON "jobu_jobexecution" ("claimed_by") WHERE "status" = 'RUNNING';

CREATE UNIQUE INDEX "jobu_exec_unique_dedupe_key" ON "jobu_jobexecution" ("dedupe_key") WHERE "dedupe_key" IS NOT NULL;

CREATE UNIQUE INDEX "jobu_exec_unique_tick" ON "jobu_jobexecution" ("job_id", "scheduled_time") WHERE "job_id" IS NOT NULL;

CREATE INDEX "jobu_process_heartbeat_at_c96e5761" ON "jobu_process" ("heartbeat_at");

