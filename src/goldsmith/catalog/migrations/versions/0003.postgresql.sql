CREATE TABLE restores (
	restore_id TEXT NOT NULL, 
	dataset_id TEXT, 
	from_snapshot TEXT, 
	to_snapshot TEXT, 
	taken_back JSONB, 
	asked_by TEXT, 
	started_at TIMESTAMP WITH TIME ZONE, 
	ended_at TIMESTAMP WITH TIME ZONE, 
	done BOOLEAN DEFAULT false NOT NULL, 
	PRIMARY KEY (restore_id), 
	CONSTRAINT ck_restores_taken_back CHECK (jsonb_typeof(taken_back) = 'array'), 
	CONSTRAINT ck_restores_started_at CHECK (started_at >= '1000-01-01 00:00:00+00:00' AND started_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_restores_ended_at CHECK (ended_at >= '1000-01-01 00:00:00+00:00' AND ended_at < '9999-01-01 00:00:00+00:00')
);

CREATE INDEX ix_restores_dataset ON restores (dataset_id, ended_at);

ALTER TABLE input_files ADD COLUMN superseded_by TEXT;

ALTER TABLE input_snapshots ADD COLUMN superseded_by TEXT;

