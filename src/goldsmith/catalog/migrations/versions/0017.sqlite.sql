CREATE TABLE applications (
	name TEXT NOT NULL, 
	status TEXT DEFAULT 'ACTIVE' NOT NULL, 
	description TEXT, 
	upsert_keys TEXT, 
	retention_days INTEGER, 
	PRIMARY KEY (name), 
	CONSTRAINT ck_applications_name CHECK (typeof(name) IN ('text', 'null')), 
	CONSTRAINT ck_applications_status CHECK (status IN ('ACTIVE', 'WITHDRAWN')), 
	CONSTRAINT ck_applications_description CHECK (typeof(description) IN ('text', 'null')), 
	CONSTRAINT ck_applications_upsert_keys CHECK (typeof(upsert_keys) IN ('text', 'null')), 
	CONSTRAINT ck_applications_retention_days CHECK (typeof(retention_days) IN ('integer', 'null') AND retention_days >= 1)
);

CREATE TABLE lakehouse_loads (
	load_id TEXT NOT NULL, 
	tenant_id TEXT, 
	table_name TEXT, 
	mode TEXT DEFAULT 'APPEND' NOT NULL, 
	patterns TEXT, 
	file_keys TEXT, 
	files TEXT, 
	content_hash TEXT, 
	status TEXT DEFAULT 'ACCEPTED' NOT NULL, 
	problem TEXT, 
	matched_files INTEGER, 
	rows_loaded INTEGER, 
	snapshot_id TEXT, 
	attempt_count INTEGER DEFAULT 0 NOT NULL, 
	owner TEXT, 
	owned_until TEXT, 
	submitted_at TEXT, 
	started_at TEXT, 
	ended_at TEXT, 
	PRIMARY KEY (load_id), 
	CONSTRAINT ck_lakehouse_loads_load_id CHECK (typeof(load_id) IN ('text', 'null')), 
	CONSTRAINT ck_lakehouse_loads_tenant_id CHECK (typeof(tenant_id) IN ('text', 'null')), 
	CONSTRAINT ck_lakehouse_loads_table_name CHECK (typeof(table_name) IN ('text', 'null')), 
	CONSTRAINT ck_lakehouse_loads_mode CHECK (mode IN ('APPEND', 'UPSERT')), 
	CONSTRAINT ck_lakehouse_loads_patterns CHECK (patterns IS NULL OR (typeof(patterns) = 'text' AND json_valid(patterns) AND json_type(patterns) = 'array')), 
	CONSTRAINT ck_lakehouse_loads_file_keys CHECK (file_keys IS NULL OR (typeof(file_keys) = 'text' AND json_valid(file_keys) AND json_type(file_keys) = 'array')), 
	CONSTRAINT ck_lakehouse_loads_files CHECK (files IS NULL OR (typeof(files) = 'text' AND json_valid(files) AND json_type(files) = 'array')), 
	CONSTRAINT ck_lakehouse_loads_content_hash CHECK (typeof(content_hash) IN ('text', 'null')), 
	CONSTRAINT ck_lakehouse_loads_status CHECK (status IN ('ACCEPTED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELED')), 
	CONSTRAINT ck_lakehouse_loads_problem CHECK (typeof(problem) IN ('text', 'null')), 
	CONSTRAINT ck_lakehouse_loads_matched_files CHECK (typeof(matched_files) IN ('integer', 'null')), 
	CONSTRAINT ck_lakehouse_loads_rows_loaded CHECK (typeof(rows_loaded) IN ('integer', 'null')), 
	CONSTRAINT ck_lakehouse_loads_snapshot_id CHECK (typeof(snapshot_id) IN ('text', 'null')), 
	CONSTRAINT ck_lakehouse_loads_attempt_count CHECK (typeof(attempt_count) IN ('integer', 'null')), 
	CONSTRAINT ck_lakehouse_loads_owner CHECK (typeof(owner) IN ('text', 'null')), 
	CONSTRAINT ck_lakehouse_loads_owned_until CHECK (owned_until IS NULL OR (typeof(owned_until) = 'text' AND (owned_until GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR owned_until GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(owned_until, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(owned_until, 12, 2) <> '24' AND julianday(owned_until) IS NOT NULL AND date(substr(owned_until, 1, 10), '+0 days') = substr(owned_until, 1, 10) AND owned_until BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_lakehouse_loads_submitted_at CHECK (submitted_at IS NULL OR (typeof(submitted_at) = 'text' AND (submitted_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR submitted_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(submitted_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(submitted_at, 12, 2) <> '24' AND julianday(submitted_at) IS NOT NULL AND date(substr(submitted_at, 1, 10), '+0 days') = substr(submitted_at, 1, 10) AND submitted_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_lakehouse_loads_started_at CHECK (started_at IS NULL OR (typeof(started_at) = 'text' AND (started_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR started_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(started_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(started_at, 12, 2) <> '24' AND julianday(started_at) IS NOT NULL AND date(substr(started_at, 1, 10), '+0 days') = substr(started_at, 1, 10) AND started_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_lakehouse_loads_ended_at CHECK (ended_at IS NULL OR (typeof(ended_at) = 'text' AND (ended_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR ended_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(ended_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(ended_at, 12, 2) <> '24' AND julianday(ended_at) IS NOT NULL AND date(substr(ended_at, 1, 10), '+0 days') = substr(ended_at, 1, 10) AND ended_at BETWEEN '1000' AND '9999'))
);

CREATE UNIQUE INDEX ix_lakehouse_loads_content ON lakehouse_loads (content_hash);

CREATE INDEX ix_lakehouse_loads_due ON lakehouse_loads (status, submitted_at);

