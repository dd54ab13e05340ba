CREATE TABLE lineage_evidence (
	from_dataset_id TEXT NOT NULL, 
	to_dataset_id TEXT NOT NULL, 
	origin TEXT NOT NULL, 
	seen_at TEXT, 
	expires_at TEXT, 
	seen_by TEXT, 
	PRIMARY KEY (from_dataset_id, to_dataset_id, origin), 
	CONSTRAINT ck_lineage_evidence_from_dataset_id CHECK (typeof(from_dataset_id) IN ('text', 'null')), 
	CONSTRAINT ck_lineage_evidence_to_dataset_id CHECK (typeof(to_dataset_id) IN ('text', 'null')), 
	CONSTRAINT ck_lineage_evidence_origin CHECK (typeof(origin) IN ('text', 'null')), 
	CONSTRAINT ck_lineage_evidence_seen_at CHECK (seen_at IS NULL OR (typeof(seen_at) = 'text' AND (seen_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR seen_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(seen_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(seen_at, 12, 2) <> '24' AND julianday(seen_at) IS NOT NULL AND date(substr(seen_at, 1, 10), '+0 days') = substr(seen_at, 1, 10) AND seen_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_lineage_evidence_expires_at CHECK (expires_at IS NULL OR (typeof(expires_at) = 'text' AND (expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(expires_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(expires_at, 12, 2) <> '24' AND julianday(expires_at) IS NOT NULL AND date(substr(expires_at, 1, 10), '+0 days') = substr(expires_at, 1, 10) AND expires_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_lineage_evidence_seen_by CHECK (typeof(seen_by) IN ('text', 'null'))
);

CREATE INDEX ix_lineage_evidence_expires ON lineage_evidence (expires_at);

CREATE INDEX ix_lineage_evidence_to ON lineage_evidence (to_dataset_id);

CREATE TABLE computed_recovery_paths (
	dataset_id TEXT NOT NULL, 
	path_order INTEGER NOT NULL, 
	path_sequence TEXT, 
	cost REAL, 
	latency_sec REAL, 
	computed_at TEXT, 
	revision INTEGER, 
	PRIMARY KEY (dataset_id, path_order), 
	CONSTRAINT ck_computed_recovery_paths_dataset_id CHECK (typeof(dataset_id) IN ('text', 'null')), 
	CONSTRAINT ck_computed_recovery_paths_path_order CHECK (typeof(path_order) IN ('integer', 'null')), 
	CONSTRAINT ck_computed_recovery_paths_path_sequence CHECK (typeof(path_sequence) IN ('text', 'null')), 
	CONSTRAINT ck_computed_recovery_paths_cost CHECK (typeof(cost) IN ('integer', 'real', 'null') AND cost BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_computed_recovery_paths_latency_sec CHECK (typeof(latency_sec) IN ('integer', 'real', 'null') AND latency_sec BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_computed_recovery_paths_computed_at CHECK (computed_at IS NULL OR (typeof(computed_at) = 'text' AND (computed_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR computed_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(computed_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(computed_at, 12, 2) <> '24' AND julianday(computed_at) IS NOT NULL AND date(substr(computed_at, 1, 10), '+0 days') = substr(computed_at, 1, 10) AND computed_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_computed_recovery_paths_revision CHECK (typeof(revision) IN ('integer', 'null'))
);

CREATE VIEW v_recovery_paths AS
SELECT dataset_id,
  row_number() OVER (PARTITION BY dataset_id ORDER BY rank, path_order) AS preference,
  CASE rank WHEN 0 THEN 'people' ELSE 'computed' END AS written_by,
  path_order, path_sequence, cost
FROM (
  SELECT dataset_id, path_order, path_sequence, cost, 0 AS rank FROM dataset_recovery_paths
  UNION ALL
  SELECT c.dataset_id, c.path_order, c.path_sequence, c.cost, 1 AS rank
  FROM computed_recovery_paths c
  WHERE NOT EXISTS (
    SELECT 1 FROM dataset_recovery_paths d
    WHERE d.dataset_id = c.dataset_id AND replace(d.path_sequence, ' ', '') = c.path_sequence)
) ways;

