CREATE TABLE stage_ledgers (
	ledger_id TEXT NOT NULL, 
	pipeline_id TEXT, 
	stage_order INTEGER, 
	stage_name TEXT, 
	source_id TEXT, 
	target_id TEXT, 
	table_name TEXT, 
	table_uuid TEXT, 
	location TEXT, 
	definition TEXT, 
	published_by TEXT, 
	PRIMARY KEY (ledger_id), 
	CONSTRAINT ck_stage_ledgers_ledger_id CHECK (typeof(ledger_id) IN ('text', 'null')), 
	CONSTRAINT ck_stage_ledgers_pipeline_id CHECK (typeof(pipeline_id) IN ('text', 'null')), 
	CONSTRAINT ck_stage_ledgers_stage_order CHECK (typeof(stage_order) IN ('integer', 'null')), 
	CONSTRAINT ck_stage_ledgers_stage_name CHECK (typeof(stage_name) IN ('text', 'null')), 
	CONSTRAINT ck_stage_ledgers_source_id CHECK (typeof(source_id) IN ('text', 'null')), 
	CONSTRAINT ck_stage_ledgers_target_id CHECK (typeof(target_id) IN ('text', 'null')), 
	CONSTRAINT ck_stage_ledgers_table_name CHECK (typeof(table_name) IN ('text', 'null')), 
	CONSTRAINT ck_stage_ledgers_table_uuid CHECK (typeof(table_uuid) IN ('text', 'null')), 
	CONSTRAINT ck_stage_ledgers_location CHECK (typeof(location) IN ('text', 'null')), 
	CONSTRAINT ck_stage_ledgers_definition CHECK (typeof(definition) IN ('text', 'null')), 
	CONSTRAINT ck_stage_ledgers_published_by CHECK (typeof(published_by) IN ('text', 'null'))
);

CREATE INDEX ix_stage_ledgers_stage ON stage_ledgers (pipeline_id, stage_order);

CREATE INDEX ix_stage_ledgers_target ON stage_ledgers (target_id);

ALTER TABLE input_files ADD COLUMN token INTEGER CONSTRAINT ck_input_files_token CHECK (typeof(token) IN ('integer', 'null'));

ALTER TABLE input_snapshots ADD COLUMN token INTEGER CONSTRAINT ck_input_snapshots_token CHECK (typeof(token) IN ('integer', 'null'));

UPDATE input_files SET token = (
  SELECT s.token FROM stage_runs s WHERE s.stage_run_id = input_files.stage_run_id);

UPDATE input_snapshots SET token = (
  SELECT s.token FROM stage_runs s WHERE s.stage_run_id = input_snapshots.stage_run_id);

INSERT INTO stage_ledgers
  (ledger_id, pipeline_id, stage_order, stage_name, target_id, definition, published_by)
SELECT s.pipeline_id || '-' || s.stage_order, s.pipeline_id, s.stage_order, s.stage_name,
  s.target_id, s.definition, s.stage_run_id
FROM stage_runs s
WHERE s.status = 'succeeded' AND s.pipeline_id IS NOT NULL AND s.stage_order IS NOT NULL
  AND s.stage_run_id = (
    SELECT x.stage_run_id FROM stage_runs x
    WHERE x.pipeline_id = s.pipeline_id AND x.stage_order = s.stage_order
      AND x.status = 'succeeded'
    ORDER BY x.started_at DESC, x.stage_run_id DESC LIMIT 1);

UPDATE stage_ledgers SET source_id = (
  SELECT s.source_id FROM stages s
  WHERE s.pipeline_id = stage_ledgers.pipeline_id AND s.stage_order = stage_ledgers.stage_order
    AND s.target_id = stage_ledgers.target_id);

