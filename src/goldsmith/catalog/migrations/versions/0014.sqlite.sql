CREATE TABLE pushes (
	push_id TEXT NOT NULL, 
	resource_uuid TEXT, 
	flow TEXT, 
	receiver TEXT, 
	manifest_hash TEXT, 
	started_at TEXT, 
	ended_at TEXT, 
	item_count INTEGER, 
	override_reason TEXT, 
	requested_by TEXT, 
	PRIMARY KEY (push_id), 
	CONSTRAINT ck_pushes_push_id CHECK (typeof(push_id) IN ('text', 'null')), 
	CONSTRAINT ck_pushes_resource_uuid CHECK (typeof(resource_uuid) IN ('text', 'null')), 
	CONSTRAINT ck_pushes_flow CHECK (typeof(flow) IN ('text', 'null')), 
	CONSTRAINT ck_pushes_receiver CHECK (typeof(receiver) IN ('text', 'null')), 
	CONSTRAINT ck_pushes_manifest_hash CHECK (typeof(manifest_hash) IN ('text', 'null')), 
	CONSTRAINT ck_pushes_started_at CHECK (started_at IS NULL OR (typeof(started_at) = 'text' AND (started_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR started_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(started_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(started_at, 12, 2) <> '24' AND julianday(started_at) IS NOT NULL AND date(substr(started_at, 1, 10), '+0 days') = substr(started_at, 1, 10) AND started_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_pushes_ended_at CHECK (ended_at IS NULL OR (typeof(ended_at) = 'text' AND (ended_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR ended_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(ended_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(ended_at, 12, 2) <> '24' AND julianday(ended_at) IS NOT NULL AND date(substr(ended_at, 1, 10), '+0 days') = substr(ended_at, 1, 10) AND ended_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_pushes_item_count CHECK (typeof(item_count) IN ('integer', 'null')), 
	CONSTRAINT ck_pushes_override_reason CHECK (typeof(override_reason) IN ('text', 'null')), 
	CONSTRAINT ck_pushes_requested_by CHECK (typeof(requested_by) IN ('text', 'null'))
);

CREATE INDEX ix_pushes_resource ON pushes (resource_uuid, flow, started_at);

CREATE TABLE push_batches (
	push_id TEXT NOT NULL, 
	body_hash TEXT NOT NULL, 
	invocation_id TEXT, 
	item_count INTEGER, 
	accepted_at TEXT, 
	PRIMARY KEY (push_id, body_hash), 
	CONSTRAINT ck_push_batches_push_id CHECK (typeof(push_id) IN ('text', 'null')), 
	CONSTRAINT ck_push_batches_body_hash CHECK (typeof(body_hash) IN ('text', 'null')), 
	CONSTRAINT ck_push_batches_invocation_id CHECK (typeof(invocation_id) IN ('text', 'null')), 
	CONSTRAINT ck_push_batches_item_count CHECK (typeof(item_count) IN ('integer', 'null')), 
	CONSTRAINT ck_push_batches_accepted_at CHECK (accepted_at IS NULL OR (typeof(accepted_at) = 'text' AND (accepted_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR accepted_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(accepted_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(accepted_at, 12, 2) <> '24' AND julianday(accepted_at) IS NOT NULL AND date(substr(accepted_at, 1, 10), '+0 days') = substr(accepted_at, 1, 10) AND accepted_at BETWEEN '1000' AND '9999'))
);

CREATE TABLE gateway_keys (
	key_id TEXT NOT NULL, 
	scope TEXT DEFAULT 'Ingestion' NOT NULL, 
	description TEXT, 
	resources TEXT, 
	secret_hash TEXT, 
	created_at TEXT, 
	created_by TEXT, 
	expires_at TEXT, 
	revoked_at TEXT, 
	PRIMARY KEY (key_id), 
	CONSTRAINT ck_gateway_keys_key_id CHECK (typeof(key_id) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_keys_scope CHECK (scope IN ('Ingestion', 'GraphQL')), 
	CONSTRAINT ck_gateway_keys_description CHECK (typeof(description) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_keys_resources CHECK (typeof(resources) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_keys_secret_hash CHECK (typeof(secret_hash) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_keys_created_at CHECK (created_at IS NULL OR (typeof(created_at) = 'text' AND (created_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR created_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(created_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(created_at, 12, 2) <> '24' AND julianday(created_at) IS NOT NULL AND date(substr(created_at, 1, 10), '+0 days') = substr(created_at, 1, 10) AND created_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_keys_created_by CHECK (typeof(created_by) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_keys_expires_at CHECK (expires_at IS NULL OR (typeof(expires_at) = 'text' AND (expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(expires_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(expires_at, 12, 2) <> '24' AND julianday(expires_at) IS NOT NULL AND date(substr(expires_at, 1, 10), '+0 days') = substr(expires_at, 1, 10) AND expires_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_keys_revoked_at CHECK (revoked_at IS NULL OR (typeof(revoked_at) = 'text' AND (revoked_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR revoked_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(revoked_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(revoked_at, 12, 2) <> '24' AND julianday(revoked_at) IS NOT NULL AND date(substr(revoked_at, 1, 10), '+0 days') = substr(revoked_at, 1, 10) AND revoked_at BETWEEN '1000' AND '9999'))
);

CREATE TABLE gateway_requests (
	invocation_id TEXT NOT NULL, 
	key_id TEXT, 
	flow TEXT, 
	body_hash TEXT, 
	body TEXT, 
	received_at TEXT, 
	processed_at TEXT, 
	attempts INTEGER DEFAULT 0 NOT NULL, 
	error TEXT, 
	PRIMARY KEY (invocation_id), 
	CONSTRAINT ck_gateway_requests_invocation_id CHECK (typeof(invocation_id) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_requests_key_id CHECK (typeof(key_id) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_requests_flow CHECK (typeof(flow) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_requests_body_hash CHECK (typeof(body_hash) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_requests_body CHECK (typeof(body) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_requests_received_at CHECK (received_at IS NULL OR (typeof(received_at) = 'text' AND (received_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR received_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(received_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(received_at, 12, 2) <> '24' AND julianday(received_at) IS NOT NULL AND date(substr(received_at, 1, 10), '+0 days') = substr(received_at, 1, 10) AND received_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_requests_processed_at CHECK (processed_at IS NULL OR (typeof(processed_at) = 'text' AND (processed_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR processed_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(processed_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(processed_at, 12, 2) <> '24' AND julianday(processed_at) IS NOT NULL AND date(substr(processed_at, 1, 10), '+0 days') = substr(processed_at, 1, 10) AND processed_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_requests_attempts CHECK (typeof(attempts) IN ('integer', 'null')), 
	CONSTRAINT ck_gateway_requests_error CHECK (typeof(error) IN ('text', 'null'))
);

CREATE INDEX ix_gateway_requests_body ON gateway_requests (body_hash);

CREATE INDEX ix_gateway_requests_waiting ON gateway_requests (processed_at, received_at);

CREATE TABLE gateway_resources (
	resource_uuid TEXT NOT NULL, 
	resource_type TEXT, 
	name TEXT, 
	created_at TEXT, 
	PRIMARY KEY (resource_uuid), 
	CONSTRAINT ck_gateway_resources_resource_uuid CHECK (typeof(resource_uuid) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_resources_resource_type CHECK (typeof(resource_type) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_resources_name CHECK (typeof(name) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_resources_created_at CHECK (created_at IS NULL OR (typeof(created_at) = 'text' AND (created_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR created_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(created_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(created_at, 12, 2) <> '24' AND julianday(created_at) IS NOT NULL AND date(substr(created_at, 1, 10), '+0 days') = substr(created_at, 1, 10) AND created_at BETWEEN '1000' AND '9999'))
);

CREATE TABLE gateway_tables (
	mcon TEXT NOT NULL, 
	resource_uuid TEXT, 
	full_table_id TEXT, 
	table_type TEXT, 
	database_name TEXT, 
	schema_name TEXT, 
	table_name TEXT, 
	description TEXT, 
	view_query TEXT, 
	created_on TEXT, 
	tags TEXT, 
	last_update_time TEXT, 
	row_count REAL, 
	byte_count REAL, 
	volume_changed_at TEXT, 
	invocation_id TEXT, 
	first_seen_at TEXT, 
	last_seen_at TEXT, 
	deleted_at TEXT, 
	PRIMARY KEY (mcon), 
	CONSTRAINT ck_gateway_tables_mcon CHECK (typeof(mcon) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_tables_resource_uuid CHECK (typeof(resource_uuid) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_tables_full_table_id CHECK (typeof(full_table_id) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_tables_table_type CHECK (typeof(table_type) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_tables_database_name CHECK (typeof(database_name) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_tables_schema_name CHECK (typeof(schema_name) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_tables_table_name CHECK (typeof(table_name) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_tables_description CHECK (typeof(description) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_tables_view_query CHECK (typeof(view_query) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_tables_created_on CHECK (typeof(created_on) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_tables_tags CHECK (tags IS NULL OR (typeof(tags) = 'text' AND json_valid(tags) AND json_type(tags) = 'array')), 
	CONSTRAINT ck_gateway_tables_last_update_time CHECK (last_update_time IS NULL OR (typeof(last_update_time) = 'text' AND (last_update_time GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR last_update_time GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(last_update_time, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(last_update_time, 12, 2) <> '24' AND julianday(last_update_time) IS NOT NULL AND date(substr(last_update_time, 1, 10), '+0 days') = substr(last_update_time, 1, 10) AND last_update_time BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_tables_row_count CHECK (typeof(row_count) IN ('integer', 'real', 'null') AND row_count BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_gateway_tables_byte_count CHECK (typeof(byte_count) IN ('integer', 'real', 'null') AND byte_count BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_gateway_tables_volume_changed_at CHECK (volume_changed_at IS NULL OR (typeof(volume_changed_at) = 'text' AND (volume_changed_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR volume_changed_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(volume_changed_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(volume_changed_at, 12, 2) <> '24' AND julianday(volume_changed_at) IS NOT NULL AND date(substr(volume_changed_at, 1, 10), '+0 days') = substr(volume_changed_at, 1, 10) AND volume_changed_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_tables_invocation_id CHECK (typeof(invocation_id) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_tables_first_seen_at CHECK (first_seen_at IS NULL OR (typeof(first_seen_at) = 'text' AND (first_seen_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR first_seen_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(first_seen_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(first_seen_at, 12, 2) <> '24' AND julianday(first_seen_at) IS NOT NULL AND date(substr(first_seen_at, 1, 10), '+0 days') = substr(first_seen_at, 1, 10) AND first_seen_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_tables_last_seen_at CHECK (last_seen_at IS NULL OR (typeof(last_seen_at) = 'text' AND (last_seen_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR last_seen_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(last_seen_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(last_seen_at, 12, 2) <> '24' AND julianday(last_seen_at) IS NOT NULL AND date(substr(last_seen_at, 1, 10), '+0 days') = substr(last_seen_at, 1, 10) AND last_seen_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_tables_deleted_at CHECK (deleted_at IS NULL OR (typeof(deleted_at) = 'text' AND (deleted_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR deleted_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(deleted_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(deleted_at, 12, 2) <> '24' AND julianday(deleted_at) IS NOT NULL AND date(substr(deleted_at, 1, 10), '+0 days') = substr(deleted_at, 1, 10) AND deleted_at BETWEEN '1000' AND '9999'))
);

CREATE INDEX ix_gateway_tables_name ON gateway_tables (resource_uuid, full_table_id);

CREATE TABLE gateway_schemas (
	mcon TEXT NOT NULL, 
	version_id TEXT NOT NULL, 
	seen_at TEXT, 
	columns TEXT, 
	PRIMARY KEY (mcon, version_id), 
	CONSTRAINT ck_gateway_schemas_mcon CHECK (typeof(mcon) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_schemas_version_id CHECK (typeof(version_id) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_schemas_seen_at CHECK (seen_at IS NULL OR (typeof(seen_at) = 'text' AND (seen_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR seen_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(seen_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(seen_at, 12, 2) <> '24' AND julianday(seen_at) IS NOT NULL AND date(substr(seen_at, 1, 10), '+0 days') = substr(seen_at, 1, 10) AND seen_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_schemas_columns CHECK (columns IS NULL OR (typeof(columns) = 'text' AND json_valid(columns) AND json_type(columns) = 'array'))
);

CREATE TABLE gateway_measures (
	mcon TEXT NOT NULL, 
	metric TEXT NOT NULL, 
	invocation_id TEXT NOT NULL, 
	value REAL, 
	measured_at TEXT, 
	PRIMARY KEY (mcon, metric, invocation_id), 
	CONSTRAINT ck_gateway_measures_mcon CHECK (typeof(mcon) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_measures_metric CHECK (typeof(metric) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_measures_invocation_id CHECK (typeof(invocation_id) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_measures_value CHECK (typeof(value) IN ('integer', 'real', 'null') AND value BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_gateway_measures_measured_at CHECK (measured_at IS NULL OR (typeof(measured_at) = 'text' AND (measured_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR measured_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(measured_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(measured_at, 12, 2) <> '24' AND julianday(measured_at) IS NOT NULL AND date(substr(measured_at, 1, 10), '+0 days') = substr(measured_at, 1, 10) AND measured_at BETWEEN '1000' AND '9999'))
);

CREATE INDEX ix_gateway_measures_time ON gateway_measures (mcon, metric, measured_at);

CREATE TABLE gateway_nodes (
	mcon TEXT NOT NULL, 
	resource_uuid TEXT, 
	object_type TEXT, 
	object_id TEXT, 
	display_name TEXT, 
	properties TEXT, 
	is_custom BOOLEAN DEFAULT 0 NOT NULL, 
	expires_at TEXT, 
	updated_at TEXT, 
	PRIMARY KEY (mcon), 
	CONSTRAINT ck_gateway_nodes_mcon CHECK (typeof(mcon) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_nodes_resource_uuid CHECK (typeof(resource_uuid) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_nodes_object_type CHECK (typeof(object_type) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_nodes_object_id CHECK (typeof(object_id) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_nodes_display_name CHECK (typeof(display_name) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_nodes_properties CHECK (properties IS NULL OR (typeof(properties) = 'text' AND json_valid(properties) AND json_type(properties) = 'object')), 
	CONSTRAINT ck_gateway_nodes_is_custom CHECK (is_custom IN (0, 1)), 
	CONSTRAINT ck_gateway_nodes_expires_at CHECK (expires_at IS NULL OR (typeof(expires_at) = 'text' AND (expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(expires_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(expires_at, 12, 2) <> '24' AND julianday(expires_at) IS NOT NULL AND date(substr(expires_at, 1, 10), '+0 days') = substr(expires_at, 1, 10) AND expires_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_nodes_updated_at CHECK (updated_at IS NULL OR (typeof(updated_at) = 'text' AND (updated_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR updated_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(updated_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(updated_at, 12, 2) <> '24' AND julianday(updated_at) IS NOT NULL AND date(substr(updated_at, 1, 10), '+0 days') = substr(updated_at, 1, 10) AND updated_at BETWEEN '1000' AND '9999'))
);

CREATE TABLE gateway_edges (
	source TEXT NOT NULL, 
	destination TEXT NOT NULL, 
	source_column TEXT NOT NULL, 
	destination_column TEXT NOT NULL, 
	origin TEXT NOT NULL, 
	origin_type TEXT, 
	edge_type TEXT, 
	expires_at TEXT, 
	invocation_id TEXT, 
	updated_at TEXT, 
	PRIMARY KEY (source, destination, source_column, destination_column, origin), 
	CONSTRAINT ck_gateway_edges_source CHECK (typeof(source) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_edges_destination CHECK (typeof(destination) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_edges_source_column CHECK (typeof(source_column) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_edges_destination_column CHECK (typeof(destination_column) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_edges_origin CHECK (typeof(origin) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_edges_origin_type CHECK (typeof(origin_type) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_edges_edge_type CHECK (typeof(edge_type) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_edges_expires_at CHECK (expires_at IS NULL OR (typeof(expires_at) = 'text' AND (expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(expires_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(expires_at, 12, 2) <> '24' AND julianday(expires_at) IS NOT NULL AND date(substr(expires_at, 1, 10), '+0 days') = substr(expires_at, 1, 10) AND expires_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_edges_invocation_id CHECK (typeof(invocation_id) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_edges_updated_at CHECK (updated_at IS NULL OR (typeof(updated_at) = 'text' AND (updated_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR updated_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(updated_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(updated_at, 12, 2) <> '24' AND julianday(updated_at) IS NOT NULL AND date(substr(updated_at, 1, 10), '+0 days') = substr(updated_at, 1, 10) AND updated_at BETWEEN '1000' AND '9999'))
);

CREATE INDEX ix_gateway_edges_destination ON gateway_edges (destination);

CREATE TABLE gateway_queries (
	resource_uuid TEXT NOT NULL, 
	query_id TEXT NOT NULL, 
	query_text TEXT, 
	query_hash TEXT, 
	category TEXT, 
	user_name TEXT, 
	started_at TEXT, 
	ended_at TEXT, 
	returned_rows REAL, 
	error_code TEXT, 
	error_text TEXT, 
	more TEXT, 
	invocation_id TEXT, 
	PRIMARY KEY (resource_uuid, query_id), 
	CONSTRAINT ck_gateway_queries_resource_uuid CHECK (typeof(resource_uuid) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_queries_query_id CHECK (typeof(query_id) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_queries_query_text CHECK (typeof(query_text) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_queries_query_hash CHECK (typeof(query_hash) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_queries_category CHECK (typeof(category) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_queries_user_name CHECK (typeof(user_name) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_queries_started_at CHECK (started_at IS NULL OR (typeof(started_at) = 'text' AND (started_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR started_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(started_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(started_at, 12, 2) <> '24' AND julianday(started_at) IS NOT NULL AND date(substr(started_at, 1, 10), '+0 days') = substr(started_at, 1, 10) AND started_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_queries_ended_at CHECK (ended_at IS NULL OR (typeof(ended_at) = 'text' AND (ended_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR ended_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(ended_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(ended_at, 12, 2) <> '24' AND julianday(ended_at) IS NOT NULL AND date(substr(ended_at, 1, 10), '+0 days') = substr(ended_at, 1, 10) AND ended_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_queries_returned_rows CHECK (typeof(returned_rows) IN ('integer', 'real', 'null') AND returned_rows BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_gateway_queries_error_code CHECK (typeof(error_code) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_queries_error_text CHECK (typeof(error_text) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_queries_more CHECK (more IS NULL OR (typeof(more) = 'text' AND json_valid(more) AND json_type(more) = 'object')), 
	CONSTRAINT ck_gateway_queries_invocation_id CHECK (typeof(invocation_id) IN ('text', 'null'))
);

CREATE TABLE gateway_query_tables (
	mcon TEXT NOT NULL, 
	access TEXT NOT NULL, 
	resource_uuid TEXT NOT NULL, 
	query_id TEXT NOT NULL, 
	started_at TEXT, 
	PRIMARY KEY (mcon, access, resource_uuid, query_id), 
	CONSTRAINT ck_gateway_query_tables_mcon CHECK (typeof(mcon) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_query_tables_access CHECK (typeof(access) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_query_tables_resource_uuid CHECK (typeof(resource_uuid) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_query_tables_query_id CHECK (typeof(query_id) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_query_tables_started_at CHECK (started_at IS NULL OR (typeof(started_at) = 'text' AND (started_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR started_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(started_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(started_at, 12, 2) <> '24' AND julianday(started_at) IS NOT NULL AND date(substr(started_at, 1, 10), '+0 days') = substr(started_at, 1, 10) AND started_at BETWEEN '1000' AND '9999'))
);

CREATE TABLE gateway_objects (
	resource_uuid TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	object_id TEXT NOT NULL, 
	content TEXT, 
	invocation_id TEXT, 
	updated_at TEXT, 
	PRIMARY KEY (resource_uuid, kind, object_id), 
	CONSTRAINT ck_gateway_objects_resource_uuid CHECK (typeof(resource_uuid) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_objects_kind CHECK (typeof(kind) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_objects_object_id CHECK (typeof(object_id) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_objects_content CHECK (content IS NULL OR (typeof(content) = 'text' AND json_valid(content) AND json_type(content) = 'object')), 
	CONSTRAINT ck_gateway_objects_invocation_id CHECK (typeof(invocation_id) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_objects_updated_at CHECK (updated_at IS NULL OR (typeof(updated_at) = 'text' AND (updated_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR updated_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(updated_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(updated_at, 12, 2) <> '24' AND julianday(updated_at) IS NOT NULL AND date(substr(updated_at, 1, 10), '+0 days') = substr(updated_at, 1, 10) AND updated_at BETWEEN '1000' AND '9999'))
);

