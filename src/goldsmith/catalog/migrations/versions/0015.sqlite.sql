CREATE TABLE cut_sources (
	dataset_id TEXT NOT NULL, 
	environment TEXT NOT NULL, 
	drill_id TEXT, 
	cut_at TEXT, 
	ends_at TEXT, 
	actor TEXT, 
	PRIMARY KEY (dataset_id, environment), 
	CONSTRAINT ck_cut_sources_dataset_id CHECK (typeof(dataset_id) IN ('text', 'null')), 
	CONSTRAINT ck_cut_sources_environment CHECK (typeof(environment) IN ('text', 'null')), 
	CONSTRAINT ck_cut_sources_drill_id CHECK (typeof(drill_id) IN ('text', 'null')), 
	CONSTRAINT ck_cut_sources_cut_at CHECK (cut_at IS NULL OR (typeof(cut_at) = 'text' AND (cut_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR cut_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(cut_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(cut_at, 12, 2) <> '24' AND julianday(cut_at) IS NOT NULL AND date(substr(cut_at, 1, 10), '+0 days') = substr(cut_at, 1, 10) AND cut_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_cut_sources_ends_at CHECK (ends_at IS NULL OR (typeof(ends_at) = 'text' AND (ends_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR ends_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(ends_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(ends_at, 12, 2) <> '24' AND julianday(ends_at) IS NOT NULL AND date(substr(ends_at, 1, 10), '+0 days') = substr(ends_at, 1, 10) AND ends_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_cut_sources_actor CHECK (typeof(actor) IN ('text', 'null'))
);

CREATE TABLE computed_paths (
	dataset_id TEXT NOT NULL, 
	path_order INTEGER NOT NULL, 
	path_sequence TEXT, 
	cost REAL, 
	latency_sec REAL, 
	can_run BOOLEAN DEFAULT 1 NOT NULL, 
	computed_at TEXT, 
	revision INTEGER, 
	PRIMARY KEY (dataset_id, path_order), 
	CONSTRAINT ck_computed_paths_dataset_id CHECK (typeof(dataset_id) IN ('text', 'null')), 
	CONSTRAINT ck_computed_paths_path_order CHECK (typeof(path_order) IN ('integer', 'null')), 
	CONSTRAINT ck_computed_paths_path_sequence CHECK (typeof(path_sequence) IN ('text', 'null')), 
	CONSTRAINT ck_computed_paths_cost CHECK (typeof(cost) IN ('integer', 'real', 'null') AND cost BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_computed_paths_latency_sec CHECK (typeof(latency_sec) IN ('integer', 'real', 'null') AND latency_sec BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_computed_paths_can_run CHECK (can_run IN (0, 1)), 
	CONSTRAINT ck_computed_paths_computed_at CHECK (computed_at IS NULL OR (typeof(computed_at) = 'text' AND (computed_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR computed_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(computed_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(computed_at, 12, 2) <> '24' AND julianday(computed_at) IS NOT NULL AND date(substr(computed_at, 1, 10), '+0 days') = substr(computed_at, 1, 10) AND computed_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_computed_paths_revision CHECK (typeof(revision) IN ('integer', 'null'))
);

CREATE TABLE computed_revisions (
	computed_table TEXT NOT NULL, 
	revision INTEGER, 
	computed_at TEXT, 
	PRIMARY KEY (computed_table), 
	CONSTRAINT ck_computed_revisions_computed_table CHECK (typeof(computed_table) IN ('text', 'null')), 
	CONSTRAINT ck_computed_revisions_revision CHECK (typeof(revision) IN ('integer', 'null')), 
	CONSTRAINT ck_computed_revisions_computed_at CHECK (computed_at IS NULL OR (typeof(computed_at) = 'text' AND (computed_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR computed_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(computed_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(computed_at, 12, 2) <> '24' AND julianday(computed_at) IS NOT NULL AND date(substr(computed_at, 1, 10), '+0 days') = substr(computed_at, 1, 10) AND computed_at BETWEEN '1000' AND '9999'))
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

UPDATE healing_actions SET action_script = 'reroute' WHERE error_code = 'SourceUnreachable' AND action_script = 'retry_later' AND is_default = 1;

