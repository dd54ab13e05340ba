CREATE TABLE audit_log (
	event_id BIGSERIAL NOT NULL, 
	at TIMESTAMP WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP, 
	kind TEXT, 
	pipeline_id TEXT, 
	stage_order BIGINT, 
	status TEXT, 
	started_at TIMESTAMP WITH TIME ZONE, 
	ended_at TIMESTAMP WITH TIME ZONE, 
	error_code TEXT, 
	error_message TEXT, 
	resolution TEXT, 
	request_id TEXT, 
	run_id TEXT, 
	stage_run_id TEXT, 
	attempt BIGINT, 
	actor TEXT, 
	facts JSONB, 
	PRIMARY KEY (event_id), 
	CONSTRAINT ck_audit_log_at CHECK (at >= '1000-01-01 00:00:00+00:00' AND at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_audit_log_started_at CHECK (started_at >= '1000-01-01 00:00:00+00:00' AND started_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_audit_log_ended_at CHECK (ended_at >= '1000-01-01 00:00:00+00:00' AND ended_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_audit_log_facts CHECK (jsonb_typeof(facts) = 'object')
);

CREATE INDEX ix_audit_log_pipeline ON audit_log (pipeline_id, event_id);

CREATE INDEX ix_audit_log_request ON audit_log (request_id, event_id);

CREATE INDEX ix_audit_log_run ON audit_log (run_id, event_id);

CREATE TABLE requests (
	request_id TEXT NOT NULL, 
	selection JSONB, 
	pipelines JSONB, 
	options JSONB, 
	status TEXT DEFAULT 'waiting' NOT NULL, 
	because TEXT, 
	asked_by TEXT, 
	asked_at TIMESTAMP WITH TIME ZONE, 
	not_before TIMESTAMP WITH TIME ZONE, 
	attempt BIGINT DEFAULT 1 NOT NULL, 
	after_run_id TEXT, 
	run_ids JSONB, 
	worker TEXT, 
	ended_at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (request_id), 
	CONSTRAINT ck_requests_selection CHECK (jsonb_typeof(selection) = 'array'), 
	CONSTRAINT ck_requests_pipelines CHECK (jsonb_typeof(pipelines) = 'array'), 
	CONSTRAINT ck_requests_options CHECK (jsonb_typeof(options) = 'object'), 
	CONSTRAINT ck_requests_status CHECK (status IN ('waiting', 'running', 'done', 'failed', 'stopped', 'cancelled')), 
	CONSTRAINT ck_requests_asked_at CHECK (asked_at >= '1000-01-01 00:00:00+00:00' AND asked_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_requests_not_before CHECK (not_before >= '1000-01-01 00:00:00+00:00' AND not_before < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_requests_run_ids CHECK (jsonb_typeof(run_ids) = 'array'), 
	CONSTRAINT ck_requests_ended_at CHECK (ended_at >= '1000-01-01 00:00:00+00:00' AND ended_at < '9999-01-01 00:00:00+00:00')
);

CREATE INDEX ix_requests_due ON requests (status, not_before);

CREATE TABLE runs (
	run_id TEXT NOT NULL, 
	request_id TEXT, 
	pipeline_id TEXT, 
	status TEXT DEFAULT 'running' NOT NULL, 
	because TEXT, 
	asked_by TEXT, 
	environment TEXT, 
	catalog_revision BIGINT, 
	started_at TIMESTAMP WITH TIME ZONE, 
	ended_at TIMESTAMP WITH TIME ZONE, 
	error_code TEXT, 
	error_message TEXT, 
	worker TEXT, 
	PRIMARY KEY (run_id), 
	CONSTRAINT ck_runs_status CHECK (status IN ('waiting', 'running', 'succeeded', 'skipped', 'failed', 'stopped', 'blocked', 'interrupted')), 
	CONSTRAINT ck_runs_started_at CHECK (started_at >= '1000-01-01 00:00:00+00:00' AND started_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_runs_ended_at CHECK (ended_at >= '1000-01-01 00:00:00+00:00' AND ended_at < '9999-01-01 00:00:00+00:00')
);

CREATE INDEX ix_runs_pipeline ON runs (pipeline_id, started_at);

CREATE INDEX ix_runs_status ON runs (status);

CREATE TABLE stage_runs (
	stage_run_id TEXT NOT NULL, 
	run_id TEXT, 
	pipeline_id TEXT, 
	stage_order BIGINT, 
	stage_name TEXT, 
	target_id TEXT, 
	attempt BIGINT DEFAULT 1 NOT NULL, 
	status TEXT DEFAULT 'waiting' NOT NULL, 
	step TEXT, 
	because TEXT, 
	started_at TIMESTAMP WITH TIME ZONE, 
	ended_at TIMESTAMP WITH TIME ZONE, 
	rows_read BIGINT, 
	rows_written BIGINT, 
	rows_quarantined BIGINT, 
	rows_dropped BIGINT, 
	bytes_read BIGINT, 
	bytes_written BIGINT, 
	snapshot TEXT, 
	definition TEXT, 
	token BIGINT, 
	error_code TEXT, 
	error_message TEXT, 
	facts JSONB, 
	PRIMARY KEY (stage_run_id), 
	CONSTRAINT ck_stage_runs_status CHECK (status IN ('waiting', 'running', 'succeeded', 'skipped', 'failed', 'stopped', 'blocked', 'interrupted')), 
	CONSTRAINT ck_stage_runs_started_at CHECK (started_at >= '1000-01-01 00:00:00+00:00' AND started_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_stage_runs_ended_at CHECK (ended_at >= '1000-01-01 00:00:00+00:00' AND ended_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_stage_runs_facts CHECK (jsonb_typeof(facts) = 'object')
);

CREATE INDEX ix_stage_runs_run ON stage_runs (run_id);

CREATE INDEX ix_stage_runs_stage ON stage_runs (pipeline_id, stage_order, started_at);

CREATE INDEX ix_stage_runs_status ON stage_runs (status);

CREATE TABLE expectations (
	pipeline_id TEXT NOT NULL, 
	stage_order BIGINT NOT NULL, 
	rows_written BIGINT, 
	bytes_written BIGINT, 
	seconds DOUBLE PRECISION, 
	from_runs BIGINT DEFAULT 0 NOT NULL, 
	PRIMARY KEY (pipeline_id, stage_order), 
	CONSTRAINT ck_expectations_seconds CHECK (seconds BETWEEN -1e+100 AND 1e+100)
);

CREATE TABLE leases (
	resource TEXT NOT NULL, 
	token BIGINT DEFAULT 0 NOT NULL, 
	owner TEXT, 
	host TEXT, 
	pid BIGINT, 
	run_id TEXT, 
	stage_run_id TEXT, 
	acquired_at TIMESTAMP WITH TIME ZONE, 
	expires_at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (resource), 
	CONSTRAINT ck_leases_acquired_at CHECK (acquired_at >= '1000-01-01 00:00:00+00:00' AND acquired_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_leases_expires_at CHECK (expires_at >= '1000-01-01 00:00:00+00:00' AND expires_at < '9999-01-01 00:00:00+00:00')
);

CREATE INDEX ix_leases_owner ON leases (owner);

CREATE TABLE retention_pass (
	transaction_id BIGINT NOT NULL, 
	older_than TIMESTAMP WITH TIME ZONE NOT NULL, 
	PRIMARY KEY (transaction_id), 
	CONSTRAINT ck_retention_pass_older_than CHECK (older_than >= '1000-01-01 00:00:00+00:00' AND older_than < '9999-01-01 00:00:00+00:00')
);

CREATE TABLE verdicts (
	stage_run_id TEXT NOT NULL, 
	place BIGINT NOT NULL, 
	run_id TEXT, 
	pipeline_id TEXT, 
	stage_order BIGINT, 
	dataset_id TEXT, 
	rule_set_id TEXT, 
	check_name TEXT, 
	settings JSONB, 
	severity TEXT, 
	on_fail TEXT, 
	passed BOOLEAN DEFAULT false NOT NULL, 
	broken BIGINT, 
	observed TEXT, 
	expected TEXT, 
	message TEXT, 
	sample JSONB, 
	duration_ms DOUBLE PRECISION, 
	at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (stage_run_id, place), 
	CONSTRAINT ck_verdicts_settings CHECK (jsonb_typeof(settings) = 'object'), 
	CONSTRAINT ck_verdicts_sample CHECK (jsonb_typeof(sample) = 'array'), 
	CONSTRAINT ck_verdicts_duration_ms CHECK (duration_ms BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_verdicts_at CHECK (at >= '1000-01-01 00:00:00+00:00' AND at < '9999-01-01 00:00:00+00:00')
);

CREATE INDEX ix_verdicts_dataset ON verdicts (dataset_id, check_name, at);

CREATE TABLE input_files (
	consumer TEXT NOT NULL, 
	dataset_id TEXT NOT NULL, 
	path TEXT NOT NULL, 
	stage_run_id TEXT NOT NULL, 
	size BIGINT, 
	etag TEXT, 
	modified_at TIMESTAMP WITH TIME ZONE, 
	counted BOOLEAN DEFAULT false NOT NULL, 
	PRIMARY KEY (consumer, dataset_id, path, stage_run_id), 
	CONSTRAINT ck_input_files_modified_at CHECK (modified_at >= '1000-01-01 00:00:00+00:00' AND modified_at < '9999-01-01 00:00:00+00:00')
);

CREATE TABLE input_snapshots (
	consumer TEXT NOT NULL, 
	dataset_id TEXT NOT NULL, 
	stage_run_id TEXT NOT NULL, 
	snapshot TEXT, 
	at TIMESTAMP WITH TIME ZONE, 
	counted BOOLEAN DEFAULT false NOT NULL, 
	PRIMARY KEY (consumer, dataset_id, stage_run_id), 
	CONSTRAINT ck_input_snapshots_at CHECK (at >= '1000-01-01 00:00:00+00:00' AND at < '9999-01-01 00:00:00+00:00')
);

CREATE TABLE kept_schemas (
	dataset_id TEXT NOT NULL, 
	schema_json TEXT, 
	inferred_at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (dataset_id), 
	CONSTRAINT ck_kept_schemas_inferred_at CHECK (inferred_at >= '1000-01-01 00:00:00+00:00' AND inferred_at < '9999-01-01 00:00:00+00:00')
);

CREATE TABLE sql_facts (
	text_hash TEXT NOT NULL, 
	facts JSONB, 
	PRIMARY KEY (text_hash), 
	CONSTRAINT ck_sql_facts_facts CHECK (jsonb_typeof(facts) = 'object')
);

CREATE FUNCTION goldsmith_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF EXISTS (SELECT 1 FROM retention_pass
               WHERE transaction_id = txid_current() AND OLD.at < older_than) THEN
      RETURN OLD;
    END IF;
    RAISE EXCEPTION USING MESSAGE = 'audit_log is append-only: events are forgotten by retention alone', ERRCODE = 'restrict_violation';
  ELSIF TG_OP = 'TRUNCATE' THEN
    RAISE EXCEPTION USING MESSAGE = 'audit_log is append-only: events are forgotten by retention alone', ERRCODE = 'restrict_violation';
  END IF;
  RAISE EXCEPTION USING MESSAGE = 'audit_log is append-only: an event is never changed',
    ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log FOR EACH ROW EXECUTE FUNCTION goldsmith_append_only();

CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION goldsmith_append_only();

CREATE VIEW v_runs AS
SELECT r.run_id, r.request_id, r.pipeline_id, r.status, r.because, r.asked_by, r.environment, r.catalog_revision, r.started_at, r.ended_at, r.error_code, r.error_message, r.worker,
  CAST(round(extract(epoch FROM coalesce(r.ended_at, clock_timestamp()) - r.started_at), 3) AS double precision) AS duration_sec,
  coalesce(s.stages, 0) AS stages,
  coalesce(s.succeeded, 0) AS stages_succeeded,
  coalesce(s.skipped, 0) AS stages_skipped,
  coalesce(s.failed, 0) AS stages_failed,
  coalesce(s.stopped, 0) AS stages_stopped,
  coalesce(s.blocked, 0) AS stages_blocked,
  coalesce(s.running, 0) AS stages_running,
  s.rows_read, s.rows_written, s.rows_quarantined, s.rows_dropped, s.bytes_read, s.bytes_written
FROM runs r
LEFT JOIN (
  SELECT run_id,
    count(*) AS stages,
    sum(CASE WHEN status = 'succeeded' THEN 1 ELSE 0 END) AS succeeded,
    sum(CASE WHEN status = 'skipped' THEN 1 ELSE 0 END) AS skipped,
    sum(CASE WHEN status IN ('failed', 'interrupted') THEN 1 ELSE 0 END) AS failed,
    sum(CASE WHEN status = 'stopped' THEN 1 ELSE 0 END) AS stopped,
    sum(CASE WHEN status = 'blocked' THEN 1 ELSE 0 END) AS blocked,
    sum(CASE WHEN status IN ('running', 'waiting') THEN 1 ELSE 0 END) AS running,
    CAST(sum(rows_read) AS BIGINT) AS rows_read,
    CAST(sum(rows_written) AS BIGINT) AS rows_written,
    CAST(sum(rows_quarantined) AS BIGINT) AS rows_quarantined,
    CAST(sum(rows_dropped) AS BIGINT) AS rows_dropped,
    CAST(sum(bytes_read) AS BIGINT) AS bytes_read,
    CAST(sum(bytes_written) AS BIGINT) AS bytes_written
  FROM stage_runs GROUP BY run_id
) s ON s.run_id = r.run_id;

CREATE VIEW v_stage_runs AS
SELECT s.stage_run_id, s.run_id, s.pipeline_id, s.stage_order, s.stage_name, s.target_id, s.attempt, s.status, s.step, s.because, s.started_at, s.ended_at, s.rows_read, s.rows_written, s.rows_quarantined, s.rows_dropped, s.bytes_read, s.bytes_written, s.snapshot, s.definition, s.token, s.error_code, s.error_message, s.facts,
  CAST(round(extract(epoch FROM coalesce(s.ended_at, clock_timestamp()) - s.started_at), 3) AS double precision) AS duration_sec,
  d.layer, d.source_id, p.owner, p.criticality, r.environment, r.asked_by
FROM stage_runs s
LEFT JOIN runs r ON r.run_id = s.run_id
LEFT JOIN pipelines p ON p.pipeline_id = s.pipeline_id
LEFT JOIN stages d ON d.pipeline_id = s.pipeline_id AND d.stage_order = s.stage_order;

CREATE VIEW v_checks AS
SELECT v.stage_run_id, v.place, v.run_id, v.pipeline_id, v.stage_order, v.dataset_id, v.rule_set_id, v.check_name, v.settings, v.severity, v.on_fail, v.passed, v.broken, v.observed, v.expected, v.message, v.sample, v.duration_ms, v.at, s.stage_name, s.status AS stage_status, p.owner
FROM verdicts v
LEFT JOIN stage_runs s ON s.stage_run_id = v.stage_run_id
LEFT JOIN pipelines p ON p.pipeline_id = v.pipeline_id;

CREATE VIEW v_requests AS
SELECT q.request_id, q.selection, q.pipelines, q.options, q.status, q.because, q.asked_by, q.asked_at, q.not_before, q.attempt, q.after_run_id, q.run_ids, q.worker, q.ended_at,
  q.status = 'waiting' AND (q.not_before IS NULL OR (q.not_before <= clock_timestamp())) AS is_due,
  CAST(round(extract(epoch FROM coalesce(q.ended_at, clock_timestamp()) - q.asked_at), 3) AS double precision) AS age_sec
FROM requests q;

CREATE VIEW v_leases AS
SELECT l.resource, l.token, l.owner, l.host, l.pid, l.run_id, l.stage_run_id, l.acquired_at, l.expires_at,
  l.owner IS NOT NULL AND NOT (l.expires_at <= clock_timestamp()) AS held,
  CAST(round(extract(epoch FROM l.expires_at - clock_timestamp()), 3) AS double precision) AS left_sec,
  coalesce(s.pipeline_id, r.pipeline_id) AS pipeline_id,
  s.stage_order
FROM leases l
LEFT JOIN runs r ON r.run_id = l.run_id
LEFT JOIN stage_runs s ON s.stage_run_id = l.stage_run_id;

CREATE VIEW v_changes AS
SELECT change_id, revision, at, actor, reason, table_name, row_key, operation FROM changes;

CREATE VIEW v_stops AS
SELECT f.entity_type, f.entity_id, 'control_flags' AS set_in,
  coalesce(c.at, f.updated_at) AS since,
  coalesce(CASE WHEN c.actor <> 'direct' THEN c.actor END, f.updated_by, c.actor) AS who,
  coalesce(f.reason, c.reason) AS because,
  f.ends_at AS until
FROM control_flags f
LEFT JOIN changes c ON c.change_id = (
  SELECT max(x.change_id) FROM changes x
  WHERE x.table_name = 'control_flags' AND x.row_key = '[' || concat_ws(',', to_json(f.entity_type)::text, to_json(f.entity_id)::text, to_json(f.flag_name)::text) || ']'
    AND (x."after" ->> 'flag_value' = 'false')
    AND (x."before" IS NULL OR NOT (x."before" ->> 'flag_value' = 'false')))
WHERE f.flag_name = 'enabled' AND NOT f.flag_value
  AND (f.entity_type <> 'everything' OR f.entity_id = '*')
  AND (f.starts_at IS NULL OR (f.starts_at <= clock_timestamp()))
  AND (f.ends_at IS NULL OR NOT (f.ends_at <= clock_timestamp()))
UNION ALL
SELECT 'pipeline', p.pipeline_id, 'pipelines', c.at, c.actor, c.reason, NULL
FROM pipelines p
LEFT JOIN changes c ON c.change_id = (
  SELECT max(x.change_id) FROM changes x
  WHERE x.table_name = 'pipelines' AND x.row_key = '[' || concat_ws(',', to_json(p.pipeline_id)::text) || ']'
    AND (x."after" ->> 'enabled' = 'false')
    AND (x."before" IS NULL OR NOT (x."before" ->> 'enabled' = 'false')))
WHERE NOT p.enabled
UNION ALL
SELECT 'stage', s.pipeline_id || '-' || s.stage_order, 'stages', c.at, c.actor, c.reason, NULL
FROM stages s
LEFT JOIN changes c ON c.change_id = (
  SELECT max(x.change_id) FROM changes x
  WHERE x.table_name = 'stages' AND x.row_key = '[' || concat_ws(',', to_json(s.pipeline_id)::text, to_json(s.stage_order)::text) || ']'
    AND (x."after" ->> 'enabled' = 'false')
    AND (x."before" IS NULL OR NOT (x."before" ->> 'enabled' = 'false')))
WHERE NOT s.enabled;

CREATE VIEW v_pipelines AS
SELECT n.*,
  CASE
    WHEN NOT n.enabled THEN
      CASE WHEN n.running > 0 THEN 'being stopped by ' ELSE 'stopped by ' END
      || coalesce(n.stopped_by, 'somebody') || coalesce(': ' || n.stopped_because, '')
    WHEN n.running > 0 THEN 'running'
    WHEN n.waiting_because IS NOT NULL THEN 'waiting: ' || n.waiting_because
    WHEN n.last_status IS NULL THEN 'never ran'
    WHEN n.last_error_code IS NOT NULL THEN
      n.last_status || ': ' || n.last_error_code || coalesce(': ' || n.last_error_message, '')
    ELSE n.last_status
  END AS reason
FROM (
  SELECT p.pipeline_id, p.description, p.owner, p.criticality, p.impact, p.schedule,
    p.sla_minutes,
    p.enabled AND e.set_in IS NULL AND f.set_in IS NULL AS enabled,
    CASE WHEN e.set_in IS NOT NULL THEN e.who
         WHEN f.set_in IS NOT NULL THEN f.who ELSE r.who END AS stopped_by,
    CASE WHEN e.set_in IS NOT NULL THEN e.because
         WHEN f.set_in IS NOT NULL THEN f.because ELSE r.because END AS stopped_because,
    CASE WHEN e.set_in IS NOT NULL THEN e.since
         WHEN f.set_in IS NOT NULL THEN f.since ELSE r.since END AS stopped_since,
    CASE WHEN e.set_in IS NOT NULL THEN e.until
         WHEN f.set_in IS NOT NULL THEN f.until END AS stopped_until,
    (SELECT count(*) FROM runs x
      WHERE x.pipeline_id = p.pipeline_id AND x.status = 'running') AS running,
    (SELECT coalesce(q.because, 'its turn has not come') FROM requests q
      WHERE q.status = 'waiting' AND jsonb_exists(q.pipelines, p.pipeline_id)
      ORDER BY q.asked_at LIMIT 1) AS waiting_because,
    l.run_id AS last_run_id, l.status AS last_status,
    l.started_at AS last_started_at, l.ended_at AS last_ended_at,
    l.error_code AS last_error_code, l.error_message AS last_error_message,
    (SELECT x.ended_at FROM runs x
      WHERE x.pipeline_id = p.pipeline_id AND x.status = 'succeeded'
      ORDER BY x.started_at DESC LIMIT 1) AS last_success_at
  FROM pipelines p
  LEFT JOIN v_stops e ON e.entity_type = 'everything'
  LEFT JOIN v_stops f ON f.set_in = 'control_flags'
    AND f.entity_type = 'pipeline' AND f.entity_id = p.pipeline_id
  LEFT JOIN v_stops r ON r.set_in = 'pipelines' AND r.entity_id = p.pipeline_id
  LEFT JOIN runs l ON l.run_id = (
    SELECT x.run_id FROM runs x WHERE x.pipeline_id = p.pipeline_id
    ORDER BY x.started_at DESC, x.run_id DESC LIMIT 1)
) n;

CREATE VIEW v_status AS
SELECT 'running' AS part, 'pipeline:' || r.pipeline_id AS subject, r.started_at AS since,
  (SELECT coalesce(s.stage_name, 'stage ' || s.stage_order) || coalesce(': ' || s.step, '')
    FROM stage_runs s WHERE s.run_id = r.run_id AND s.status = 'running'
    ORDER BY s.started_at DESC LIMIT 1) AS because,
  r.asked_by AS who, NULL AS until, r.run_id AS id, r.worker
FROM runs r WHERE r.status = 'running'
UNION ALL
SELECT 'waiting', coalesce((SELECT string_agg(value, ', ') FROM jsonb_array_elements_text(q.selection) value), (SELECT string_agg(value, ', ') FROM jsonb_array_elements_text(q.pipelines) value), 'everything'), q.asked_at,
  q.because, q.asked_by, q.not_before, q.request_id, NULL
FROM requests q WHERE q.status = 'waiting'
UNION ALL
SELECT 'failed', 'pipeline:' || r.pipeline_id, r.ended_at,
  coalesce(r.error_code || coalesce(': ' || r.error_message, ''), r.because, r.status),
  r.asked_by, NULL, r.run_id, r.worker
FROM runs r
WHERE r.status IN ('failed', 'interrupted') AND NOT EXISTS (
  SELECT 1 FROM runs x WHERE x.pipeline_id = r.pipeline_id AND x.started_at > r.started_at
    AND x.status IN ('succeeded', 'skipped', 'failed', 'interrupted'))
UNION ALL
SELECT 'stopped', CASE WHEN t.entity_type = 'everything' THEN 'everything'
    ELSE t.entity_type || ':' || t.entity_id END,
  t.since, t.because, t.who, t.until, t.set_in, NULL
FROM v_stops t;

