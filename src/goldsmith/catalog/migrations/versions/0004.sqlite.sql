CREATE TABLE healing_limits (
	limit_name TEXT NOT NULL, 
	limit_value REAL DEFAULT (0.0) NOT NULL, 
	is_default BOOLEAN DEFAULT 0 NOT NULL, 
	PRIMARY KEY (limit_name), 
	CONSTRAINT ck_healing_limits_limit_name CHECK (typeof(limit_name) IN ('text', 'null')), 
	CONSTRAINT ck_healing_limits_limit_value CHECK (typeof(limit_value) IN ('integer', 'real', 'null') AND limit_value BETWEEN 0 AND 1e+100), 
	CONSTRAINT ck_healing_limits_is_default CHECK (is_default IN (0, 1))
);

CREATE TABLE severities (
	severity TEXT NOT NULL, 
	older_than_hours REAL DEFAULT (0.0) NOT NULL, 
	least_impact TEXT DEFAULT 'none' NOT NULL, 
	description TEXT, 
	is_default BOOLEAN DEFAULT 0 NOT NULL, 
	PRIMARY KEY (severity), 
	CONSTRAINT ck_severities_severity CHECK (typeof(severity) IN ('text', 'null')), 
	CONSTRAINT ck_severities_older_than_hours CHECK (typeof(older_than_hours) IN ('integer', 'real', 'null') AND older_than_hours BETWEEN 0 AND 1e+100), 
	CONSTRAINT ck_severities_least_impact CHECK (least_impact IN ('revenue', 'customer', 'internal', 'none')), 
	CONSTRAINT ck_severities_description CHECK (typeof(description) IN ('text', 'null')), 
	CONSTRAINT ck_severities_is_default CHECK (is_default IN (0, 1))
);

CREATE TABLE notification_routes (
	route_id TEXT NOT NULL, 
	kind TEXT DEFAULT 'webhook' NOT NULL, 
	url TEXT, 
	least_severity TEXT DEFAULT 'P3', 
	pipelines TEXT, 
	enabled BOOLEAN DEFAULT 1 NOT NULL, 
	PRIMARY KEY (route_id), 
	CONSTRAINT ck_notification_routes_route_id CHECK (typeof(route_id) IN ('text', 'null')), 
	CONSTRAINT ck_notification_routes_kind CHECK (kind IN ('slack', 'webhook')), 
	CONSTRAINT ck_notification_routes_url CHECK (typeof(url) IN ('text', 'null')), 
	CONSTRAINT ck_notification_routes_least_severity CHECK (typeof(least_severity) IN ('text', 'null')), 
	CONSTRAINT ck_notification_routes_pipelines CHECK (typeof(pipelines) IN ('text', 'null')), 
	CONSTRAINT ck_notification_routes_enabled CHECK (enabled IN (0, 1))
);

