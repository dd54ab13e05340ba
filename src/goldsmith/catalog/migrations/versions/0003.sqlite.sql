CREATE TABLE restores (
	restore_id TEXT NOT NULL, 
	dataset_id TEXT, 
	from_snapshot TEXT, 
	to_snapshot TEXT, 
	taken_back TEXT, 
	asked_by TEXT, 
	started_at TEXT, 
	ended_at TEXT, 
	done BOOLEAN DEFAULT 0 NOT NULL, 
	PRIMARY KEY (restore_id), 
	CONSTRAINT ck_restores_restore_id CHECK (typeof(restore_id) IN ('text', 'null')), 
	CONSTRAINT ck_restores_dataset_id CHECK (typeof(dataset_id) IN ('text', 'null')), 
	CONSTRAINT ck_restores_from_snapshot CHECK (typeof(from_snapshot) IN ('text', 'null')), 
	CONSTRAINT ck_restores_to_snapshot CHECK (typeof(to_snapshot) IN ('text', 'null')), 
	CONSTRAINT ck_restores_taken_back CHECK (taken_back IS NULL OR (typeof(taken_back) = 'text' AND json_valid(taken_back) AND json_type(taken_back) = 'array')), 
	CONSTRAINT ck_restores_asked_by CHECK (typeof(asked_by) IN ('text', 'null')), 
	CONSTRAINT ck_restores_started_at CHECK (started_at IS NULL OR (typeof(started_at) = 'text' AND (started_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR started_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(started_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(started_at, 12, 2) <> '24' AND julianday(started_at) IS NOT NULL AND date(substr(started_at, 1, 10), '+0 days') = substr(started_at, 1, 10) AND started_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_restores_ended_at CHECK (ended_at IS NULL OR (typeof(ended_at) = 'text' AND (ended_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR ended_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(ended_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(ended_at, 12, 2) <> '24' AND julianday(ended_at) IS NOT NULL AND date(substr(ended_at, 1, 10), '+0 days') = substr(ended_at, 1, 10) AND ended_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_restores_done CHECK (done IN (0, 1))
);

CREATE INDEX ix_restores_dataset ON restores (dataset_id, ended_at);

ALTER TABLE input_files ADD COLUMN superseded_by TEXT CONSTRAINT ck_input_files_superseded_by CHECK (typeof(superseded_by) IN ('text', 'null'));

ALTER TABLE input_snapshots ADD COLUMN superseded_by TEXT CONSTRAINT ck_input_snapshots_superseded_by CHECK (typeof(superseded_by) IN ('text', 'null'));

