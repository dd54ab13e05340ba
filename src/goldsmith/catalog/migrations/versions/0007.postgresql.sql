CREATE TABLE maintenance_schedules (
	maintenance_id TEXT NOT NULL, 
	task TEXT DEFAULT 'maintain' NOT NULL, 
	dataset_id TEXT, 
	schedule TEXT, 
	keep_days BIGINT, 
	enabled BOOLEAN DEFAULT true NOT NULL, 
	PRIMARY KEY (maintenance_id), 
	CONSTRAINT ck_maintenance_schedules_task CHECK (task IN ('maintain', 'forget')), 
	CONSTRAINT ck_maintenance_schedules_keep_days CHECK (keep_days >= 1)
);

CREATE TABLE check_schedules (
	rule_set_id TEXT NOT NULL, 
	dataset_id TEXT NOT NULL, 
	schedule TEXT, 
	enabled BOOLEAN DEFAULT true NOT NULL, 
	PRIMARY KEY (rule_set_id, dataset_id)
);

CREATE TABLE slot_prices (
	hour BIGINT NOT NULL, 
	price DOUBLE PRECISION, 
	PRIMARY KEY (hour), 
	CONSTRAINT ck_slot_prices_hour CHECK (hour >= 0 AND hour <= 23), 
	CONSTRAINT ck_slot_prices_price CHECK (price BETWEEN 0 AND 1e+100)
);

CREATE TABLE workers (
	worker TEXT NOT NULL, 
	kind TEXT DEFAULT 'worker' NOT NULL, 
	status TEXT DEFAULT 'active' NOT NULL, 
	host TEXT, 
	pid BIGINT, 
	environment TEXT, 
	slots BIGINT DEFAULT 0 NOT NULL, 
	catalog_version TEXT, 
	goldsmith_version TEXT, 
	started_at TIMESTAMP WITH TIME ZONE, 
	heartbeat_at TIMESTAMP WITH TIME ZONE, 
	expires_at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (worker), 
	CONSTRAINT ck_workers_kind CHECK (kind IN ('service', 'worker')), 
	CONSTRAINT ck_workers_status CHECK (status IN ('active', 'draining', 'ended')), 
	CONSTRAINT ck_workers_slots CHECK (slots >= 0), 
	CONSTRAINT ck_workers_started_at CHECK (started_at >= '1000-01-01 00:00:00+00:00' AND started_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_workers_heartbeat_at CHECK (heartbeat_at >= '1000-01-01 00:00:00+00:00' AND heartbeat_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_workers_expires_at CHECK (expires_at >= '1000-01-01 00:00:00+00:00' AND expires_at < '9999-01-01 00:00:00+00:00')
);

CREATE TABLE schedule_fires (
	subject TEXT NOT NULL, 
	due_at TIMESTAMP WITH TIME ZONE NOT NULL, 
	schedule TEXT, 
	fired_at TIMESTAMP WITH TIME ZONE, 
	fired_by TEXT, 
	request_id TEXT, 
	because TEXT, 
	PRIMARY KEY (subject, due_at), 
	CONSTRAINT ck_schedule_fires_due_at CHECK (due_at >= '1000-01-01 00:00:00+00:00' AND due_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_schedule_fires_fired_at CHECK (fired_at >= '1000-01-01 00:00:00+00:00' AND fired_at < '9999-01-01 00:00:00+00:00')
);

CREATE TABLE waits (
	subject TEXT NOT NULL, 
	pipeline_id TEXT, 
	gate TEXT, 
	because TEXT, 
	since TIMESTAMP WITH TIME ZONE, 
	not_before TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (subject), 
	CONSTRAINT ck_waits_since CHECK (since >= '1000-01-01 00:00:00+00:00' AND since < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_waits_not_before CHECK (not_before >= '1000-01-01 00:00:00+00:00' AND not_before < '9999-01-01 00:00:00+00:00')
);

ALTER TABLE pipelines ALTER COLUMN criticality DROP NOT NULL;

ALTER TABLE pipelines ALTER COLUMN criticality DROP DEFAULT;

ALTER TABLE pipelines ADD COLUMN missed_runs TEXT DEFAULT 'once' NOT NULL CONSTRAINT ck_pipelines_missed_runs CHECK (missed_runs IN ('skip', 'once', 'all'));

ALTER TABLE pipelines ADD COLUMN overlap TEXT DEFAULT 'queue' NOT NULL CONSTRAINT ck_pipelines_overlap CHECK (overlap IN ('skip', 'queue', 'stop'));

ALTER TABLE pipelines ADD COLUMN catch_up_limit BIGINT DEFAULT 100 NOT NULL CONSTRAINT ck_pipelines_catch_up_limit CHECK (catch_up_limit >= 0);

ALTER TABLE pipelines ADD COLUMN run_window TEXT;

UPDATE pipelines SET criticality = NULL
WHERE criticality = 'normal' AND NOT EXISTS (
  SELECT 1 FROM changes c WHERE c.table_name = 'pipelines' AND c.operation = 'update'
    AND c.row_key = '[' || to_json(pipelines.pipeline_id)::text || ']'
    AND c."before" ->> 'criticality' <> c."after" ->> 'criticality');

DELETE FROM change_context;

ALTER TABLE throttles DROP CONSTRAINT ck_throttles_entity_type;

ALTER TABLE throttles ADD CONSTRAINT ck_throttles_entity_type CHECK (entity_type IN ('source', 'target', 'group'));

ALTER TABLE requests ADD COLUMN token BIGINT DEFAULT 0 NOT NULL;

ALTER TABLE requests ADD COLUMN expires_at TIMESTAMP WITH TIME ZONE CONSTRAINT ck_requests_expires_at CHECK (expires_at >= '1000-01-01 00:00:00+00:00' AND expires_at < '9999-01-01 00:00:00+00:00');

ALTER TABLE requests ADD COLUMN due_at TIMESTAMP WITH TIME ZONE CONSTRAINT ck_requests_due_at CHECK (due_at >= '1000-01-01 00:00:00+00:00' AND due_at < '9999-01-01 00:00:00+00:00');

ALTER TABLE requests ADD COLUMN backfill_id TEXT;

CREATE INDEX ix_requests_backfill ON requests (backfill_id);

DROP VIEW v_requests;

CREATE VIEW v_requests AS
SELECT q.request_id, q.selection, q.pipelines, q.options, q.status, q.because, q.asked_by, q.asked_at, q.not_before, q.attempt, q.after_run_id, q.run_ids, q.worker, q.ended_at, q.token, q.expires_at, q.due_at, q.backfill_id,
  q.status = 'waiting' AND (q.not_before IS NULL OR (q.not_before <= clock_timestamp())) AS is_due,
  CAST(round(extract(epoch FROM coalesce(q.ended_at, clock_timestamp()) - q.asked_at), 3) AS double precision) AS age_sec
FROM requests q;

