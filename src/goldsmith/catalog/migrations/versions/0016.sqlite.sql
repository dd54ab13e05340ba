CREATE TABLE gateway_keys (
	key_id TEXT NOT NULL, 
	scope TEXT DEFAULT 'ingestion' NOT NULL, 
	description TEXT, 
	resources TEXT, 
	secret_hash TEXT, 
	created_at TEXT, 
	created_by TEXT, 
	expires_at TEXT, 
	revoked_at TEXT, 
	PRIMARY KEY (key_id), 
	CONSTRAINT ck_gateway_keys_key_id CHECK (typeof(key_id) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_keys_scope CHECK (scope IN ('ingestion', 'graphql')), 
	CONSTRAINT ck_gateway_keys_description CHECK (typeof(description) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_keys_resources CHECK (resources IS NULL OR (typeof(resources) = 'text' AND json_valid(resources) AND json_type(resources) = 'array')), 
	CONSTRAINT ck_gateway_keys_secret_hash CHECK (typeof(secret_hash) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_keys_created_at CHECK (created_at IS NULL OR (typeof(created_at) = 'text' AND (created_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR created_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(created_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(created_at, 12, 2) <> '24' AND julianday(created_at) IS NOT NULL AND date(substr(created_at, 1, 10), '+0 days') = substr(created_at, 1, 10) AND created_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_keys_created_by CHECK (typeof(created_by) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_keys_expires_at CHECK (expires_at IS NULL OR (typeof(expires_at) = 'text' AND (expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(expires_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(expires_at, 12, 2) <> '24' AND julianday(expires_at) IS NOT NULL AND date(substr(expires_at, 1, 10), '+0 days') = substr(expires_at, 1, 10) AND expires_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_keys_revoked_at CHECK (revoked_at IS NULL OR (typeof(revoked_at) = 'text' AND (revoked_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR revoked_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(revoked_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(revoked_at, 12, 2) <> '24' AND julianday(revoked_at) IS NOT NULL AND date(substr(revoked_at, 1, 10), '+0 days') = substr(revoked_at, 1, 10) AND revoked_at BETWEEN '1000' AND '9999'))
);

CREATE TABLE gateway_deliveries (
	invocation_id TEXT NOT NULL, 
	path TEXT, 
	key_id TEXT, 
	resource_uuid TEXT, 
	body_hash TEXT, 
	slot INTEGER, 
	body TEXT, 
	item_count INTEGER, 
	status TEXT DEFAULT 'received' NOT NULL, 
	problem TEXT, 
	received_at TEXT, 
	processed_at TEXT, 
	PRIMARY KEY (invocation_id), 
	CONSTRAINT ck_gateway_deliveries_invocation_id CHECK (typeof(invocation_id) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_deliveries_path CHECK (typeof(path) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_deliveries_key_id CHECK (typeof(key_id) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_deliveries_resource_uuid CHECK (typeof(resource_uuid) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_deliveries_body_hash CHECK (typeof(body_hash) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_deliveries_slot CHECK (typeof(slot) IN ('integer', 'null')), 
	CONSTRAINT ck_gateway_deliveries_body CHECK (typeof(body) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_deliveries_item_count CHECK (typeof(item_count) IN ('integer', 'null')), 
	CONSTRAINT ck_gateway_deliveries_status CHECK (status IN ('received', 'processed', 'failed')), 
	CONSTRAINT ck_gateway_deliveries_problem CHECK (typeof(problem) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_deliveries_received_at CHECK (received_at IS NULL OR (typeof(received_at) = 'text' AND (received_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR received_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(received_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(received_at, 12, 2) <> '24' AND julianday(received_at) IS NOT NULL AND date(substr(received_at, 1, 10), '+0 days') = substr(received_at, 1, 10) AND received_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_deliveries_processed_at CHECK (processed_at IS NULL OR (typeof(processed_at) = 'text' AND (processed_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR processed_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(processed_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(processed_at, 12, 2) <> '24' AND julianday(processed_at) IS NOT NULL AND date(substr(processed_at, 1, 10), '+0 days') = substr(processed_at, 1, 10) AND processed_at BETWEEN '1000' AND '9999'))
);

CREATE INDEX ix_gateway_deliveries_due ON gateway_deliveries (status, received_at);

CREATE UNIQUE INDEX ix_gateway_deliveries_same ON gateway_deliveries (key_id, path, body_hash, slot);

CREATE TABLE gateway_tables (
	resource_uuid TEXT NOT NULL, 
	full_table_id TEXT NOT NULL, 
	table_type TEXT, 
	"database" TEXT, 
	schema_name TEXT, 
	table_name TEXT, 
	resource_type TEXT, 
	description TEXT, 
	view_query TEXT, 
	created_on TEXT, 
	tags TEXT, 
	fields TEXT, 
	row_count INTEGER, 
	byte_count INTEGER, 
	last_update TEXT, 
	size_changed_at TEXT, 
	fields_changed_at TEXT, 
	first_seen_at TEXT, 
	last_seen_at TEXT, 
	deleted_at TEXT, 
	invocation_id TEXT, 
	PRIMARY KEY (resource_uuid, full_table_id), 
	CONSTRAINT ck_gateway_tables_resource_uuid CHECK (typeof(resource_uuid) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_tables_full_table_id CHECK (typeof(full_table_id) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_tables_table_type CHECK (typeof(table_type) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_tables_database CHECK (typeof(database) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_tables_schema_name CHECK (typeof(schema_name) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_tables_table_name CHECK (typeof(table_name) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_tables_resource_type CHECK (typeof(resource_type) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_tables_description CHECK (typeof(description) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_tables_view_query CHECK (typeof(view_query) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_tables_created_on CHECK (typeof(created_on) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_tables_tags CHECK (tags IS NULL OR (typeof(tags) = 'text' AND json_valid(tags) AND json_type(tags) = 'array')), 
	CONSTRAINT ck_gateway_tables_fields CHECK (fields IS NULL OR (typeof(fields) = 'text' AND json_valid(fields) AND json_type(fields) = 'array')), 
	CONSTRAINT ck_gateway_tables_row_count CHECK (typeof(row_count) IN ('integer', 'null')), 
	CONSTRAINT ck_gateway_tables_byte_count CHECK (typeof(byte_count) IN ('integer', 'null')), 
	CONSTRAINT ck_gateway_tables_last_update CHECK (last_update IS NULL OR (typeof(last_update) = 'text' AND (last_update GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR last_update GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(last_update, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(last_update, 12, 2) <> '24' AND julianday(last_update) IS NOT NULL AND date(substr(last_update, 1, 10), '+0 days') = substr(last_update, 1, 10) AND last_update BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_tables_size_changed_at CHECK (size_changed_at IS NULL OR (typeof(size_changed_at) = 'text' AND (size_changed_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR size_changed_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(size_changed_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(size_changed_at, 12, 2) <> '24' AND julianday(size_changed_at) IS NOT NULL AND date(substr(size_changed_at, 1, 10), '+0 days') = substr(size_changed_at, 1, 10) AND size_changed_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_tables_fields_changed_at CHECK (fields_changed_at IS NULL OR (typeof(fields_changed_at) = 'text' AND (fields_changed_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR fields_changed_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(fields_changed_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(fields_changed_at, 12, 2) <> '24' AND julianday(fields_changed_at) IS NOT NULL AND date(substr(fields_changed_at, 1, 10), '+0 days') = substr(fields_changed_at, 1, 10) AND fields_changed_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_tables_first_seen_at CHECK (first_seen_at IS NULL OR (typeof(first_seen_at) = 'text' AND (first_seen_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR first_seen_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(first_seen_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(first_seen_at, 12, 2) <> '24' AND julianday(first_seen_at) IS NOT NULL AND date(substr(first_seen_at, 1, 10), '+0 days') = substr(first_seen_at, 1, 10) AND first_seen_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_tables_last_seen_at CHECK (last_seen_at IS NULL OR (typeof(last_seen_at) = 'text' AND (last_seen_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR last_seen_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(last_seen_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(last_seen_at, 12, 2) <> '24' AND julianday(last_seen_at) IS NOT NULL AND date(substr(last_seen_at, 1, 10), '+0 days') = substr(last_seen_at, 1, 10) AND last_seen_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_tables_deleted_at CHECK (deleted_at IS NULL OR (typeof(deleted_at) = 'text' AND (deleted_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR deleted_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(deleted_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(deleted_at, 12, 2) <> '24' AND julianday(deleted_at) IS NOT NULL AND date(substr(deleted_at, 1, 10), '+0 days') = substr(deleted_at, 1, 10) AND deleted_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_tables_invocation_id CHECK (typeof(invocation_id) IN ('text', 'null'))
);

CREATE TABLE gateway_measurements (
	resource_uuid TEXT NOT NULL, 
	full_table_id TEXT NOT NULL, 
	metric TEXT NOT NULL, 
	epoch INTEGER NOT NULL, 
	value REAL, 
	invocation_id TEXT, 
	PRIMARY KEY (resource_uuid, full_table_id, metric, epoch), 
	CONSTRAINT ck_gateway_measurements_resource_uuid CHECK (typeof(resource_uuid) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_measurements_full_table_id CHECK (typeof(full_table_id) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_measurements_metric CHECK (typeof(metric) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_measurements_epoch CHECK (typeof(epoch) IN ('integer', 'null')), 
	CONSTRAINT ck_gateway_measurements_value CHECK (typeof(value) IN ('integer', 'real', 'null') AND value BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_gateway_measurements_invocation_id CHECK (typeof(invocation_id) IN ('text', 'null'))
);

CREATE TABLE gateway_nodes (
	mcon TEXT NOT NULL, 
	object_type TEXT, 
	object_id TEXT, 
	resource_uuid TEXT, 
	display_name TEXT, 
	properties TEXT, 
	is_custom BOOLEAN DEFAULT 0 NOT NULL, 
	seen_at TEXT, 
	expires_at TEXT, 
	PRIMARY KEY (mcon), 
	CONSTRAINT ck_gateway_nodes_mcon CHECK (typeof(mcon) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_nodes_object_type CHECK (typeof(object_type) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_nodes_object_id CHECK (typeof(object_id) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_nodes_resource_uuid CHECK (typeof(resource_uuid) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_nodes_display_name CHECK (typeof(display_name) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_nodes_properties CHECK (properties IS NULL OR (typeof(properties) = 'text' AND json_valid(properties) AND json_type(properties) = 'object')), 
	CONSTRAINT ck_gateway_nodes_is_custom CHECK (is_custom IN (0, 1)), 
	CONSTRAINT ck_gateway_nodes_seen_at CHECK (seen_at IS NULL OR (typeof(seen_at) = 'text' AND (seen_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR seen_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(seen_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(seen_at, 12, 2) <> '24' AND julianday(seen_at) IS NOT NULL AND date(substr(seen_at, 1, 10), '+0 days') = substr(seen_at, 1, 10) AND seen_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_nodes_expires_at CHECK (expires_at IS NULL OR (typeof(expires_at) = 'text' AND (expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(expires_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(expires_at, 12, 2) <> '24' AND julianday(expires_at) IS NOT NULL AND date(substr(expires_at, 1, 10), '+0 days') = substr(expires_at, 1, 10) AND expires_at BETWEEN '1000' AND '9999'))
);

CREATE TABLE gateway_edges (
	source TEXT NOT NULL, 
	destination TEXT NOT NULL, 
	origin TEXT NOT NULL, 
	origin_type TEXT, 
	edge_type TEXT, 
	seen_at TEXT, 
	expires_at TEXT, 
	invocation_id TEXT, 
	PRIMARY KEY (source, destination, origin), 
	CONSTRAINT ck_gateway_edges_source CHECK (typeof(source) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_edges_destination CHECK (typeof(destination) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_edges_origin CHECK (typeof(origin) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_edges_origin_type CHECK (typeof(origin_type) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_edges_edge_type CHECK (typeof(edge_type) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_edges_seen_at CHECK (seen_at IS NULL OR (typeof(seen_at) = 'text' AND (seen_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR seen_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(seen_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(seen_at, 12, 2) <> '24' AND julianday(seen_at) IS NOT NULL AND date(substr(seen_at, 1, 10), '+0 days') = substr(seen_at, 1, 10) AND seen_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_edges_expires_at CHECK (expires_at IS NULL OR (typeof(expires_at) = 'text' AND (expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(expires_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(expires_at, 12, 2) <> '24' AND julianday(expires_at) IS NOT NULL AND date(substr(expires_at, 1, 10), '+0 days') = substr(expires_at, 1, 10) AND expires_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_edges_invocation_id CHECK (typeof(invocation_id) IN ('text', 'null'))
);

CREATE INDEX ix_gateway_edges_destination ON gateway_edges (destination);

CREATE TABLE gateway_column_edges (
	source TEXT NOT NULL, 
	source_column TEXT NOT NULL, 
	destination TEXT NOT NULL, 
	destination_column TEXT NOT NULL, 
	seen_at TEXT, 
	expires_at TEXT, 
	invocation_id TEXT, 
	PRIMARY KEY (source, source_column, destination, destination_column), 
	CONSTRAINT ck_gateway_column_edges_source CHECK (typeof(source) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_column_edges_source_column CHECK (typeof(source_column) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_column_edges_destination CHECK (typeof(destination) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_column_edges_destination_column CHECK (typeof(destination_column) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_column_edges_seen_at CHECK (seen_at IS NULL OR (typeof(seen_at) = 'text' AND (seen_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR seen_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(seen_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(seen_at, 12, 2) <> '24' AND julianday(seen_at) IS NOT NULL AND date(substr(seen_at, 1, 10), '+0 days') = substr(seen_at, 1, 10) AND seen_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_column_edges_expires_at CHECK (expires_at IS NULL OR (typeof(expires_at) = 'text' AND (expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(expires_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(expires_at, 12, 2) <> '24' AND julianday(expires_at) IS NOT NULL AND date(substr(expires_at, 1, 10), '+0 days') = substr(expires_at, 1, 10) AND expires_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_column_edges_invocation_id CHECK (typeof(invocation_id) IN ('text', 'null'))
);

CREATE INDEX ix_gateway_column_edges_expires ON gateway_column_edges (expires_at);

CREATE TABLE gateway_queries (
	resource_uuid TEXT NOT NULL, 
	query_key TEXT NOT NULL, 
	mcon TEXT NOT NULL, 
	usage TEXT NOT NULL, 
	query_hash TEXT, 
	query_text TEXT, 
	category TEXT, 
	user_name TEXT, 
	started_at TEXT, 
	ended_at TEXT, 
	invocation_id TEXT, 
	PRIMARY KEY (resource_uuid, query_key, mcon, usage), 
	CONSTRAINT ck_gateway_queries_resource_uuid CHECK (typeof(resource_uuid) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_queries_query_key CHECK (typeof(query_key) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_queries_mcon CHECK (typeof(mcon) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_queries_usage CHECK (typeof(usage) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_queries_query_hash CHECK (typeof(query_hash) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_queries_query_text CHECK (typeof(query_text) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_queries_category CHECK (typeof(category) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_queries_user_name CHECK (typeof(user_name) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_queries_started_at CHECK (started_at IS NULL OR (typeof(started_at) = 'text' AND (started_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR started_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(started_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(started_at, 12, 2) <> '24' AND julianday(started_at) IS NOT NULL AND date(substr(started_at, 1, 10), '+0 days') = substr(started_at, 1, 10) AND started_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_queries_ended_at CHECK (ended_at IS NULL OR (typeof(ended_at) = 'text' AND (ended_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR ended_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(ended_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(ended_at, 12, 2) <> '24' AND julianday(ended_at) IS NOT NULL AND date(substr(ended_at, 1, 10), '+0 days') = substr(ended_at, 1, 10) AND ended_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_queries_invocation_id CHECK (typeof(invocation_id) IN ('text', 'null'))
);

CREATE INDEX ix_gateway_queries_table ON gateway_queries (mcon, usage, started_at);

CREATE TABLE gateway_objects (
	resource_uuid TEXT NOT NULL, 
	path TEXT NOT NULL, 
	object_id TEXT NOT NULL, 
	content TEXT, 
	seen_at TEXT, 
	invocation_id TEXT, 
	PRIMARY KEY (resource_uuid, path, object_id), 
	CONSTRAINT ck_gateway_objects_resource_uuid CHECK (typeof(resource_uuid) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_objects_path CHECK (typeof(path) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_objects_object_id CHECK (typeof(object_id) IN ('text', 'null')), 
	CONSTRAINT ck_gateway_objects_content CHECK (content IS NULL OR (typeof(content) = 'text' AND json_valid(content) AND json_type(content) = 'object')), 
	CONSTRAINT ck_gateway_objects_seen_at CHECK (seen_at IS NULL OR (typeof(seen_at) = 'text' AND (seen_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR seen_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(seen_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(seen_at, 12, 2) <> '24' AND julianday(seen_at) IS NOT NULL AND date(substr(seen_at, 1, 10), '+0 days') = substr(seen_at, 1, 10) AND seen_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_gateway_objects_invocation_id CHECK (typeof(invocation_id) IN ('text', 'null'))
);

