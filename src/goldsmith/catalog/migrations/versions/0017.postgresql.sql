CREATE TABLE applications (
	name TEXT NOT NULL, 
	status TEXT DEFAULT 'ACTIVE' NOT NULL, 
	description TEXT, 
	upsert_keys TEXT, 
	retention_days BIGINT, 
	PRIMARY KEY (name), 
	CONSTRAINT ck_applications_status CHECK (status IN ('ACTIVE', 'WITHDRAWN')), 
	CONSTRAINT ck_applications_retention_days CHECK (retention_days >= 1)
);

CREATE TABLE lakehouse_loads (
	load_id TEXT NOT NULL, 
	tenant_id TEXT, 
	table_name TEXT, 
	mode TEXT DEFAULT 'APPEND' NOT NULL, 
	patterns JSONB, 
	file_keys JSONB, 
	files JSONB, 
	content_hash TEXT, 
	status TEXT DEFAULT 'ACCEPTED' NOT NULL, 
	problem TEXT, 
	matched_files BIGINT, 
	rows_loaded BIGINT, 
	snapshot_id TEXT, 
	attempt_count BIGINT DEFAULT 0 NOT NULL, 
	owner TEXT, 
	owned_until TIMESTAMP WITH TIME ZONE, 
	submitted_at TIMESTAMP WITH TIME ZONE, 
	started_at TIMESTAMP WITH TIME ZONE, 
	ended_at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (load_id), 
	CONSTRAINT ck_lakehouse_loads_mode CHECK (mode IN ('APPEND', 'UPSERT')), 
	CONSTRAINT ck_lakehouse_loads_patterns CHECK (jsonb_typeof(patterns) = 'array'), 
	CONSTRAINT ck_lakehouse_loads_file_keys CHECK (jsonb_typeof(file_keys) = 'array'), 
	CONSTRAINT ck_lakehouse_loads_files CHECK (jsonb_typeof(files) = 'array'), 
	CONSTRAINT ck_lakehouse_loads_status CHECK (status IN ('ACCEPTED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELED')), 
	CONSTRAINT ck_lakehouse_loads_owned_until CHECK (owned_until >= '1000-01-01 00:00:00+00:00' AND owned_until < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_lakehouse_loads_submitted_at CHECK (submitted_at >= '1000-01-01 00:00:00+00:00' AND submitted_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_lakehouse_loads_started_at CHECK (started_at >= '1000-01-01 00:00:00+00:00' AND started_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_lakehouse_loads_ended_at CHECK (ended_at >= '1000-01-01 00:00:00+00:00' AND ended_at < '9999-01-01 00:00:00+00:00')
);

CREATE UNIQUE INDEX ix_lakehouse_loads_content ON lakehouse_loads (content_hash);

CREATE INDEX ix_lakehouse_loads_due ON lakehouse_loads (status, submitted_at);

