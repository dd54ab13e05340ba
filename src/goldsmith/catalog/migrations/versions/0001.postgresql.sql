CREATE TABLE pipelines (
	pipeline_id TEXT NOT NULL, 
	description TEXT, 
	enabled BOOLEAN DEFAULT true NOT NULL, 
	default_retry_id TEXT, 
	created_at TIMESTAMP WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP, 
	criticality TEXT DEFAULT 'normal' NOT NULL, 
	impact TEXT DEFAULT 'none' NOT NULL, 
	schedule TEXT, 
	owner TEXT, 
	sla_minutes BIGINT, 
	tags TEXT, 
	on_catalog_loss TEXT DEFAULT 'keep' NOT NULL, 
	PRIMARY KEY (pipeline_id), 
	CONSTRAINT ck_pipelines_created_at CHECK (created_at >= '1000-01-01 00:00:00+00:00' AND created_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_pipelines_criticality CHECK (criticality IN ('critical', 'normal', 'low')), 
	CONSTRAINT ck_pipelines_impact CHECK (impact IN ('revenue', 'customer', 'internal', 'none')), 
	CONSTRAINT ck_pipelines_sla_minutes CHECK (sla_minutes >= 0), 
	CONSTRAINT ck_pipelines_on_catalog_loss CHECK (on_catalog_loss IN ('keep', 'stop'))
);

CREATE TABLE stages (
	pipeline_id TEXT NOT NULL, 
	stage_order BIGINT NOT NULL, 
	stage_name TEXT, 
	source_id TEXT, 
	target_id TEXT, 
	validation_set_id TEXT, 
	enabled BOOLEAN DEFAULT true NOT NULL, 
	layer TEXT, 
	transform_sql TEXT, 
	transform_dialect TEXT, 
	write_mode TEXT, 
	keys TEXT, 
	partition_by TEXT, 
	watermark_column TEXT, 
	pre_validation_set_id TEXT, 
	retry_id TEXT, 
	timeout_sec BIGINT, 
	stop_grace_sec DOUBLE PRECISION, 
	schema_policy TEXT, 
	options JSONB, 
	PRIMARY KEY (pipeline_id, stage_order), 
	CONSTRAINT ck_stages_stage_order CHECK (stage_order >= 0), 
	CONSTRAINT ck_stages_write_mode CHECK (write_mode IN ('append', 'overwrite', 'merge', 'scd2')), 
	CONSTRAINT ck_stages_timeout_sec CHECK (timeout_sec >= 0), 
	CONSTRAINT ck_stages_stop_grace_sec CHECK (stop_grace_sec BETWEEN 0 AND 1e+100), 
	CONSTRAINT ck_stages_options CHECK (jsonb_typeof(options) = 'object')
);

CREATE TABLE sources (
	source_id TEXT NOT NULL, 
	s3_path TEXT, 
	file_format TEXT, 
	schema_arn TEXT, 
	declared_schema TEXT, 
	options JSONB, 
	PRIMARY KEY (source_id), 
	CONSTRAINT ck_sources_options CHECK (jsonb_typeof(options) = 'object')
);

CREATE TABLE targets (
	target_id TEXT NOT NULL, 
	location TEXT, 
	type TEXT, 
	options JSONB, 
	PRIMARY KEY (target_id), 
	CONSTRAINT ck_targets_options CHECK (jsonb_typeof(options) = 'object')
);

CREATE TABLE validation_rules (
	rule_set_id TEXT NOT NULL, 
	description TEXT, 
	check_def JSONB, 
	severity TEXT DEFAULT 'critical' NOT NULL, 
	is_default BOOLEAN DEFAULT false NOT NULL, 
	PRIMARY KEY (rule_set_id), 
	CONSTRAINT ck_validation_rules_check_def CHECK (jsonb_typeof(check_def) = 'array'), 
	CONSTRAINT ck_validation_rules_severity CHECK (severity IN ('critical', 'warning', 'info'))
);

CREATE TABLE control_flags (
	entity_type TEXT NOT NULL, 
	entity_id TEXT NOT NULL, 
	flag_name TEXT NOT NULL, 
	flag_value BOOLEAN DEFAULT false NOT NULL, 
	updated_at TIMESTAMP WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP, 
	updated_by TEXT, 
	reason TEXT, 
	starts_at TIMESTAMP WITH TIME ZONE, 
	ends_at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (entity_type, entity_id, flag_name), 
	CONSTRAINT ck_control_flags_entity_type CHECK (entity_type IN ('everything', 'pipeline', 'stage', 'source', 'target')), 
	CONSTRAINT ck_control_flags_updated_at CHECK (updated_at >= '1000-01-01 00:00:00+00:00' AND updated_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_control_flags_starts_at CHECK (starts_at >= '1000-01-01 00:00:00+00:00' AND starts_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_control_flags_ends_at CHECK (ends_at >= '1000-01-01 00:00:00+00:00' AND ends_at < '9999-01-01 00:00:00+00:00')
);

CREATE TABLE retry_policies (
	retry_id TEXT NOT NULL, 
	max_retries BIGINT DEFAULT 0 NOT NULL, 
	backoff_sec BIGINT DEFAULT 0 NOT NULL, 
	multiplier DOUBLE PRECISION DEFAULT 1.0 NOT NULL, 
	max_backoff_sec BIGINT, 
	jitter DOUBLE PRECISION DEFAULT 0.0 NOT NULL, 
	is_default BOOLEAN DEFAULT false NOT NULL, 
	PRIMARY KEY (retry_id), 
	CONSTRAINT ck_retry_policies_max_retries CHECK (max_retries >= 0), 
	CONSTRAINT ck_retry_policies_backoff_sec CHECK (backoff_sec >= 0), 
	CONSTRAINT ck_retry_policies_multiplier CHECK (multiplier BETWEEN 0 AND 1e+100), 
	CONSTRAINT ck_retry_policies_max_backoff_sec CHECK (max_backoff_sec >= 0), 
	CONSTRAINT ck_retry_policies_jitter CHECK (jitter BETWEEN 0 AND 1)
);

CREATE TABLE healing_actions (
	error_code TEXT NOT NULL, 
	action_script TEXT, 
	settings JSONB, 
	max_uses BIGINT, 
	success_floor DOUBLE PRECISION, 
	enabled BOOLEAN DEFAULT true NOT NULL, 
	is_default BOOLEAN DEFAULT false NOT NULL, 
	PRIMARY KEY (error_code), 
	CONSTRAINT ck_healing_actions_settings CHECK (jsonb_typeof(settings) = 'object'), 
	CONSTRAINT ck_healing_actions_max_uses CHECK (max_uses >= 0), 
	CONSTRAINT ck_healing_actions_success_floor CHECK (success_floor BETWEEN 0 AND 1)
);

CREATE TABLE healing_steps (
	error_code TEXT NOT NULL, 
	step_order BIGINT NOT NULL, 
	action_script TEXT, 
	settings JSONB, 
	max_uses BIGINT, 
	success_floor DOUBLE PRECISION, 
	enabled BOOLEAN DEFAULT true NOT NULL, 
	is_default BOOLEAN DEFAULT false NOT NULL, 
	PRIMARY KEY (error_code, step_order), 
	CONSTRAINT ck_healing_steps_settings CHECK (jsonb_typeof(settings) = 'object'), 
	CONSTRAINT ck_healing_steps_max_uses CHECK (max_uses >= 0), 
	CONSTRAINT ck_healing_steps_success_floor CHECK (success_floor BETWEEN 0 AND 1)
);

CREATE TABLE profiles (
	profile_id TEXT NOT NULL, 
	description TEXT, 
	is_default BOOLEAN DEFAULT false NOT NULL, 
	PRIMARY KEY (profile_id)
);

CREATE TABLE pipeline_profiles (
	pipeline_id TEXT NOT NULL, 
	profile_id TEXT, 
	PRIMARY KEY (pipeline_id)
);

CREATE TABLE profile_settings (
	profile_id TEXT NOT NULL, 
	setting_key TEXT NOT NULL, 
	setting_value DOUBLE PRECISION, 
	is_default BOOLEAN DEFAULT false NOT NULL, 
	PRIMARY KEY (profile_id, setting_key), 
	CONSTRAINT ck_profile_settings_setting_value CHECK (setting_value BETWEEN -1e+100 AND 1e+100)
);

CREATE TABLE throttles (
	throttle_id TEXT NOT NULL, 
	entity_type TEXT, 
	entity_id TEXT, 
	metric TEXT, 
	threshold DOUBLE PRECISION, 
	burst DOUBLE PRECISION, 
	safe_threshold DOUBLE PRECISION, 
	PRIMARY KEY (throttle_id), 
	CONSTRAINT ck_throttles_entity_type CHECK (entity_type IN ('source', 'target')), 
	CONSTRAINT ck_throttles_threshold CHECK (threshold BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_throttles_burst CHECK (burst BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_throttles_safe_threshold CHECK (safe_threshold BETWEEN -1e+100 AND 1e+100)
);

CREATE TABLE dataset_lineage (
	from_dataset_id TEXT NOT NULL, 
	to_dataset_id TEXT NOT NULL, 
	transform_name TEXT, 
	transformation_sql TEXT, 
	cost DOUBLE PRECISION, 
	latency_sec DOUBLE PRECISION, 
	PRIMARY KEY (from_dataset_id, to_dataset_id), 
	CONSTRAINT ck_dataset_lineage_cost CHECK (cost BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_dataset_lineage_latency_sec CHECK (latency_sec BETWEEN -1e+100 AND 1e+100)
);

CREATE TABLE dataset_recovery_paths (
	dataset_id TEXT NOT NULL, 
	path_order BIGINT NOT NULL, 
	path_sequence TEXT, 
	cost DOUBLE PRECISION, 
	computed_at TIMESTAMP WITH TIME ZONE, 
	revision BIGINT, 
	PRIMARY KEY (dataset_id, path_order), 
	CONSTRAINT ck_dataset_recovery_paths_cost CHECK (cost BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_dataset_recovery_paths_computed_at CHECK (computed_at >= '1000-01-01 00:00:00+00:00' AND computed_at < '9999-01-01 00:00:00+00:00')
);

CREATE TABLE catalog_revision (
	one INTEGER NOT NULL, 
	revision BIGINT NOT NULL, 
	PRIMARY KEY (one), 
	CONSTRAINT ck_catalog_revision_one CHECK (one = 1)
);

CREATE TABLE change_context (
	transaction_id BIGINT NOT NULL, 
	revision BIGINT NOT NULL, 
	actor TEXT NOT NULL, 
	reason TEXT, 
	PRIMARY KEY (transaction_id)
);

CREATE TABLE changes (
	change_id BIGSERIAL NOT NULL, 
	revision BIGINT NOT NULL, 
	at TIMESTAMP WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP NOT NULL, 
	actor TEXT NOT NULL, 
	reason TEXT, 
	table_name TEXT NOT NULL, 
	row_key TEXT NOT NULL, 
	operation TEXT NOT NULL, 
	before JSONB, 
	after JSONB, 
	PRIMARY KEY (change_id), 
	CONSTRAINT ck_changes_operation CHECK (operation IN ('insert', 'update', 'delete'))
);

CREATE INDEX ix_changes_revision ON changes (revision);

CREATE INDEX ix_changes_row ON changes (table_name, row_key, change_id);

