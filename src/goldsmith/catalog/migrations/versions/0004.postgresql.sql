CREATE TABLE healing_limits (
	limit_name TEXT NOT NULL, 
	limit_value DOUBLE PRECISION DEFAULT 0.0 NOT NULL, 
	is_default BOOLEAN DEFAULT false NOT NULL, 
	PRIMARY KEY (limit_name), 
	CONSTRAINT ck_healing_limits_limit_value CHECK (limit_value BETWEEN 0 AND 1e+100)
);

CREATE TABLE severities (
	severity TEXT NOT NULL, 
	older_than_hours DOUBLE PRECISION DEFAULT 0.0 NOT NULL, 
	least_impact TEXT DEFAULT 'none' NOT NULL, 
	description TEXT, 
	is_default BOOLEAN DEFAULT false NOT NULL, 
	PRIMARY KEY (severity), 
	CONSTRAINT ck_severities_older_than_hours CHECK (older_than_hours BETWEEN 0 AND 1e+100), 
	CONSTRAINT ck_severities_least_impact CHECK (least_impact IN ('revenue', 'customer', 'internal', 'none'))
);

CREATE TABLE notification_routes (
	route_id TEXT NOT NULL, 
	kind TEXT DEFAULT 'webhook' NOT NULL, 
	url TEXT, 
	least_severity TEXT DEFAULT 'P3', 
	pipelines TEXT, 
	enabled BOOLEAN DEFAULT true NOT NULL, 
	PRIMARY KEY (route_id), 
	CONSTRAINT ck_notification_routes_kind CHECK (kind IN ('slack', 'webhook'))
);

CREATE TABLE healing_uses (
	use_id TEXT NOT NULL, 
	at TIMESTAMP WITH TIME ZONE, 
	error_code TEXT, 
	step_order BIGINT DEFAULT 1 NOT NULL, 
	remedy TEXT, 
	pipeline_id TEXT, 
	stage_order BIGINT, 
	request_id TEXT, 
	run_id TEXT, 
	stage_run_id TEXT, 
	did TEXT, 
	because TEXT, 
	adjust JSONB, 
	outcome TEXT DEFAULT 'pending' NOT NULL, 
	judged_at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (use_id), 
	CONSTRAINT ck_healing_uses_at CHECK (at >= '1000-01-01 00:00:00+00:00' AND at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_healing_uses_adjust CHECK (jsonb_typeof(adjust) = 'object'), 
	CONSTRAINT ck_healing_uses_outcome CHECK (outcome IN ('pending', 'helped', 'failed')), 
	CONSTRAINT ck_healing_uses_judged_at CHECK (judged_at >= '1000-01-01 00:00:00+00:00' AND judged_at < '9999-01-01 00:00:00+00:00')
);

CREATE INDEX ix_healing_uses_pair ON healing_uses (error_code, remedy, at);

CREATE INDEX ix_healing_uses_request ON healing_uses (request_id);

CREATE TABLE files_aside (
	dataset_id TEXT NOT NULL, 
	path TEXT NOT NULL, 
	etag TEXT NOT NULL, 
	size BIGINT, 
	error_code TEXT, 
	because TEXT, 
	stage_run_id TEXT, 
	at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (dataset_id, path, etag), 
	CONSTRAINT ck_files_aside_at CHECK (at >= '1000-01-01 00:00:00+00:00' AND at < '9999-01-01 00:00:00+00:00')
);

CREATE TABLE incidents (
	incident_id TEXT NOT NULL, 
	status TEXT DEFAULT 'open' NOT NULL, 
	severity TEXT, 
	about TEXT, 
	pipeline_id TEXT, 
	stage_order BIGINT, 
	dataset_id TEXT, 
	error_code TEXT, 
	cause TEXT, 
	runbook TEXT, 
	tried JSONB, 
	affected JSONB, 
	owner TEXT, 
	request_id TEXT, 
	run_id TEXT, 
	times BIGINT DEFAULT 1 NOT NULL, 
	opened_at TIMESTAMP WITH TIME ZONE, 
	last_at TIMESTAMP WITH TIME ZONE, 
	acknowledged_by TEXT, 
	acknowledged_at TIMESTAMP WITH TIME ZONE, 
	closed_by TEXT, 
	closed_at TIMESTAMP WITH TIME ZONE, 
	because TEXT, 
	PRIMARY KEY (incident_id), 
	CONSTRAINT ck_incidents_status CHECK (status IN ('open', 'acknowledged', 'closed')), 
	CONSTRAINT ck_incidents_tried CHECK (jsonb_typeof(tried) = 'array'), 
	CONSTRAINT ck_incidents_affected CHECK (jsonb_typeof(affected) = 'array'), 
	CONSTRAINT ck_incidents_opened_at CHECK (opened_at >= '1000-01-01 00:00:00+00:00' AND opened_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_incidents_last_at CHECK (last_at >= '1000-01-01 00:00:00+00:00' AND last_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_incidents_acknowledged_at CHECK (acknowledged_at >= '1000-01-01 00:00:00+00:00' AND acknowledged_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_incidents_closed_at CHECK (closed_at >= '1000-01-01 00:00:00+00:00' AND closed_at < '9999-01-01 00:00:00+00:00')
);

CREATE INDEX ix_incidents_about ON incidents (about, status);

CREATE TABLE outbox (
	message_id TEXT NOT NULL, 
	route_id TEXT, 
	incident_id TEXT, 
	body JSONB, 
	status TEXT DEFAULT 'waiting' NOT NULL, 
	attempts BIGINT DEFAULT 0 NOT NULL, 
	not_before TIMESTAMP WITH TIME ZONE, 
	last_error TEXT, 
	written_at TIMESTAMP WITH TIME ZONE, 
	sent_at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (message_id), 
	CONSTRAINT ck_outbox_body CHECK (jsonb_typeof(body) = 'object'), 
	CONSTRAINT ck_outbox_status CHECK (status IN ('waiting', 'sent', 'cancelled')), 
	CONSTRAINT ck_outbox_not_before CHECK (not_before >= '1000-01-01 00:00:00+00:00' AND not_before < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_outbox_written_at CHECK (written_at >= '1000-01-01 00:00:00+00:00' AND written_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_outbox_sent_at CHECK (sent_at >= '1000-01-01 00:00:00+00:00' AND sent_at < '9999-01-01 00:00:00+00:00')
);

CREATE INDEX ix_outbox_due ON outbox (status, not_before);

