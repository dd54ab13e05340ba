CREATE TABLE lineage_evidence (
	from_dataset_id TEXT NOT NULL, 
	to_dataset_id TEXT NOT NULL, 
	origin TEXT NOT NULL, 
	seen_at TIMESTAMP WITH TIME ZONE, 
	expires_at TIMESTAMP WITH TIME ZONE, 
	seen_by TEXT, 
	PRIMARY KEY (from_dataset_id, to_dataset_id, origin), 
	CONSTRAINT ck_lineage_evidence_seen_at CHECK (seen_at >= '1000-01-01 00:00:00+00:00' AND seen_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_lineage_evidence_expires_at CHECK (expires_at >= '1000-01-01 00:00:00+00:00' AND expires_at < '9999-01-01 00:00:00+00:00')
);

CREATE INDEX ix_lineage_evidence_expires ON lineage_evidence (expires_at);

CREATE INDEX ix_lineage_evidence_to ON lineage_evidence (to_dataset_id);

CREATE TABLE computed_recovery_paths (
	dataset_id TEXT NOT NULL, 
	path_order BIGINT NOT NULL, 
	path_sequence TEXT, 
	cost DOUBLE PRECISION, 
	latency_sec DOUBLE PRECISION, 
	computed_at TIMESTAMP WITH TIME ZONE, 
	revision BIGINT, 
	PRIMARY KEY (dataset_id, path_order), 
	CONSTRAINT ck_computed_recovery_paths_cost CHECK (cost BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_computed_recovery_paths_latency_sec CHECK (latency_sec BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_computed_recovery_paths_computed_at CHECK (computed_at >= '1000-01-01 00:00:00+00:00' AND computed_at < '9999-01-01 00:00:00+00:00')
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

