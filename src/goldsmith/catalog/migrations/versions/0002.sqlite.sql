CREATE TABLE audit_log (
	event_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	at TEXT DEFAULT CURRENT_TIMESTAMP, 
	kind TEXT, 
	pipeline_id TEXT, 
	stage_order INTEGER, 
	status TEXT, 
	started_at TEXT, 
	ended_at TEXT, 
	error_code TEXT, 
	error_message TEXT, 
	resolution TEXT, 
	request_id TEXT, 
	run_id TEXT, 
	stage_run_id TEXT, 
	attempt INTEGER, 
	actor TEXT, 
	facts TEXT, 
	CONSTRAINT ck_audit_log_event_id CHECK (typeof(event_id) IN ('integer', 'null')), 
	CONSTRAINT ck_audit_log_at CHECK (at IS NULL OR (typeof(at) = 'text' AND (at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(at, 12, 2) <> '24' AND julianday(at) IS NOT NULL AND date(substr(at, 1, 10), '+0 days') = substr(at, 1, 10) AND at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_audit_log_kind CHECK (typeof(kind) IN ('text', 'null')), 
	CONSTRAINT ck_audit_log_pipeline_id CHECK (typeof(pipeline_id) IN ('text', 'null')), 
	CONSTRAINT ck_audit_log_stage_order CHECK (typeof(stage_order) IN ('integer', 'null')), 
	CONSTRAINT ck_audit_log_status CHECK (typeof(status) IN ('text', 'null')), 
	CONSTRAINT ck_audit_log_started_at CHECK (started_at IS NULL OR (typeof(started_at) = 'text' AND (started_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR started_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(started_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(started_at, 12, 2) <> '24' AND julianday(started_at) IS NOT NULL AND date(substr(started_at, 1, 10), '+0 days') = substr(started_at, 1, 10) AND started_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_audit_log_ended_at CHECK (ended_at IS NULL OR (typeof(ended_at) = 'text' AND (ended_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR ended_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(ended_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(ended_at, 12, 2) <> '24' AND julianday(ended_at) IS NOT NULL AND date(substr(ended_at, 1, 10), '+0 days') = substr(ended_at, 1, 10) AND ended_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_audit_log_error_code CHECK (typeof(error_code) IN ('text', 'null')), 
	CONSTRAINT ck_audit_log_error_message CHECK (typeof(error_message) IN ('text', 'null')), 
	CONSTRAINT ck_audit_log_resolution CHECK (typeof(resolution) IN ('text', 'null')), 
	CONSTRAINT ck_audit_log_request_id CHECK (typeof(request_id) IN ('text', 'null')), 
	CONSTRAINT ck_audit_log_run_id CHECK (typeof(run_id) IN ('text', 'null')), 
	CONSTRAINT ck_audit_log_stage_run_id CHECK (typeof(stage_run_id) IN ('text', 'null')), 
	CONSTRAINT ck_audit_log_attempt CHECK (typeof(attempt) IN ('integer', 'null')), 
	CONSTRAINT ck_audit_log_actor CHECK (typeof(actor) IN ('text', 'null')), 
	CONSTRAINT ck_audit_log_facts CHECK (facts IS NULL OR (typeof(facts) = 'text' AND json_valid(facts) AND json_type(facts) = 'object'))
);

CREATE INDEX ix_audit_log_pipeline ON audit_log (pipeline_id, event_id);

CREATE INDEX ix_audit_log_request ON audit_log (request_id, event_id);

CREATE INDEX ix_audit_log_run ON audit_log (run_id, event_id);

CREATE TABLE requests (
	request_id TEXT NOT NULL, 
	selection TEXT, 
	pipelines TEXT, 
	options TEXT, 
	status TEXT DEFAULT 'waiting' NOT NULL, 
	because TEXT, 
	asked_by TEXT, 
	asked_at TEXT, 
	not_before TEXT, 
	attempt INTEGER DEFAULT 1 NOT NULL, 
	after_run_id TEXT, 
	run_ids TEXT, 
	worker TEXT, 
	ended_at TEXT, 
	PRIMARY KEY (request_id), 
	CONSTRAINT ck_requests_request_id CHECK (typeof(request_id) IN ('text', 'null')), 
	CONSTRAINT ck_requests_selection CHECK (selection IS NULL OR (typeof(selection) = 'text' AND json_valid(selection) AND json_type(selection) = 'array')), 
	CONSTRAINT ck_requests_pipelines CHECK (pipelines IS NULL OR (typeof(pipelines) = 'text' AND json_valid(pipelines) AND json_type(pipelines) = 'array')), 
	CONSTRAINT ck_requests_options CHECK (options IS NULL OR (typeof(options) = 'text' AND json_valid(options) AND json_type(options) = 'object')), 
	CONSTRAINT ck_requests_status CHECK (status IN ('waiting', 'running', 'done', 'failed', 'stopped', 'cancelled')), 
	CONSTRAINT ck_requests_because CHECK (typeof(because) IN ('text', 'null')), 
	CONSTRAINT ck_requests_asked_by CHECK (typeof(asked_by) IN ('text', 'null')), 
	CONSTRAINT ck_requests_asked_at CHECK (asked_at IS NULL OR (typeof(asked_at) = 'text' AND (asked_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR asked_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(asked_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(asked_at, 12, 2) <> '24' AND julianday(asked_at) IS NOT NULL AND date(substr(asked_at, 1, 10), '+0 days') = substr(asked_at, 1, 10) AND asked_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_requests_not_before CHECK (not_before IS NULL OR (typeof(not_before) = 'text' AND (not_before GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR not_before GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(not_before, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(not_before, 12, 2) <> '24' AND julianday(not_before) IS NOT NULL AND date(substr(not_before, 1, 10), '+0 days') = substr(not_before, 1, 10) AND not_before BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_requests_attempt CHECK (typeof(attempt) IN ('integer', 'null')), 
	CONSTRAINT ck_requests_after_run_id CHECK (typeof(after_run_id) IN ('text', 'null')), 
	CONSTRAINT ck_requests_run_ids CHECK (run_ids IS NULL OR (typeof(run_ids) = 'text' AND json_valid(run_ids) AND json_type(run_ids) = 'array')), 
	CONSTRAINT ck_requests_worker CHECK (typeof(worker) IN ('text', 'null')), 
	CONSTRAINT ck_requests_ended_at CHECK (ended_at IS NULL OR (typeof(ended_at) = 'text' AND (ended_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR ended_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(ended_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(ended_at, 12, 2) <> '24' AND julianday(ended_at) IS NOT NULL AND date(substr(ended_at, 1, 10), '+0 days') = substr(ended_at, 1, 10) AND ended_at BETWEEN '1000' AND '9999'))
);

CREATE INDEX ix_requests_due ON requests (status, not_before);

CREATE TABLE runs (
	run_id TEXT NOT NULL, 
	request_id TEXT, 
	pipeline_id TEXT, 
	status TEXT DEFAULT 'running' NOT NULL, 
	because TEXT, 
	asked_by TEXT, 
	environment TEXT, 
	catalog_revision INTEGER, 
	started_at TEXT, 
	ended_at TEXT, 
	error_code TEXT, 
	error_message TEXT, 
	worker TEXT, 
	PRIMARY KEY (run_id), 
	CONSTRAINT ck_runs_run_id CHECK (typeof(run_id) IN ('text', 'null')), 
	CONSTRAINT ck_runs_request_id CHECK (typeof(request_id) IN ('text', 'null')), 
	CONSTRAINT ck_runs_pipeline_id CHECK (typeof(pipeline_id) IN ('text', 'null')), 
	CONSTRAINT ck_runs_status CHECK (status IN ('waiting', 'running', 'succeeded', 'skipped', 'failed', 'stopped', 'blocked', 'interrupted')), 
	CONSTRAINT ck_runs_because CHECK (typeof(because) IN ('text', 'null')), 
	CONSTRAINT ck_runs_asked_by CHECK (typeof(asked_by) IN ('text', 'null')), 
	CONSTRAINT ck_runs_environment CHECK (typeof(environment) IN ('text', 'null')), 
	CONSTRAINT ck_runs_catalog_revision CHECK (typeof(catalog_revision) IN ('integer', 'null')), 
	CONSTRAINT ck_runs_started_at CHECK (started_at IS NULL OR (typeof(started_at) = 'text' AND (started_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR started_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(started_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(started_at, 12, 2) <> '24' AND julianday(started_at) IS NOT NULL AND date(substr(started_at, 1, 10), '+0 days') = substr(started_at, 1, 10) AND started_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_runs_ended_at CHECK (ended_at IS NULL OR (typeof(ended_at) = 'text' AND (ended_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR ended_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(ended_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(ended_at, 12, 2) <> '24' AND julianday(ended_at) IS NOT NULL AND date(substr(ended_at, 1, 10), '+0 days') = substr(ended_at, 1, 10) AND ended_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_runs_error_code CHECK (typeof(error_code) IN ('text', 'null')), 
	CONSTRAINT ck_runs_error_message CHECK (typeof(error_message) IN ('text', 'null')), 
	CONSTRAINT ck_runs_worker CHECK (typeof(worker) IN ('text', 'null'))
);

CREATE INDEX ix_runs_pipeline ON runs (pipeline_id, started_at);

CREATE INDEX ix_runs_status ON runs (status);

CREATE TABLE stage_runs (
	stage_run_id TEXT NOT NULL, 
	run_id TEXT, 
	pipeline_id TEXT, 
	stage_order INTEGER, 
	stage_name TEXT, 
	target_id TEXT, 
	attempt INTEGER DEFAULT 1 NOT NULL, 
	status TEXT DEFAULT 'waiting' NOT NULL, 
	step TEXT, 
	because TEXT, 
	started_at TEXT, 
	ended_at TEXT, 
	rows_read INTEGER, 
	rows_written INTEGER, 
	rows_quarantined INTEGER, 
	rows_dropped INTEGER, 
	bytes_read INTEGER, 
	bytes_written INTEGER, 
	snapshot TEXT, 
	definition TEXT, 
	token INTEGER, 
	error_code TEXT, 
	error_message TEXT, 
	facts TEXT, 
	PRIMARY KEY (stage_run_id), 
	CONSTRAINT ck_stage_runs_stage_run_id CHECK (typeof(stage_run_id) IN ('text', 'null')), 
	CONSTRAINT ck_stage_runs_run_id CHECK (typeof(run_id) IN ('text', 'null')), 
	CONSTRAINT ck_stage_runs_pipeline_id CHECK (typeof(pipeline_id) IN ('text', 'null')), 
	CONSTRAINT ck_stage_runs_stage_order CHECK (typeof(stage_order) IN ('integer', 'null')), 
	CONSTRAINT ck_stage_runs_stage_name CHECK (typeof(stage_name) IN ('text', 'null')), 
	CONSTRAINT ck_stage_runs_target_id CHECK (typeof(target_id) IN ('text', 'null')), 
	CONSTRAINT ck_stage_runs_attempt CHECK (typeof(attempt) IN ('integer', 'null')), 
	CONSTRAINT ck_stage_runs_status CHECK (status IN ('waiting', 'running', 'succeeded', 'skipped', 'failed', 'stopped', 'blocked', 'interrupted')), 
	CONSTRAINT ck_stage_runs_step CHECK (typeof(step) IN ('text', 'null')), 
	CONSTRAINT ck_stage_runs_because CHECK (typeof(because) IN ('text', 'null')), 
	CONSTRAINT ck_stage_runs_started_at CHECK (started_at IS NULL OR (typeof(started_at) = 'text' AND (started_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR started_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(started_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(started_at, 12, 2) <> '24' AND julianday(started_at) IS NOT NULL AND date(substr(started_at, 1, 10), '+0 days') = substr(started_at, 1, 10) AND started_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_stage_runs_ended_at CHECK (ended_at IS NULL OR (typeof(ended_at) = 'text' AND (ended_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR ended_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(ended_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(ended_at, 12, 2) <> '24' AND julianday(ended_at) IS NOT NULL AND date(substr(ended_at, 1, 10), '+0 days') = substr(ended_at, 1, 10) AND ended_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_stage_runs_rows_read CHECK (typeof(rows_read) IN ('integer', 'null')), 
	CONSTRAINT ck_stage_runs_rows_written CHECK (typeof(rows_written) IN ('integer', 'null')), 
	CONSTRAINT ck_stage_runs_rows_quarantined CHECK (typeof(rows_quarantined) IN ('integer', 'null')), 
	CONSTRAINT ck_stage_runs_rows_dropped CHECK (typeof(rows_dropped) IN ('integer', 'null')), 
	CONSTRAINT ck_stage_runs_bytes_read CHECK (typeof(bytes_read) IN ('integer', 'null')), 
	CONSTRAINT ck_stage_runs_bytes_written CHECK (typeof(bytes_written) IN ('integer', 'null')), 
	CONSTRAINT ck_stage_runs_snapshot CHECK (typeof(snapshot) IN ('text', 'null')), 
	CONSTRAINT ck_stage_runs_definition CHECK (typeof(definition) IN ('text', 'null')), 
	CONSTRAINT ck_stage_runs_token CHECK (typeof(token) IN ('integer', 'null')), 
	CONSTRAINT ck_stage_runs_error_code CHECK (typeof(error_code) IN ('text', 'null')), 
	CONSTRAINT ck_stage_runs_error_message CHECK (typeof(error_message) IN ('text', 'null')), 
	CONSTRAINT ck_stage_runs_facts CHECK (facts IS NULL OR (typeof(facts) = 'text' AND json_valid(facts) AND json_type(facts) = 'object'))
);

CREATE INDEX ix_stage_runs_run ON stage_runs (run_id);

CREATE INDEX ix_stage_runs_stage ON stage_runs (pipeline_id, stage_order, started_at);

CREATE INDEX ix_stage_runs_status ON stage_runs (status);

CREATE TABLE expectations (
	pipeline_id TEXT NOT NULL, 
	stage_order INTEGER NOT NULL, 
	rows_written INTEGER, 
	bytes_written INTEGER, 
	seconds REAL, 
	from_runs INTEGER DEFAULT 0 NOT NULL, 
	PRIMARY KEY (pipeline_id, stage_order), 
	CONSTRAINT ck_expectations_pipeline_id CHECK (typeof(pipeline_id) IN ('text', 'null')), 
	CONSTRAINT ck_expectations_stage_order CHECK (typeof(stage_order) IN ('integer', 'null')), 
	CONSTRAINT ck_expectations_rows_written CHECK (typeof(rows_written) IN ('integer', 'null')), 
	CONSTRAINT ck_expectations_bytes_written CHECK (typeof(bytes_written) IN ('integer', 'null')), 
	CONSTRAINT ck_expectations_seconds CHECK (typeof(seconds) IN ('integer', 'real', 'null') AND seconds BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_expectations_from_runs CHECK (typeof(from_runs) IN ('integer', 'null'))
);

CREATE TABLE leases (
	resource TEXT NOT NULL, 
	token INTEGER DEFAULT 0 NOT NULL, 
	owner TEXT, 
	host TEXT, 
	pid INTEGER, 
	run_id TEXT, 
	stage_run_id TEXT, 
	acquired_at TEXT, 
	expires_at TEXT, 
	PRIMARY KEY (resource), 
	CONSTRAINT ck_leases_resource CHECK (typeof(resource) IN ('text', 'null')), 
	CONSTRAINT ck_leases_token CHECK (typeof(token) IN ('integer', 'null')), 
	CONSTRAINT ck_leases_owner CHECK (typeof(owner) IN ('text', 'null')), 
	CONSTRAINT ck_leases_host CHECK (typeof(host) IN ('text', 'null')), 
	CONSTRAINT ck_leases_pid CHECK (typeof(pid) IN ('integer', 'null')), 
	CONSTRAINT ck_leases_run_id CHECK (typeof(run_id) IN ('text', 'null')), 
	CONSTRAINT ck_leases_stage_run_id CHECK (typeof(stage_run_id) IN ('text', 'null')), 
	CONSTRAINT ck_leases_acquired_at CHECK (acquired_at IS NULL OR (typeof(acquired_at) = 'text' AND (acquired_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR acquired_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(acquired_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(acquired_at, 12, 2) <> '24' AND julianday(acquired_at) IS NOT NULL AND date(substr(acquired_at, 1, 10), '+0 days') = substr(acquired_at, 1, 10) AND acquired_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_leases_expires_at CHECK (expires_at IS NULL OR (typeof(expires_at) = 'text' AND (expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(expires_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(expires_at, 12, 2) <> '24' AND julianday(expires_at) IS NOT NULL AND date(substr(expires_at, 1, 10), '+0 days') = substr(expires_at, 1, 10) AND expires_at BETWEEN '1000' AND '9999'))
);

CREATE INDEX ix_leases_owner ON leases (owner);

CREATE TABLE retention_pass (
	transaction_id INTEGER NOT NULL, 
	older_than TEXT NOT NULL, 
	PRIMARY KEY (transaction_id), 
	CONSTRAINT ck_retention_pass_transaction_id CHECK (typeof(transaction_id) IN ('integer', 'null')), 
	CONSTRAINT ck_retention_pass_older_than CHECK (older_than IS NULL OR (typeof(older_than) = 'text' AND (older_than GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR older_than GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(older_than, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(older_than, 12, 2) <> '24' AND julianday(older_than) IS NOT NULL AND date(substr(older_than, 1, 10), '+0 days') = substr(older_than, 1, 10) AND older_than BETWEEN '1000' AND '9999'))
);

CREATE TABLE verdicts (
	stage_run_id TEXT NOT NULL, 
	place INTEGER NOT NULL, 
	run_id TEXT, 
	pipeline_id TEXT, 
	stage_order INTEGER, 
	dataset_id TEXT, 
	rule_set_id TEXT, 
	check_name TEXT, 
	settings TEXT, 
	severity TEXT, 
	on_fail TEXT, 
	passed BOOLEAN DEFAULT 0 NOT NULL, 
	broken INTEGER, 
	observed TEXT, 
	expected TEXT, 
	message TEXT, 
	sample TEXT, 
	duration_ms REAL, 
	at TEXT, 
	PRIMARY KEY (stage_run_id, place), 
	CONSTRAINT ck_verdicts_stage_run_id CHECK (typeof(stage_run_id) IN ('text', 'null')), 
	CONSTRAINT ck_verdicts_place CHECK (typeof(place) IN ('integer', 'null')), 
	CONSTRAINT ck_verdicts_run_id CHECK (typeof(run_id) IN ('text', 'null')), 
	CONSTRAINT ck_verdicts_pipeline_id CHECK (typeof(pipeline_id) IN ('text', 'null')), 
	CONSTRAINT ck_verdicts_stage_order CHECK (typeof(stage_order) IN ('integer', 'null')), 
	CONSTRAINT ck_verdicts_dataset_id CHECK (typeof(dataset_id) IN ('text', 'null')), 
	CONSTRAINT ck_verdicts_rule_set_id CHECK (typeof(rule_set_id) IN ('text', 'null')), 
	CONSTRAINT ck_verdicts_check_name CHECK (typeof(check_name) IN ('text', 'null')), 
	CONSTRAINT ck_verdicts_settings CHECK (settings IS NULL OR (typeof(settings) = 'text' AND json_valid(settings) AND json_type(settings) = 'object')), 
	CONSTRAINT ck_verdicts_severity CHECK (typeof(severity) IN ('text', 'null')), 
	CONSTRAINT ck_verdicts_on_fail CHECK (typeof(on_fail) IN ('text', 'null')), 
	CONSTRAINT ck_verdicts_passed CHECK (passed IN (0, 1)), 
	CONSTRAINT ck_verdicts_broken CHECK (typeof(broken) IN ('integer', 'null')), 
	CONSTRAINT ck_verdicts_observed CHECK (typeof(observed) IN ('text', 'null')), 
	CONSTRAINT ck_verdicts_expected CHECK (typeof(expected) IN ('text', 'null')), 
	CONSTRAINT ck_verdicts_message CHECK (typeof(message) IN ('text', 'null')), 
	CONSTRAINT ck_verdicts_sample CHECK (sample IS NULL OR (typeof(sample) = 'text' AND json_valid(sample) AND json_type(sample) = 'array')), 
	CONSTRAINT ck_verdicts_duration_ms CHECK (typeof(duration_ms) IN ('integer', 'real', 'null') AND duration_ms BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_verdicts_at CHECK (at IS NULL OR (typeof(at) = 'text' AND (at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(at, 12, 2) <> '24' AND julianday(at) IS NOT NULL AND date(substr(at, 1, 10), '+0 days') = substr(at, 1, 10) AND at BETWEEN '1000' AND '9999'))
);

CREATE INDEX ix_verdicts_dataset ON verdicts (dataset_id, check_name, at);

CREATE TABLE input_files (
	consumer TEXT NOT NULL, 
	dataset_id TEXT NOT NULL, 
	path TEXT NOT NULL, 
	stage_run_id TEXT NOT NULL, 
	size INTEGER, 
	etag TEXT, 
	modified_at TEXT, 
	counted BOOLEAN DEFAULT 0 NOT NULL, 
	PRIMARY KEY (consumer, dataset_id, path, stage_run_id), 
	CONSTRAINT ck_input_files_consumer CHECK (typeof(consumer) IN ('text', 'null')), 
	CONSTRAINT ck_input_files_dataset_id CHECK (typeof(dataset_id) IN ('text', 'null')), 
	CONSTRAINT ck_input_files_path CHECK (typeof(path) IN ('text', 'null')), 
	CONSTRAINT ck_input_files_stage_run_id CHECK (typeof(stage_run_id) IN ('text', 'null')), 
	CONSTRAINT ck_input_files_size CHECK (typeof(size) IN ('integer', 'null')), 
	CONSTRAINT ck_input_files_etag CHECK (typeof(etag) IN ('text', 'null')), 
	CONSTRAINT ck_input_files_modified_at CHECK (modified_at IS NULL OR (typeof(modified_at) = 'text' AND (modified_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR modified_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(modified_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(modified_at, 12, 2) <> '24' AND julianday(modified_at) IS NOT NULL AND date(substr(modified_at, 1, 10), '+0 days') = substr(modified_at, 1, 10) AND modified_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_input_files_counted CHECK (counted IN (0, 1))
);

CREATE TABLE input_snapshots (
	consumer TEXT NOT NULL, 
	dataset_id TEXT NOT NULL, 
	stage_run_id TEXT NOT NULL, 
	snapshot TEXT, 
	at TEXT, 
	counted BOOLEAN DEFAULT 0 NOT NULL, 
	PRIMARY KEY (consumer, dataset_id, stage_run_id), 
	CONSTRAINT ck_input_snapshots_consumer CHECK (typeof(consumer) IN ('text', 'null')), 
	CONSTRAINT ck_input_snapshots_dataset_id CHECK (typeof(dataset_id) IN ('text', 'null')), 
	CONSTRAINT ck_input_snapshots_stage_run_id CHECK (typeof(stage_run_id) IN ('text', 'null')), 
	CONSTRAINT ck_input_snapshots_snapshot CHECK (typeof(snapshot) IN ('text', 'null')), 
	CONSTRAINT ck_input_snapshots_at CHECK (at IS NULL OR (typeof(at) = 'text' AND (at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(at, 12, 2) <> '24' AND julianday(at) IS NOT NULL AND date(substr(at, 1, 10), '+0 days') = substr(at, 1, 10) AND at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_input_snapshots_counted CHECK (counted IN (0, 1))
);

CREATE TABLE kept_schemas (
	dataset_id TEXT NOT NULL, 
	schema_json TEXT, 
	inferred_at TEXT, 
	PRIMARY KEY (dataset_id), 
	CONSTRAINT ck_kept_schemas_dataset_id CHECK (typeof(dataset_id) IN ('text', 'null')), 
	CONSTRAINT ck_kept_schemas_schema_json CHECK (typeof(schema_json) IN ('text', 'null')), 
	CONSTRAINT ck_kept_schemas_inferred_at CHECK (inferred_at IS NULL OR (typeof(inferred_at) = 'text' AND (inferred_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR inferred_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(inferred_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(inferred_at, 12, 2) <> '24' AND julianday(inferred_at) IS NOT NULL AND date(substr(inferred_at, 1, 10), '+0 days') = substr(inferred_at, 1, 10) AND inferred_at BETWEEN '1000' AND '9999'))
);

CREATE TABLE sql_facts (
	text_hash TEXT NOT NULL, 
	facts TEXT, 
	PRIMARY KEY (text_hash), 
	CONSTRAINT ck_sql_facts_text_hash CHECK (typeof(text_hash) IN ('text', 'null')), 
	CONSTRAINT ck_sql_facts_facts CHECK (facts IS NULL OR (typeof(facts) = 'text' AND json_valid(facts) AND json_type(facts) = 'object'))
);

CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log BEGIN SELECT RAISE(ABORT, 'audit_log is append-only: an event is never changed'); END;

CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log WHEN NOT EXISTS (SELECT 1 FROM retention_pass WHERE OLD.at < older_than) BEGIN SELECT RAISE(ABORT, 'audit_log is append-only: events are forgotten by retention alone'); END;

CREATE TRIGGER audit_log_no_replace BEFORE INSERT ON audit_log WHEN EXISTS (SELECT 1 FROM audit_log WHERE event_id = NEW.event_id) BEGIN SELECT RAISE(ABORT, 'audit_log is append-only: an event is never changed'); END;

CREATE VIEW v_runs AS
SELECT r.run_id, r.request_id, r.pipeline_id, r.status, r.because, r.asked_by, r.environment, r.catalog_revision, r.started_at, r.ended_at, r.error_code, r.error_message, r.worker,
  round((julianday(coalesce(r.ended_at, 'now')) - julianday(r.started_at)) * 86400.0, 3) AS duration_sec,
  coalesce(s.stages, 0) AS stages,
  coalesce(s.succeeded, 0) AS stages_succeeded,
  coalesce(s.skipped, 0) AS stages_skipped,
  coalesce(s.failed, 0) AS stages_failed,
  coalesce(s.stopped, 0) AS stages_stopped,
  coalesce(s.blocked, 0) AS stages_blocked,
  coalesce(s.running, 0) AS stages_running,
  s.rows_read, s.rows_written, s.rows_quarantined, s.rows_dropped, s.bytes_read, s.bytes_written
FROM runs r
LEFT JOIN (
  SELECT run_id,
    count(*) AS stages,
    sum(CASE WHEN status = 'succeeded' THEN 1 ELSE 0 END) AS succeeded,
    sum(CASE WHEN status = 'skipped' THEN 1 ELSE 0 END) AS skipped,
    sum(CASE WHEN status IN ('failed', 'interrupted') THEN 1 ELSE 0 END) AS failed,
    sum(CASE WHEN status = 'stopped' THEN 1 ELSE 0 END) AS stopped,
    sum(CASE WHEN status = 'blocked' THEN 1 ELSE 0 END) AS blocked,
    sum(CASE WHEN status IN ('running', 'waiting') THEN 1 ELSE 0 END) AS running,
    CAST(sum(rows_read) AS BIGINT) AS rows_read,
    CAST(sum(rows_written) AS BIGINT) AS rows_written,
    CAST(sum(rows_quarantined) AS BIGINT) AS rows_quarantined,
    CAST(sum(rows_dropped) AS BIGINT) AS rows_dropped,
    CAST(sum(bytes_read) AS BIGINT) AS bytes_read,
    CAST(sum(bytes_written) AS BIGINT) AS bytes_written
  FROM stage_runs GROUP BY run_id
) s ON s.run_id = r.run_id;

CREATE VIEW v_stage_runs AS
SELECT s.stage_run_id, s.run_id, s.pipeline_id, s.stage_order, s.stage_name, s.target_id, s.attempt, s.status, s.step, s.because, s.started_at, s.ended_at, s.rows_read, s.rows_written, s.rows_quarantined, s.rows_dropped, s.bytes_read, s.bytes_written, s.snapshot, s.definition, s.token, s.error_code, s.error_message, s.facts,
  round((julianday(coalesce(s.ended_at, 'now')) - julianday(s.started_at)) * 86400.0, 3) AS duration_sec,
  d.layer, d.source_id, p.owner, p.criticality, r.environment, r.asked_by
FROM stage_runs s
LEFT JOIN runs r ON r.run_id = s.run_id
LEFT JOIN pipelines p ON p.pipeline_id = s.pipeline_id
LEFT JOIN stages d ON d.pipeline_id = s.pipeline_id AND d.stage_order = s.stage_order;

CREATE VIEW v_checks AS
SELECT v.stage_run_id, v.place, v.run_id, v.pipeline_id, v.stage_order, v.dataset_id, v.rule_set_id, v.check_name, v.settings, v.severity, v.on_fail, v.passed, v.broken, v.observed, v.expected, v.message, v.sample, v.duration_ms, v.at, s.stage_name, s.status AS stage_status, p.owner
FROM verdicts v
LEFT JOIN stage_runs s ON s.stage_run_id = v.stage_run_id
LEFT JOIN pipelines p ON p.pipeline_id = v.pipeline_id;

CREATE VIEW v_requests AS
SELECT q.request_id, q.selection, q.pipelines, q.options, q.status, q.because, q.asked_by, q.asked_at, q.not_before, q.attempt, q.after_run_id, q.run_ids, q.worker, q.ended_at,
  q.status = 'waiting' AND (q.not_before IS NULL OR (julianday(q.not_before) <= julianday('now'))) AS is_due,
  round((julianday(coalesce(q.ended_at, 'now')) - julianday(q.asked_at)) * 86400.0, 3) AS age_sec
FROM requests q;

CREATE VIEW v_leases AS
SELECT l.resource, l.token, l.owner, l.host, l.pid, l.run_id, l.stage_run_id, l.acquired_at, l.expires_at,
  l.owner IS NOT NULL AND NOT (julianday(l.expires_at) <= julianday('now')) AS held,
  round((julianday(l.expires_at) - julianday('now')) * 86400.0, 3) AS left_sec,
  coalesce(s.pipeline_id, r.pipeline_id) AS pipeline_id,
  s.stage_order
FROM leases l
LEFT JOIN runs r ON r.run_id = l.run_id
LEFT JOIN stage_runs s ON s.stage_run_id = l.stage_run_id;

CREATE VIEW v_changes AS
SELECT change_id, revision, at, actor, reason, table_name, row_key, operation FROM changes;

CREATE VIEW v_stops AS
SELECT f.entity_type, f.entity_id, 'control_flags' AS set_in,
  coalesce(c.at, f.updated_at) AS since,
  coalesce(CASE WHEN c.actor <> 'direct' THEN c.actor END, f.updated_by, c.actor) AS who,
  coalesce(f.reason, c.reason) AS because,
  f.ends_at AS until
FROM control_flags f
LEFT JOIN changes c ON c.change_id = (
  SELECT max(x.change_id) FROM changes x
  WHERE x.table_name = 'control_flags' AND x.row_key = json_array(f.entity_type, f.entity_id, f.flag_name)
    AND (json_extract(x."after", '$.flag_value') = 0)
    AND (x."before" IS NULL OR NOT (json_extract(x."before", '$.flag_value') = 0)))
WHERE f.flag_name = 'enabled' AND NOT f.flag_value
  AND (f.entity_type <> 'everything' OR f.entity_id = '*')
  AND (f.starts_at IS NULL OR (julianday(f.starts_at) <= julianday('now')))
  AND (f.ends_at IS NULL OR NOT (julianday(f.ends_at) <= julianday('now')))
UNION ALL
SELECT 'pipeline', p.pipeline_id, 'pipelines', c.at, c.actor, c.reason, NULL
FROM pipelines p
LEFT JOIN changes c ON c.change_id = (
  SELECT max(x.change_id) FROM changes x
  WHERE x.table_name = 'pipelines' AND x.row_key = json_array(p.pipeline_id)
    AND (json_extract(x."after", '$.enabled') = 0)
    AND (x."before" IS NULL OR NOT (json_extract(x."before", '$.enabled') = 0)))
WHERE NOT p.enabled
UNION ALL
SELECT 'stage', s.pipeline_id || '-' || s.stage_order, 'stages', c.at, c.actor, c.reason, NULL
FROM stages s
LEFT JOIN changes c ON c.change_id = (
  SELECT max(x.change_id) FROM changes x
  WHERE x.table_name = 'stages' AND x.row_key = json_array(s.pipeline_id, s.stage_order)
    AND (json_extract(x."after", '$.enabled') = 0)
    AND (x."before" IS NULL OR NOT (json_extract(x."before", '$.enabled') = 0)))
WHERE NOT s.enabled;

CREATE VIEW v_pipelines AS
SELECT n.*,
  CASE
    WHEN NOT n.enabled THEN
      CASE WHEN n.running > 0 THEN 'being stopped by ' ELSE 'stopped by ' END
      || coalesce(n.stopped_by, 'somebody') || coalesce(': ' || n.stopped_because, '')
    WHEN n.running > 0 THEN 'running'
    WHEN n.waiting_because IS NOT NULL THEN 'waiting: ' || n.waiting_because
    WHEN n.last_status IS NULL THEN 'never ran'
    WHEN n.last_error_code IS NOT NULL THEN
      n.last_status || ': ' || n.last_error_code || coalesce(': ' || n.last_error_message, '')
    ELSE n.last_status
  END AS reason
FROM (
  SELECT p.pipeline_id, p.description, p.owner, p.criticality, p.impact, p.schedule,
    p.sla_minutes,
    p.enabled AND e.set_in IS NULL AND f.set_in IS NULL AS enabled,
    CASE WHEN e.set_in IS NOT NULL THEN e.who
         WHEN f.set_in IS NOT NULL THEN f.who ELSE r.who END AS stopped_by,
    CASE WHEN e.set_in IS NOT NULL THEN e.because
         WHEN f.set_in IS NOT NULL THEN f.because ELSE r.because END AS stopped_because,
    CASE WHEN e.set_in IS NOT NULL THEN e.since
         WHEN f.set_in IS NOT NULL THEN f.since ELSE r.since END AS stopped_since,
    CASE WHEN e.set_in IS NOT NULL THEN e.until
         WHEN f.set_in IS NOT NULL THEN f.until END AS stopped_until,
    (SELECT count(*) FROM runs x
      WHERE x.pipeline_id = p.pipeline_id AND x.status = 'running') AS running,
    (SELECT coalesce(q.because, 'its turn has not come') FROM requests q
      WHERE q.status = 'waiting' AND EXISTS (SELECT 1 FROM json_each(q.pipelines) WHERE value = p.pipeline_id)
      ORDER BY q.asked_at LIMIT 1) AS waiting_because,
    l.run_id AS last_run_id, l.status AS last_status,
    l.started_at AS last_started_at, l.ended_at AS last_ended_at,
    l.error_code AS last_error_code, l.error_message AS last_error_message,
    (SELECT x.ended_at FROM runs x
      WHERE x.pipeline_id = p.pipeline_id AND x.status = 'succeeded'
      ORDER BY x.started_at DESC LIMIT 1) AS last_success_at
  FROM pipelines p
  LEFT JOIN v_stops e ON e.entity_type = 'everything'
  LEFT JOIN v_stops f ON f.set_in = 'control_flags'
    AND f.entity_type = 'pipeline' AND f.entity_id = p.pipeline_id
  LEFT JOIN v_stops r ON r.set_in = 'pipelines' AND r.entity_id = p.pipeline_id
  LEFT JOIN runs l ON l.run_id = (
    SELECT x.run_id FROM runs x WHERE x.pipeline_id = p.pipeline_id
    ORDER BY x.started_at DESC, x.run_id DESC LIMIT 1)
) n;

CREATE VIEW v_status AS
SELECT 'running' AS part, 'pipeline:' || r.pipeline_id AS subject, r.started_at AS since,
  (SELECT coalesce(s.stage_name, 'stage ' || s.stage_order) || coalesce(': ' || s.step, '')
    FROM stage_runs s WHERE s.run_id = r.run_id AND s.status = 'running'
    ORDER BY s.started_at DESC LIMIT 1) AS because,
  r.asked_by AS who, NULL AS until, r.run_id AS id, r.worker
FROM runs r WHERE r.status = 'running'
UNION ALL
SELECT 'waiting', coalesce((SELECT group_concat(value, ', ') FROM json_each(q.selection)), (SELECT group_concat(value, ', ') FROM json_each(q.pipelines)), 'everything'), q.asked_at,
  q.because, q.asked_by, q.not_before, q.request_id, NULL
FROM requests q WHERE q.status = 'waiting'
UNION ALL
SELECT 'failed', 'pipeline:' || r.pipeline_id, r.ended_at,
  coalesce(r.error_code || coalesce(': ' || r.error_message, ''), r.because, r.status),
  r.asked_by, NULL, r.run_id, r.worker
FROM runs r
WHERE r.status IN ('failed', 'interrupted') AND NOT EXISTS (
  SELECT 1 FROM runs x WHERE x.pipeline_id = r.pipeline_id AND x.started_at > r.started_at
    AND x.status IN ('succeeded', 'skipped', 'failed', 'interrupted'))
UNION ALL
SELECT 'stopped', CASE WHEN t.entity_type = 'everything' THEN 'everything'
    ELSE t.entity_type || ':' || t.entity_id END,
  t.since, t.because, t.who, t.until, t.set_in, NULL
FROM v_stops t;

