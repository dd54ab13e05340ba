CREATE TABLE maintenance_schedules (
	maintenance_id TEXT NOT NULL, 
	task TEXT DEFAULT 'maintain' NOT NULL, 
	dataset_id TEXT, 
	schedule TEXT, 
	keep_days INTEGER, 
	enabled BOOLEAN DEFAULT 1 NOT NULL, 
	PRIMARY KEY (maintenance_id), 
	CONSTRAINT ck_maintenance_schedules_maintenance_id CHECK (typeof(maintenance_id) IN ('text', 'null')), 
	CONSTRAINT ck_maintenance_schedules_task CHECK (task IN ('maintain', 'forget')), 
	CONSTRAINT ck_maintenance_schedules_dataset_id CHECK (typeof(dataset_id) IN ('text', 'null')), 
	CONSTRAINT ck_maintenance_schedules_schedule CHECK (typeof(schedule) IN ('text', 'null')), 
	CONSTRAINT ck_maintenance_schedules_keep_days CHECK (typeof(keep_days) IN ('integer', 'null') AND keep_days >= 1), 
	CONSTRAINT ck_maintenance_schedules_enabled CHECK (enabled IN (0, 1))
);

CREATE TABLE check_schedules (
	rule_set_id TEXT NOT NULL, 
	dataset_id TEXT NOT NULL, 
	schedule TEXT, 
	enabled BOOLEAN DEFAULT 1 NOT NULL, 
	PRIMARY KEY (rule_set_id, dataset_id), 
	CONSTRAINT ck_check_schedules_rule_set_id CHECK (typeof(rule_set_id) IN ('text', 'null')), 
	CONSTRAINT ck_check_schedules_dataset_id CHECK (typeof(dataset_id) IN ('text', 'null')), 
	CONSTRAINT ck_check_schedules_schedule CHECK (typeof(schedule) IN ('text', 'null')), 
	CONSTRAINT ck_check_schedules_enabled CHECK (enabled IN (0, 1))
);

CREATE TABLE slot_prices (
	hour INTEGER NOT NULL, 
	price REAL, 
	PRIMARY KEY (hour), 
	CONSTRAINT ck_slot_prices_hour CHECK (typeof(hour) IN ('integer', 'null') AND hour >= 0 AND hour <= 23), 
	CONSTRAINT ck_slot_prices_price CHECK (typeof(price) IN ('integer', 'real', 'null') AND price BETWEEN 0 AND 1e+100)
);