CREATE TABLE healing_uses (
	use_id TEXT NOT NULL, 
	at TEXT, 
	error_code TEXT, 
	step_order INTEGER DEFAULT 1 NOT NULL, 
	remedy TEXT, 
	pipeline_id TEXT, 
	stage_order INTEGER, 
	request_id TEXT, 
	run_id TEXT, 
	stage_run_id TEXT, 
	did TEXT, 
	because TEXT, 
	adjust TEXT, 
	outcome TEXT DEFAULT 'pending' NOT NULL, 
	judged_at TEXT, 
	PRIMARY KEY (use_id), 
	CONSTRAINT ck_healing_uses_use_id CHECK (typeof(use_id) IN ('text', 'null')), 
	CONSTRAINT ck_healing_uses_at CHECK (at IS NULL OR (typeof(at) = 'text' AND (at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(at, 12, 2) <> '24' AND julianday(at) IS NOT NULL AND date(substr(at, 1, 10), '+0 days') = substr(at, 1, 10) AND at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_healing_uses_error_code CHECK (typeof(error_code) IN ('text', 'null')), 
	CONSTRAINT ck_healing_uses_step_order CHECK (typeof(step_order) IN ('integer', 'null')), 
	CONSTRAINT ck_healing_uses_remedy CHECK (typeof(remedy) IN ('text', 'null')), 
	CONSTRAINT ck_healing_uses_pipeline_id CHECK (typeof(pipeline_id) IN ('text', 'null')), 
	CONSTRAINT ck_healing_uses_stage_order CHECK (typeof(stage_order) IN ('integer', 'null')), 
	CONSTRAINT ck_healing_uses_request_id CHECK (typeof(request_id) IN ('text', 'null')), 
	CONSTRAINT ck_healing_uses_run_id CHECK (typeof(run_id) IN ('text', 'null')), 
	CONSTRAINT ck_healing_uses_stage_run_id CHECK (typeof(stage_run_id) IN ('text', 'null')), 
	CONSTRAINT ck_healing_uses_did CHECK (typeof(did) IN ('text', 'null')), 
	CONSTRAINT ck_healing_uses_because CHECK (typeof(because) IN ('text', 'null')), 
	CONSTRAINT ck_healing_uses_adjust CHECK (adjust IS NULL OR (typeof(adjust) = 'text' AND json_valid(adjust) AND json_type(adjust) = 'object')), 
	CONSTRAINT ck_healing_uses_outcome CHECK (outcome IN ('pending', 'helped', 'failed')), 
	CONSTRAINT ck_healing_uses_judged_at CHECK (judged_at IS NULL OR (typeof(judged_at) = 'text' AND (judged_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR judged_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(judged_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(judged_at, 12, 2) <> '24' AND julianday(judged_at) IS NOT NULL AND date(substr(judged_at, 1, 10), '+0 days') = substr(judged_at, 1, 10) AND judged_at BETWEEN '1000' AND '9999'))
);

CREATE INDEX ix_healing_uses_pair ON healing_uses (error_code, remedy, at);

CREATE INDEX ix_healing_uses_request ON healing_uses (request_id);

CREATE TABLE files_aside (
	dataset_id TEXT NOT NULL, 
	path TEXT NOT NULL, 
	etag TEXT NOT NULL, 
	size INTEGER, 
	error_code TEXT, 
	because TEXT, 
	stage_run_id TEXT, 
	at TEXT, 
	PRIMARY KEY (dataset_id, path, etag), 
	CONSTRAINT ck_files_aside_dataset_id CHECK (typeof(dataset_id) IN ('text', 'null')), 
	CONSTRAINT ck_files_aside_path CHECK (typeof(path) IN ('text', 'null')), 
	CONSTRAINT ck_files_aside_etag CHECK (typeof(etag) IN ('text', 'null')), 
	CONSTRAINT ck_files_aside_size CHECK (typeof(size) IN ('integer', 'null')), 
	CONSTRAINT ck_files_aside_error_code CHECK (typeof(error_code) IN ('text', 'null')), 
	CONSTRAINT ck_files_aside_because CHECK (typeof(because) IN ('text', 'null')), 
	CONSTRAINT ck_files_aside_stage_run_id CHECK (typeof(stage_run_id) IN ('text', 'null')), 
	CONSTRAINT ck_files_aside_at CHECK (at IS NULL OR (typeof(at) = 'text' AND (at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(at, 12, 2) <> '24' AND julianday(at) IS NOT NULL AND date(substr(at, 1, 10), '+0 days') = substr(at, 1, 10) AND at BETWEEN '1000' AND '9999'))
);

CREATE TABLE incidents (
	incident_id TEXT NOT NULL, 
	status TEXT DEFAULT 'open' NOT NULL, 
	severity TEXT, 
	about TEXT, 
	pipeline_id TEXT, 
	stage_order INTEGER, 
	dataset_id TEXT, 
	error_code TEXT, 
	cause TEXT, 
	runbook TEXT, 
	tried TEXT, 
	affected TEXT, 
	owner TEXT, 
	request_id TEXT, 
	run_id TEXT, 
	times INTEGER DEFAULT 1 NOT NULL, 
	opened_at TEXT, 
	last_at TEXT, 
	acknowledged_by TEXT, 
	acknowledged_at TEXT, 
	closed_by TEXT, 
	closed_at TEXT, 
	because TEXT, 
	PRIMARY KEY (incident_id), 
	CONSTRAINT ck_incidents_incident_id CHECK (typeof(incident_id) IN ('text', 'null')), 
	CONSTRAINT ck_incidents_status CHECK (status IN ('open', 'acknowledged', 'closed')), 
	CONSTRAINT ck_incidents_severity CHECK (typeof(severity) IN ('text', 'null')), 
	CONSTRAINT ck_incidents_about CHECK (typeof(about) IN ('text', 'null')), 
	CONSTRAINT ck_incidents_pipeline_id CHECK (typeof(pipeline_id) IN ('text', 'null')), 
	CONSTRAINT ck_incidents_stage_order CHECK (typeof(stage_order) IN ('integer', 'null')), 
	CONSTRAINT ck_incidents_dataset_id CHECK (typeof(dataset_id) IN ('text', 'null')), 
	CONSTRAINT ck_incidents_error_code CHECK (typeof(error_code) IN ('text', 'null')), 
	CONSTRAINT ck_incidents_cause CHECK (typeof(cause) IN ('text', 'null')), 
	CONSTRAINT ck_incidents_runbook CHECK (typeof(runbook) IN ('text', 'null')), 
	CONSTRAINT ck_incidents_tried CHECK (tried IS NULL OR (typeof(tried) = 'text' AND json_valid(tried) AND json_type(tried) = 'array')), 
	CONSTRAINT ck_incidents_affected CHECK (affected IS NULL OR (typeof(affected) = 'text' AND json_valid(affected) AND json_type(affected) = 'array')), 
	CONSTRAINT ck_incidents_owner CHECK (typeof(owner) IN ('text', 'null')), 
	CONSTRAINT ck_incidents_request_id CHECK (typeof(request_id) IN ('text', 'null')), 
	CONSTRAINT ck_incidents_run_id CHECK (typeof(run_id) IN ('text', 'null')), 
	CONSTRAINT ck_incidents_times CHECK (typeof(times) IN ('integer', 'null')), 
	CONSTRAINT ck_incidents_opened_at CHECK (opened_at IS NULL OR (typeof(opened_at) = 'text' AND (opened_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR opened_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(opened_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(opened_at, 12, 2) <> '24' AND julianday(opened_at) IS NOT NULL AND date(substr(opened_at, 1, 10), '+0 days') = substr(opened_at, 1, 10) AND opened_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_incidents_last_at CHECK (last_at IS NULL OR (typeof(last_at) = 'text' AND (last_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR last_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(last_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(last_at, 12, 2) <> '24' AND julianday(last_at) IS NOT NULL AND date(substr(last_at, 1, 10), '+0 days') = substr(last_at, 1, 10) AND last_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_incidents_acknowledged_by CHECK (typeof(acknowledged_by) IN ('text', 'null')), 
	CONSTRAINT ck_incidents_acknowledged_at CHECK (acknowledged_at IS NULL OR (typeof(acknowledged_at) = 'text' AND (acknowledged_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR acknowledged_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(acknowledged_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(acknowledged_at, 12, 2) <> '24' AND julianday(acknowledged_at) IS NOT NULL AND date(substr(acknowledged_at, 1, 10), '+0 days') = substr(acknowledged_at, 1, 10) AND acknowledged_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_incidents_closed_by CHECK (typeof(closed_by) IN ('text', 'null')), 
	CONSTRAINT ck_incidents_closed_at CHECK (closed_at IS NULL OR (typeof(closed_at) = 'text' AND (closed_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR closed_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(closed_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(closed_at, 12, 2) <> '24' AND julianday(closed_at) IS NOT NULL AND date(substr(closed_at, 1, 10), '+0 days') = substr(closed_at, 1, 10) AND closed_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_incidents_because CHECK (typeof(because) IN ('text', 'null'))
);

CREATE INDEX ix_incidents_about ON incidents (about, status);

CREATE TABLE outbox (
	message_id TEXT NOT NULL, 
	route_id TEXT, 
	incident_id TEXT, 
	body TEXT, 
	status TEXT DEFAULT 'waiting' NOT NULL, 
	attempts INTEGER DEFAULT 0 NOT NULL, 
	not_before TEXT, 
	last_error TEXT, 
	written_at TEXT, 
	sent_at TEXT, 
	PRIMARY KEY (message_id), 
	CONSTRAINT ck_outbox_message_id CHECK (typeof(message_id) IN ('text', 'null')), 
	CONSTRAINT ck_outbox_route_id CHECK (typeof(route_id) IN ('text', 'null')), 
	CONSTRAINT ck_outbox_incident_id CHECK (typeof(incident_id) IN ('text', 'null')), 
	CONSTRAINT ck_outbox_body CHECK (body IS NULL OR (typeof(body) = 'text' AND json_valid(body) AND json_type(body) = 'object')), 
	CONSTRAINT ck_outbox_status CHECK (status IN ('waiting', 'sent', 'cancelled')), 
	CONSTRAINT ck_outbox_attempts CHECK (typeof(attempts) IN ('integer', 'null')), 
	CONSTRAINT ck_outbox_not_before CHECK (not_before IS NULL OR (typeof(not_before) = 'text' AND (not_before GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR not_before GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(not_before, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(not_before, 12, 2) <> '24' AND julianday(not_before) IS NOT NULL AND date(substr(not_before, 1, 10), '+0 days') = substr(not_before, 1, 10) AND not_before BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_outbox_last_error CHECK (typeof(last_error) IN ('text', 'null')), 
	CONSTRAINT ck_outbox_written_at CHECK (written_at IS NULL OR (typeof(written_at) = 'text' AND (written_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR written_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(written_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(written_at, 12, 2) <> '24' AND julianday(written_at) IS NOT NULL AND date(substr(written_at, 1, 10), '+0 days') = substr(written_at, 1, 10) AND written_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_outbox_sent_at CHECK (sent_at IS NULL OR (typeof(sent_at) = 'text' AND (sent_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR sent_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(sent_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(sent_at, 12, 2) <> '24' AND julianday(sent_at) IS NOT NULL AND date(substr(sent_at, 1, 10), '+0 days') = substr(sent_at, 1, 10) AND sent_at BETWEEN '1000' AND '9999'))
);

CREATE INDEX ix_outbox_due ON outbox (status, not_before);

