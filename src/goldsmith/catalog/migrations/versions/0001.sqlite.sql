CREATE TABLE pipelines (
	pipeline_id TEXT NOT NULL, 
	description TEXT, 
	enabled BOOLEAN DEFAULT 1 NOT NULL, 
	default_retry_id TEXT, 
	created_at TEXT DEFAULT CURRENT_TIMESTAMP, 
	criticality TEXT DEFAULT 'normal' NOT NULL, 
	impact TEXT DEFAULT 'none' NOT NULL, 
	schedule TEXT, 
	owner TEXT, 
	sla_minutes INTEGER, 
	tags TEXT, 
	on_catalog_loss TEXT DEFAULT 'keep' NOT NULL, 
	PRIMARY KEY (pipeline_id), 
	CONSTRAINT ck_pipelines_pipeline_id CHECK (typeof(pipeline_id) IN ('text', 'null')), 
	CONSTRAINT ck_pipelines_description CHECK (typeof(description) IN ('text', 'null')), 
	CONSTRAINT ck_pipelines_enabled CHECK (enabled IN (0, 1)), 
	CONSTRAINT ck_pipelines_default_retry_id CHECK (typeof(default_retry_id) IN ('text', 'null')), 
	CONSTRAINT ck_pipelines_created_at CHECK (created_at IS NULL OR (typeof(created_at) = 'text' AND (created_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR created_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(created_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(created_at, 12, 2) <> '24' AND julianday(created_at) IS NOT NULL AND date(substr(created_at, 1, 10), '+0 days') = substr(created_at, 1, 10) AND created_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_pipelines_criticality CHECK (criticality IN ('critical', 'normal', 'low')), 
	CONSTRAINT ck_pipelines_impact CHECK (impact IN ('revenue', 'customer', 'internal', 'none')), 
	CONSTRAINT ck_pipelines_schedule CHECK (typeof(schedule) IN ('text', 'null')), 
	CONSTRAINT ck_pipelines_owner CHECK (typeof(owner) IN ('text', 'null')), 
	CONSTRAINT ck_pipelines_sla_minutes CHECK (typeof(sla_minutes) IN ('integer', 'null') AND sla_minutes >= 0), 
	CONSTRAINT ck_pipelines_tags CHECK (typeof(tags) IN ('text', 'null')), 
	CONSTRAINT ck_pipelines_on_catalog_loss CHECK (on_catalog_loss IN ('keep', 'stop'))
);

CREATE TABLE stages (
	pipeline_id TEXT NOT NULL, 
	stage_order INTEGER NOT NULL, 
	stage_name TEXT, 
	source_id TEXT, 
	target_id TEXT, 
	validation_set_id TEXT, 
	enabled BOOLEAN DEFAULT 1 NOT NULL, 
	layer TEXT, 
	transform_sql TEXT, 
	transform_dialect TEXT, 
	write_mode TEXT, 
	keys TEXT, 
	partition_by TEXT, 
	watermark_column TEXT, 
	pre_validation_set_id TEXT, 
	retry_id TEXT, 
	timeout_sec INTEGER, 
	stop_grace_sec REAL, 
	schema_policy TEXT, 
	options TEXT, 
	PRIMARY KEY (pipeline_id, stage_order), 
	CONSTRAINT ck_stages_pipeline_id CHECK (typeof(pipeline_id) IN ('text', 'null')), 
	CONSTRAINT ck_stages_stage_order CHECK (typeof(stage_order) IN ('integer', 'null') AND stage_order >= 0), 
	CONSTRAINT ck_stages_stage_name CHECK (typeof(stage_name) IN ('text', 'null')), 
	CONSTRAINT ck_stages_source_id CHECK (typeof(source_id) IN ('text', 'null')), 
	CONSTRAINT ck_stages_target_id CHECK (typeof(target_id) IN ('text', 'null')), 
	CONSTRAINT ck_stages_validation_set_id CHECK (typeof(validation_set_id) IN ('text', 'null')), 
	CONSTRAINT ck_stages_enabled CHECK (enabled IN (0, 1)), 
	CONSTRAINT ck_stages_layer CHECK (typeof(layer) IN ('text', 'null')), 
	CONSTRAINT ck_stages_transform_sql CHECK (typeof(transform_sql) IN ('text', 'null')), 
	CONSTRAINT ck_stages_transform_dialect CHECK (typeof(transform_dialect) IN ('text', 'null')), 
	CONSTRAINT ck_stages_write_mode CHECK (write_mode IN ('append', 'overwrite', 'merge', 'scd2')), 
	CONSTRAINT ck_stages_keys CHECK (typeof(keys) IN ('text', 'null')), 
	CONSTRAINT ck_stages_partition_by CHECK (typeof(partition_by) IN ('text', 'null')), 
	CONSTRAINT ck_stages_watermark_column CHECK (typeof(watermark_column) IN ('text', 'null')), 
	CONSTRAINT ck_stages_pre_validation_set_id CHECK (typeof(pre_validation_set_id) IN ('text', 'null')), 
	CONSTRAINT ck_stages_retry_id CHECK (typeof(retry_id) IN ('text', 'null')), 
	CONSTRAINT ck_stages_timeout_sec CHECK (typeof(timeout_sec) IN ('integer', 'null') AND timeout_sec >= 0), 
	CONSTRAINT ck_stages_stop_grace_sec CHECK (typeof(stop_grace_sec) IN ('integer', 'real', 'null') AND stop_grace_sec BETWEEN 0 AND 1e+100), 
	CONSTRAINT ck_stages_schema_policy CHECK (typeof(schema_policy) IN ('text', 'null')), 
	CONSTRAINT ck_stages_options CHECK (options IS NULL OR (typeof(options) = 'text' AND json_valid(options) AND json_type(options) = 'object'))
);

CREATE TABLE sources (
	source_id TEXT NOT NULL, 
	s3_path TEXT, 
	file_format TEXT, 
	schema_arn TEXT, 
	declared_schema TEXT, 
	options TEXT, 
	PRIMARY KEY (source_id), 
	CONSTRAINT ck_sources_source_id CHECK (typeof(source_id) IN ('text', 'null')), 
	CONSTRAINT ck_sources_s3_path CHECK (typeof(s3_path) IN ('text', 'null')), 
	CONSTRAINT ck_sources_file_format CHECK (typeof(file_format) IN ('text', 'null')), 
	CONSTRAINT ck_sources_schema_arn CHECK (typeof(schema_arn) IN ('text', 'null')), 
	CONSTRAINT ck_sources_declared_schema CHECK (typeof(declared_schema) IN ('text', 'null')), 
	CONSTRAINT ck_sources_options CHECK (options IS NULL OR (typeof(options) = 'text' AND json_valid(options) AND json_type(options) = 'object'))
);

CREATE TABLE targets (
	target_id TEXT NOT NULL, 
	location TEXT, 
	type TEXT, 
	options TEXT, 
	PRIMARY KEY (target_id), 
	CONSTRAINT ck_targets_target_id CHECK (typeof(target_id) IN ('text', 'null')), 
	CONSTRAINT ck_targets_location CHECK (typeof(location) IN ('text', 'null')), 
	CONSTRAINT ck_targets_type CHECK (typeof(type) IN ('text', 'null')), 
	CONSTRAINT ck_targets_options CHECK (options IS NULL OR (typeof(options) = 'text' AND json_valid(options) AND json_type(options) = 'object'))
);

CREATE TABLE validation_rules (
	rule_set_id TEXT NOT NULL, 
	description TEXT, 
	check_def TEXT, 
	severity TEXT DEFAULT 'critical' NOT NULL, 
	is_default BOOLEAN DEFAULT 0 NOT NULL, 
	PRIMARY KEY (rule_set_id), 
	CONSTRAINT ck_validation_rules_rule_set_id CHECK (typeof(rule_set_id) IN ('text', 'null')), 
	CONSTRAINT ck_validation_rules_description CHECK (typeof(description) IN ('text', 'null')), 
	CONSTRAINT ck_validation_rules_check_def CHECK (check_def IS NULL OR (typeof(check_def) = 'text' AND json_valid(check_def) AND json_type(check_def) = 'array')), 
	CONSTRAINT ck_validation_rules_severity CHECK (severity IN ('critical', 'warning', 'info')), 
	CONSTRAINT ck_validation_rules_is_default CHECK (is_default IN (0, 1))
);

CREATE TABLE control_flags (
	entity_type TEXT NOT NULL, 
	entity_id TEXT NOT NULL, 
	flag_name TEXT NOT NULL, 
	flag_value BOOLEAN DEFAULT 0 NOT NULL, 
	updated_at TEXT DEFAULT CURRENT_TIMESTAMP, 
	updated_by TEXT, 
	reason TEXT, 
	starts_at TEXT, 
	ends_at TEXT, 
	PRIMARY KEY (entity_type, entity_id, flag_name), 
	CONSTRAINT ck_control_flags_entity_type CHECK (entity_type IN ('everything', 'pipeline', 'stage', 'source', 'target')), 
	CONSTRAINT ck_control_flags_entity_id CHECK (typeof(entity_id) IN ('text', 'null')), 
	CONSTRAINT ck_control_flags_flag_name CHECK (typeof(flag_name) IN ('text', 'null')), 
	CONSTRAINT ck_control_flags_flag_value CHECK (flag_value IN (0, 1)), 
	CONSTRAINT ck_control_flags_updated_at CHECK (updated_at IS NULL OR (typeof(updated_at) = 'text' AND (updated_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR updated_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(updated_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(updated_at, 12, 2) <> '24' AND julianday(updated_at) IS NOT NULL AND date(substr(updated_at, 1, 10), '+0 days') = substr(updated_at, 1, 10) AND updated_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_control_flags_updated_by CHECK (typeof(updated_by) IN ('text', 'null')), 
	CONSTRAINT ck_control_flags_reason CHECK (typeof(reason) IN ('text', 'null')), 
	CONSTRAINT ck_control_flags_starts_at CHECK (starts_at IS NULL OR (typeof(starts_at) = 'text' AND (starts_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR starts_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(starts_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(starts_at, 12, 2) <> '24' AND julianday(starts_at) IS NOT NULL AND date(substr(starts_at, 1, 10), '+0 days') = substr(starts_at, 1, 10) AND starts_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_control_flags_ends_at CHECK (ends_at IS NULL OR (typeof(ends_at) = 'text' AND (ends_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR ends_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(ends_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(ends_at, 12, 2) <> '24' AND julianday(ends_at) IS NOT NULL AND date(substr(ends_at, 1, 10), '+0 days') = substr(ends_at, 1, 10) AND ends_at BETWEEN '1000' AND '9999'))
);

CREATE TABLE retry_policies (
	retry_id TEXT NOT NULL, 
	max_retries INTEGER DEFAULT 0 NOT NULL, 
	backoff_sec INTEGER DEFAULT 0 NOT NULL, 
	multiplier REAL DEFAULT (1.0) NOT NULL, 
	max_backoff_sec INTEGER, 
	jitter REAL DEFAULT (0.0) NOT NULL, 
	is_default BOOLEAN DEFAULT 0 NOT NULL, 
	PRIMARY KEY (retry_id), 
	CONSTRAINT ck_retry_policies_retry_id CHECK (typeof(retry_id) IN ('text', 'null')), 
	CONSTRAINT ck_retry_policies_max_retries CHECK (typeof(max_retries) IN ('integer', 'null') AND max_retries >= 0), 
	CONSTRAINT ck_retry_policies_backoff_sec CHECK (typeof(backoff_sec) IN ('integer', 'null') AND backoff_sec >= 0), 
	CONSTRAINT ck_retry_policies_multiplier CHECK (typeof(multiplier) IN ('integer', 'real', 'null') AND multiplier BETWEEN 0 AND 1e+100), 
	CONSTRAINT ck_retry_policies_max_backoff_sec CHECK (typeof(max_backoff_sec) IN ('integer', 'null') AND max_backoff_sec >= 0), 
	CONSTRAINT ck_retry_policies_jitter CHECK (typeof(jitter) IN ('integer', 'real', 'null') AND jitter BETWEEN 0 AND 1), 
	CONSTRAINT ck_retry_policies_is_default CHECK (is_default IN (0, 1))
);

CREATE TABLE healing_actions (
	error_code TEXT NOT NULL, 
	action_script TEXT, 
	settings TEXT, 
	max_uses INTEGER, 
	success_floor REAL, 
	enabled BOOLEAN DEFAULT 1 NOT NULL, 
	is_default BOOLEAN DEFAULT 0 NOT NULL, 
	PRIMARY KEY (error_code), 
	CONSTRAINT ck_healing_actions_error_code CHECK (typeof(error_code) IN ('text', 'null')), 
	CONSTRAINT ck_healing_actions_action_script CHECK (typeof(action_script) IN ('text', 'null')), 
	CONSTRAINT ck_healing_actions_settings CHECK (settings IS NULL OR (typeof(settings) = 'text' AND json_valid(settings) AND json_type(settings) = 'object')), 
	CONSTRAINT ck_healing_actions_max_uses CHECK (typeof(max_uses) IN ('integer', 'null') AND max_uses >= 0), 
	CONSTRAINT ck_healing_actions_success_floor CHECK (typeof(success_floor) IN ('integer', 'real', 'null') AND success_floor BETWEEN 0 AND 1), 
	CONSTRAINT ck_healing_actions_enabled CHECK (enabled IN (0, 1)), 
	CONSTRAINT ck_healing_actions_is_default CHECK (is_default IN (0, 1))
);

CREATE TABLE healing_steps (
	error_code TEXT NOT NULL, 
	step_order INTEGER NOT NULL, 
	action_script TEXT, 
	settings TEXT, 
	max_uses INTEGER, 
	success_floor REAL, 
	enabled BOOLEAN DEFAULT 1 NOT NULL, 
	is_default BOOLEAN DEFAULT 0 NOT NULL, 
	PRIMARY KEY (error_code, step_order), 
	CONSTRAINT ck_healing_steps_error_code CHECK (typeof(error_code) IN ('text', 'null')), 
	CONSTRAINT ck_healing_steps_step_order CHECK (typeof(step_order) IN ('integer', 'null')), 
	CONSTRAINT ck_healing_steps_action_script CHECK (typeof(action_script) IN ('text', 'null')), 
	CONSTRAINT ck_healing_steps_settings CHECK (settings IS NULL OR (typeof(settings) = 'text' AND json_valid(settings) AND json_type(settings) = 'object')), 
	CONSTRAINT ck_healing_steps_max_uses CHECK (typeof(max_uses) IN ('integer', 'null') AND max_uses >= 0), 
	CONSTRAINT ck_healing_steps_success_floor CHECK (typeof(success_floor) IN ('integer', 'real', 'null') AND success_floor BETWEEN 0 AND 1), 
	CONSTRAINT ck_healing_steps_enabled CHECK (enabled IN (0, 1)), 
	CONSTRAINT ck_healing_steps_is_default CHECK (is_default IN (0, 1))
);

CREATE TABLE profiles (
	profile_id TEXT NOT NULL, 
	description TEXT, 
	is_default BOOLEAN DEFAULT 0 NOT NULL, 
	PRIMARY KEY (profile_id), 
	CONSTRAINT ck_profiles_profile_id CHECK (typeof(profile_id) IN ('text', 'null')), 
	CONSTRAINT ck_profiles_description CHECK (typeof(description) IN ('text', 'null')), 
	CONSTRAINT ck_profiles_is_default CHECK (is_default IN (0, 1))
);

CREATE TABLE pipeline_profiles (
	pipeline_id TEXT NOT NULL, 
	profile_id TEXT, 
	PRIMARY KEY (pipeline_id), 
	CONSTRAINT ck_pipeline_profiles_pipeline_id CHECK (typeof(pipeline_id) IN ('text', 'null')), 
	CONSTRAINT ck_pipeline_profiles_profile_id CHECK (typeof(profile_id) IN ('text', 'null'))
);

CREATE TABLE profile_settings (
	profile_id TEXT NOT NULL, 
	setting_key TEXT NOT NULL, 
	setting_value REAL, 
	is_default BOOLEAN DEFAULT 0 NOT NULL, 
	PRIMARY KEY (profile_id, setting_key), 
	CONSTRAINT ck_profile_settings_profile_id CHECK (typeof(profile_id) IN ('text', 'null')), 
	CONSTRAINT ck_profile_settings_setting_key CHECK (typeof(setting_key) IN ('text', 'null')), 
	CONSTRAINT ck_profile_settings_setting_value CHECK (typeof(setting_value) IN ('integer', 'real', 'null') AND setting_value BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_profile_settings_is_default CHECK (is_default IN (0, 1))
);

CREATE TABLE throttles (
	throttle_id TEXT NOT NULL, 
	entity_type TEXT, 
	entity_id TEXT, 
	metric TEXT, 
	threshold REAL, 
	burst REAL, 
	safe_threshold REAL, 
	PRIMARY KEY (throttle_id), 
	CONSTRAINT ck_throttles_throttle_id CHECK (typeof(throttle_id) IN ('text', 'null')), 
	CONSTRAINT ck_throttles_entity_type CHECK (entity_type IN ('source', 'target')), 
	CONSTRAINT ck_throttles_entity_id CHECK (typeof(entity_id) IN ('text', 'null')), 
	CONSTRAINT ck_throttles_metric CHECK (typeof(metric) IN ('text', 'null')), 
	CONSTRAINT ck_throttles_threshold CHECK (typeof(threshold) IN ('integer', 'real', 'null') AND threshold BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_throttles_burst CHECK (typeof(burst) IN ('integer', 'real', 'null') AND burst BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_throttles_safe_threshold CHECK (typeof(safe_threshold) IN ('integer', 'real', 'null') AND safe_threshold BETWEEN -1e+100 AND 1e+100)
);

CREATE TABLE dataset_lineage (
	from_dataset_id TEXT NOT NULL, 
	to_dataset_id TEXT NOT NULL, 
	transform_name TEXT, 
	transformation_sql TEXT, 
	cost REAL, 
	latency_sec REAL, 
	PRIMARY KEY (from_dataset_id, to_dataset_id), 
	CONSTRAINT ck_dataset_lineage_from_dataset_id CHECK (typeof(from_dataset_id) IN ('text', 'null')), 
	CONSTRAINT ck_dataset_lineage_to_dataset_id CHECK (typeof(to_dataset_id) IN ('text', 'null')), 
	CONSTRAINT ck_dataset_lineage_transform_name CHECK (typeof(transform_name) IN ('text', 'null')), 
	CONSTRAINT ck_dataset_lineage_transformation_sql CHECK (typeof(transformation_sql) IN ('text', 'null')), 
	CONSTRAINT ck_dataset_lineage_cost CHECK (typeof(cost) IN ('integer', 'real', 'null') AND cost BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_dataset_lineage_latency_sec CHECK (typeof(latency_sec) IN ('integer', 'real', 'null') AND latency_sec BETWEEN -1e+100 AND 1e+100)
);

CREATE TABLE dataset_recovery_paths (
	dataset_id TEXT NOT NULL, 
	path_order INTEGER NOT NULL, 
	path_sequence TEXT, 
	cost REAL, 
	computed_at TEXT, 
	revision INTEGER, 
	PRIMARY KEY (dataset_id, path_order), 
	CONSTRAINT ck_dataset_recovery_paths_dataset_id CHECK (typeof(dataset_id) IN ('text', 'null')), 
	CONSTRAINT ck_dataset_recovery_paths_path_order CHECK (typeof(path_order) IN ('integer', 'null')), 
	CONSTRAINT ck_dataset_recovery_paths_path_sequence CHECK (typeof(path_sequence) IN ('text', 'null')), 
	CONSTRAINT ck_dataset_recovery_paths_cost CHECK (typeof(cost) IN ('integer', 'real', 'null') AND cost BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_dataset_recovery_paths_computed_at CHECK (computed_at IS NULL OR (typeof(computed_at) = 'text' AND (computed_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR computed_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(computed_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(computed_at, 12, 2) <> '24' AND julianday(computed_at) IS NOT NULL AND date(substr(computed_at, 1, 10), '+0 days') = substr(computed_at, 1, 10) AND computed_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_dataset_recovery_paths_revision CHECK (typeof(revision) IN ('integer', 'null'))
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
	change_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	revision BIGINT NOT NULL, 
	at TEXT DEFAULT CURRENT_TIMESTAMP NOT NULL, 
	actor TEXT NOT NULL, 
	reason TEXT, 
	table_name TEXT NOT NULL, 
	row_key TEXT NOT NULL, 
	operation TEXT NOT NULL, 
	"before" TEXT, 
	"after" TEXT, 
	CONSTRAINT ck_changes_operation CHECK (operation IN ('insert', 'update', 'delete'))
);

CREATE INDEX ix_changes_revision ON changes (revision);

CREATE INDEX ix_changes_row ON changes (table_name, row_key, change_id);

