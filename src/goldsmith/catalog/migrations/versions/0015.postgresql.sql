CREATE TABLE cut_sources (
	dataset_id TEXT NOT NULL, 
	environment TEXT NOT NULL, 
	drill_id TEXT, 
	cut_at TIMESTAMP WITH TIME ZONE, 
	ends_at TIMESTAMP WITH TIME ZONE, 
	actor TEXT, 
	PRIMARY KEY (dataset_id, environment), 
	CONSTRAINT ck_cut_sources_cut_at CHECK (cut_at >= '1000-01-01 00:00:00+00:00' AND cut_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_cut_sources_ends_at CHECK (ends_at >= '1000-01-01 00:00:00+00:00' AND ends_at < '9999-01-01 00:00:00+00:00')
);

CREATE TABLE computed_paths (
	dataset_id TEXT NOT NULL, 
	path_order BIGINT NOT NULL, 
	path_sequence TEXT, 
	cost DOUBLE PRECISION, 
	latency_sec DOUBLE PRECISION, 
	can_run BOOLEAN DEFAULT true NOT NULL, 
	computed_at TIMESTAMP WITH TIME ZONE, 
	revision BIGINT, 
	PRIMARY KEY (dataset_id, path_order), 
	CONSTRAINT ck_computed_paths_cost CHECK (cost BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_computed_paths_latency_sec CHECK (latency_sec BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_computed_paths_computed_at CHECK (computed_at >= '1000-01-01 00:00:00+00:00' AND computed_at < '9999-01-01 00:00:00+00:00')
);

CREATE TABLE computed_revisions (
	computed_table TEXT NOT NULL, 
	revision BIGINT, 
	computed_at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (computed_table), 
	CONSTRAINT ck_computed_revisions_computed_at CHECK (computed_at >= '1000-01-01 00:00:00+00:00' AND computed_at < '9999-01-01 00:00:00+00:00')
);

CREATE VIEW v_recovery_paths AS
SELECT w.dataset_id,
  row_number() OVER (PARTITION BY w.dataset_id ORDER BY w.origin DESC, w.path_order) AS preference,
  w.origin, w.path_order, w.path_sequence, w.cost, w.latency_sec, w.can_run, w.computed_at,
  w.revision
FROM (
  SELECT dataset_id, 'written' AS origin, path_order, path_sequence, cost,
    CAST(NULL AS double precision) AS latency_sec, CAST(NULL AS boolean) AS can_run,
    computed_at, revision
  FROM dataset_recovery_paths
  UNION ALL
  SELECT c.dataset_id, 'computed' AS origin, c.path_order, c.path_sequence, c.cost,
    c.latency_sec, c.can_run, c.computed_at, c.revision
  FROM computed_paths c
  WHERE NOT EXISTS (
    SELECT 1 FROM dataset_recovery_paths d WHERE d.dataset_id = c.dataset_id
      AND replace(d.path_sequence, ' ', '') = c.path_sequence)
) w;

UPDATE healing_actions SET action_script = 'reroute' WHERE error_code = 'SourceUnreachable' AND action_script = 'retry_later' AND is_default = true;