CREATE TABLE workers (
	worker TEXT NOT NULL, 
	kind TEXT DEFAULT 'worker' NOT NULL, 
	status TEXT DEFAULT 'active' NOT NULL, 
	host TEXT, 
	pid INTEGER, 
	environment TEXT, 
	slots INTEGER DEFAULT 0 NOT NULL, 
	catalog_version TEXT, 
	goldsmith_version TEXT, 
	started_at TEXT, 
	heartbeat_at TEXT, 
	expires_at TEXT, 
	PRIMARY KEY (worker), 
	CONSTRAINT ck_workers_worker CHECK (typeof(worker) IN ('text', 'null')), 
	CONSTRAINT ck_workers_kind CHECK (kind IN ('service', 'worker')), 
	CONSTRAINT ck_workers_status CHECK (status IN ('active', 'draining', 'ended')), 
	CONSTRAINT ck_workers_host CHECK (typeof(host) IN ('text', 'null')), 
	CONSTRAINT ck_workers_pid CHECK (typeof(pid) IN ('integer', 'null')), 
	CONSTRAINT ck_workers_environment CHECK (typeof(environment) IN ('text', 'null')), 
	CONSTRAINT ck_workers_slots CHECK (typeof(slots) IN ('integer', 'null') AND slots >= 0), 
	CONSTRAINT ck_workers_catalog_version CHECK (typeof(catalog_version) IN ('text', 'null')), 
	CONSTRAINT ck_workers_goldsmith_version CHECK (typeof(goldsmith_version) IN ('text', 'null')), 
	CONSTRAINT ck_workers_started_at CHECK (started_at IS NULL OR (typeof(started_at) = 'text' AND (started_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR started_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(started_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(started_at, 12, 2) <> '24' AND julianday(started_at) IS NOT NULL AND date(substr(started_at, 1, 10), '+0 days') = substr(started_at, 1, 10) AND started_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_workers_heartbeat_at CHECK (heartbeat_at IS NULL OR (typeof(heartbeat_at) = 'text' AND (heartbeat_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR heartbeat_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(heartbeat_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(heartbeat_at, 12, 2) <> '24' AND julianday(heartbeat_at) IS NOT NULL AND date(substr(heartbeat_at, 1, 10), '+0 days') = substr(heartbeat_at, 1, 10) AND heartbeat_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_workers_expires_at CHECK (expires_at IS NULL OR (typeof(expires_at) = 'text' AND (expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(expires_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(expires_at, 12, 2) <> '24' AND julianday(expires_at) IS NOT NULL AND date(substr(expires_at, 1, 10), '+0 days') = substr(expires_at, 1, 10) AND expires_at BETWEEN '1000' AND '9999'))
);

CREATE TABLE schedule_fires (
	subject TEXT NOT NULL, 
	due_at TEXT NOT NULL, 
	schedule TEXT, 
	fired_at TEXT, 
	fired_by TEXT, 
	request_id TEXT, 
	because TEXT, 
	PRIMARY KEY (subject, due_at), 
	CONSTRAINT ck_schedule_fires_subject CHECK (typeof(subject) IN ('text', 'null')), 
	CONSTRAINT ck_schedule_fires_due_at CHECK (due_at IS NULL OR (typeof(due_at) = 'text' AND (due_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR due_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(due_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(due_at, 12, 2) <> '24' AND julianday(due_at) IS NOT NULL AND date(substr(due_at, 1, 10), '+0 days') = substr(due_at, 1, 10) AND due_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_schedule_fires_schedule CHECK (typeof(schedule) IN ('text', 'null')), 
	CONSTRAINT ck_schedule_fires_fired_at CHECK (fired_at IS NULL OR (typeof(fired_at) = 'text' AND (fired_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR fired_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(fired_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(fired_at, 12, 2) <> '24' AND julianday(fired_at) IS NOT NULL AND date(substr(fired_at, 1, 10), '+0 days') = substr(fired_at, 1, 10) AND fired_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_schedule_fires_fired_by CHECK (typeof(fired_by) IN ('text', 'null')), 
	CONSTRAINT ck_schedule_fires_request_id CHECK (typeof(request_id) IN ('text', 'null')), 
	CONSTRAINT ck_schedule_fires_because CHECK (typeof(because) IN ('text', 'null'))
);

CREATE TABLE waits (
	subject TEXT NOT NULL, 
	pipeline_id TEXT, 
	gate TEXT, 
	because TEXT, 
	since TEXT, 
	not_before TEXT, 
	PRIMARY KEY (subject), 
	CONSTRAINT ck_waits_subject CHECK (typeof(subject) IN ('text', 'null')), 
	CONSTRAINT ck_waits_pipeline_id CHECK (typeof(pipeline_id) IN ('text', 'null')), 
	CONSTRAINT ck_waits_gate CHECK (typeof(gate) IN ('text', 'null')), 
	CONSTRAINT ck_waits_because CHECK (typeof(because) IN ('text', 'null')), 
	CONSTRAINT ck_waits_since CHECK (since IS NULL OR (typeof(since) = 'text' AND (since GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR since GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(since, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(since, 12, 2) <> '24' AND julianday(since) IS NOT NULL AND date(substr(since, 1, 10), '+0 days') = substr(since, 1, 10) AND since BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_waits_not_before CHECK (not_before IS NULL OR (typeof(not_before) = 'text' AND (not_before GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR not_before GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(not_before, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(not_before, 12, 2) <> '24' AND julianday(not_before) IS NOT NULL AND date(substr(not_before, 1, 10), '+0 days') = substr(not_before, 1, 10) AND not_before BETWEEN '1000' AND '9999'))
);

UPDATE catalog_revision SET revision = revision + 1 WHERE EXISTS (
  SELECT 1 FROM pipelines WHERE criticality = 'normal' AND NOT EXISTS (
  SELECT 1 FROM changes c WHERE c.table_name = 'pipelines' AND c.operation = 'update'
    AND c.row_key = json_array(pipelines.pipeline_id)
    AND json_extract(c."before", '$.criticality') <> json_extract(c."after", '$.criticality')));

INSERT INTO changes
  (revision, at, actor, reason, table_name, row_key, operation, "before", "after")
SELECT (SELECT revision FROM catalog_revision), strftime('%Y-%m-%d %H:%M:%f000', 'now'),
  'goldsmith', 'criticality was never set: it is unset now', 'pipelines', json_array(pipeline_id),
  'update', last, json_set(last, '$.criticality', NULL)
FROM (SELECT pipeline_id, (SELECT c."after" FROM changes c WHERE c.table_name = 'pipelines'
    AND c.row_key = json_array(pipelines.pipeline_id) ORDER BY c.change_id DESC LIMIT 1) AS last
  FROM pipelines WHERE criticality = 'normal' AND NOT EXISTS (
  SELECT 1 FROM changes c WHERE c.table_name = 'pipelines' AND c.operation = 'update'
    AND c.row_key = json_array(pipelines.pipeline_id)
    AND json_extract(c."before", '$.criticality') <> json_extract(c."after", '$.criticality'))) AS untouched
WHERE last IS NOT NULL;

CREATE TABLE pipelines_0006 AS
SELECT pipeline_id, description, enabled, default_retry_id, created_at, CASE WHEN criticality = 'normal' AND NOT EXISTS (
  SELECT 1 FROM changes c WHERE c.table_name = 'pipelines' AND c.operation = 'update'
    AND c.row_key = json_array(pipelines.pipeline_id)
    AND json_extract(c."before", '$.criticality') <> json_extract(c."after", '$.criticality')) THEN NULL ELSE criticality END AS criticality, impact, schedule, owner, sla_minutes, tags, on_catalog_loss
FROM pipelines;

DROP TABLE pipelines;

CREATE TABLE pipelines (
	pipeline_id TEXT NOT NULL, 
	description TEXT, 
	enabled BOOLEAN DEFAULT 1 NOT NULL, 
	default_retry_id TEXT, 
	created_at TEXT DEFAULT CURRENT_TIMESTAMP, 
	criticality TEXT, 
	impact TEXT DEFAULT 'none' NOT NULL, 
	schedule TEXT, 
	owner TEXT, 
	sla_minutes INTEGER, 
	tags TEXT, 
	on_catalog_loss TEXT DEFAULT 'keep' NOT NULL, 
	missed_runs TEXT DEFAULT 'once' NOT NULL, 
	overlap TEXT DEFAULT 'queue' NOT NULL, 
	catch_up_limit INTEGER DEFAULT 100 NOT NULL, 
	run_window TEXT, 
	PRIMARY KEY (pipeline_id), 
	CONSTRAINT ck_pipelines_pipeline_id CHECK (typeof(pipeline_id) IN ('text', 'null')), 
	CONSTRAINT ck_pipelines_description CHECK (typeof(description) IN ('text', 'null')), 
	CONSTRAINT ck_pipelines_enabled CHECK (enabled IN (0, 1)), 
	CONSTRAINT ck_pipelines_default_retry_id CHECK (typeof(default_retry_id) IN ('text', 'null')), 
	CONSTRAINT ck_pipelines_created_at CHECK (created_at IS NULL OR (typeof(created_at) = 'text' AND (created_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR created_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(created_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(created_at, 12, 2) <> '24' AND julianday(created_at) IS NOT NULL AND date(substr(created_at, 1, 10), '+0 days') = substr(created_at, 1, 10) AND created_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_pipelines_criticality CHECK (criticality IN ('critical', 'normal', 'low')), 
	CONSTRAINT ck_pipelines_impact CHECK (impact IN ('revenue', 'customer', 'internal', 'none')), 
	CONSTRAINT ck_pipelines_schedule CHECK (typeof(schedule) IN ('text', 'null')), 
	CONSTRAINT ck_pipelines_owner CHECK (typeof(owner) IN ('text', 'null')), 
	CONSTRAINT ck_pipelines_sla_minutes CHECK (typeof(sla_minutes) IN ('integer', 'null') AND sla_minutes >= 0), 
	CONSTRAINT ck_pipelines_tags CHECK (typeof(tags) IN ('text', 'null')), 
	CONSTRAINT ck_pipelines_on_catalog_loss CHECK (on_catalog_loss IN ('keep', 'stop')), 
	CONSTRAINT ck_pipelines_missed_runs CHECK (missed_runs IN ('skip', 'once', 'all')), 
	CONSTRAINT ck_pipelines_overlap CHECK (overlap IN ('skip', 'queue', 'stop')), 
	CONSTRAINT ck_pipelines_catch_up_limit CHECK (typeof(catch_up_limit) IN ('integer', 'null') AND catch_up_limit >= 0), 
	CONSTRAINT ck_pipelines_run_window CHECK (typeof(run_window) IN ('text', 'null'))
);

INSERT INTO pipelines (pipeline_id, description, enabled, default_retry_id, created_at, criticality, impact, schedule, owner, sla_minutes, tags, on_catalog_loss)
SELECT pipeline_id, description, enabled, default_retry_id, created_at, criticality, impact, schedule, owner, sla_minutes, tags, on_catalog_loss FROM pipelines_0006;

DROP TABLE pipelines_0006;

CREATE TABLE throttles_0006 AS SELECT throttle_id, entity_type, entity_id, metric, threshold, burst, safe_threshold FROM throttles;

DROP TABLE throttles;

CREATE TABLE throttles (
	throttle_id TEXT NOT NULL, 
	entity_type TEXT, 
	entity_id TEXT, 
	metric TEXT, 
	threshold REAL, 
	burst REAL, 
	safe_threshold REAL, 
	PRIMARY KEY (throttle_id), 
	CONSTRAINT ck_throttles_throttle_id CHECK (typeof(throttle_id) IN ('text', 'null')), 
	CONSTRAINT ck_throttles_entity_type CHECK (entity_type IN ('source', 'target', 'group')), 
	CONSTRAINT ck_throttles_entity_id CHECK (typeof(entity_id) IN ('text', 'null')), 
	CONSTRAINT ck_throttles_metric CHECK (typeof(metric) IN ('text', 'null')), 
	CONSTRAINT ck_throttles_threshold CHECK (typeof(threshold) IN ('integer', 'real', 'null') AND threshold BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_throttles_burst CHECK (typeof(burst) IN ('integer', 'real', 'null') AND burst BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_throttles_safe_threshold CHECK (typeof(safe_threshold) IN ('integer', 'real', 'null') AND safe_threshold BETWEEN -1e+100 AND 1e+100)
);

INSERT INTO throttles (throttle_id, entity_type, entity_id, metric, threshold, burst, safe_threshold)
SELECT throttle_id, entity_type, entity_id, metric, threshold, burst, safe_threshold FROM throttles_0006;

DROP TABLE throttles_0006;

ALTER TABLE requests ADD COLUMN token INTEGER DEFAULT 0 NOT NULL CONSTRAINT ck_requests_token CHECK (typeof(token) IN ('integer', 'null'));

ALTER TABLE requests ADD COLUMN expires_at TEXT CONSTRAINT ck_requests_expires_at CHECK (expires_at IS NULL OR (typeof(expires_at) = 'text' AND (expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(expires_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(expires_at, 12, 2) <> '24' AND julianday(expires_at) IS NOT NULL AND date(substr(expires_at, 1, 10), '+0 days') = substr(expires_at, 1, 10) AND expires_at BETWEEN '1000' AND '9999'));

ALTER TABLE requests ADD COLUMN due_at TEXT CONSTRAINT ck_requests_due_at CHECK (due_at IS NULL OR (typeof(due_at) = 'text' AND (due_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR due_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(due_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(due_at, 12, 2) <> '24' AND julianday(due_at) IS NOT NULL AND date(substr(due_at, 1, 10), '+0 days') = substr(due_at, 1, 10) AND due_at BETWEEN '1000' AND '9999'));

ALTER TABLE requests ADD COLUMN backfill_id TEXT CONSTRAINT ck_requests_backfill_id CHECK (typeof(backfill_id) IN ('text', 'null'));

CREATE INDEX ix_requests_backfill ON requests (backfill_id);

DROP VIEW v_requests;

CREATE VIEW v_requests AS
SELECT q.request_id, q.selection, q.pipelines, q.options, q.status, q.because, q.asked_by, q.asked_at, q.not_before, q.attempt, q.after_run_id, q.run_ids, q.worker, q.ended_at, q.token, q.expires_at, q.due_at, q.backfill_id,
  q.status = 'waiting' AND (q.not_before IS NULL OR (julianday(q.not_before) <= julianday('now'))) AS is_due,
  round((julianday(coalesce(q.ended_at, 'now')) - julianday(q.asked_at)) * 86400.0, 3) AS age_sec
FROM requests q;

