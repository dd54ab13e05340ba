CREATE TABLE pushes (
	push_id TEXT NOT NULL, 
	resource_uuid TEXT, 
	flow TEXT, 
	receiver TEXT, 
	manifest_hash TEXT, 
	started_at TIMESTAMP WITH TIME ZONE, 
	ended_at TIMESTAMP WITH TIME ZONE, 
	item_count BIGINT, 
	override_reason TEXT, 
	requested_by TEXT, 
	PRIMARY KEY (push_id), 
	CONSTRAINT ck_pushes_started_at CHECK (started_at >= '1000-01-01 00:00:00+00:00' AND started_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_pushes_ended_at CHECK (ended_at >= '1000-01-01 00:00:00+00:00' AND ended_at < '9999-01-01 00:00:00+00:00')
);

CREATE INDEX ix_pushes_resource ON pushes (resource_uuid, flow, started_at);

CREATE TABLE push_batches (
	push_id TEXT NOT NULL, 
	body_hash TEXT NOT NULL, 
	invocation_id TEXT, 
	item_count BIGINT, 
	accepted_at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (push_id, body_hash), 
	CONSTRAINT ck_push_batches_accepted_at CHECK (accepted_at >= '1000-01-01 00:00:00+00:00' AND accepted_at < '9999-01-01 00:00:00+00:00')
);

CREATE TABLE gateway_keys (
	key_id TEXT NOT NULL, 
	scope TEXT DEFAULT 'Ingestion' NOT NULL, 
	description TEXT, 
	resources TEXT, 
	secret_hash TEXT, 
	created_at TIMESTAMP WITH TIME ZONE, 
	created_by TEXT, 
	expires_at TIMESTAMP WITH TIME ZONE, 
	revoked_at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (key_id), 
	CONSTRAINT ck_gateway_keys_scope CHECK (scope IN ('Ingestion', 'GraphQL')), 
	CONSTRAINT ck_gateway_keys_created_at CHECK (created_at >= '1000-01-01 00:00:00+00:00' AND created_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_gateway_keys_expires_at CHECK (expires_at >= '1000-01-01 00:00:00+00:00' AND expires_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_gateway_keys_revoked_at CHECK (revoked_at >= '1000-01-01 00:00:00+00:00' AND revoked_at < '9999-01-01 00:00:00+00:00')
);

CREATE TABLE gateway_requests (
	invocation_id TEXT NOT NULL, 
	key_id TEXT, 
	flow TEXT, 
	body_hash TEXT, 
	body TEXT, 
	received_at TIMESTAMP WITH TIME ZONE, 
	processed_at TIMESTAMP WITH TIME ZONE, 
	attempts BIGINT DEFAULT 0 NOT NULL, 
	error TEXT, 
	PRIMARY KEY (invocation_id), 
	CONSTRAINT ck_gateway_requests_received_at CHECK (received_at >= '1000-01-01 00:00:00+00:00' AND received_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_gateway_requests_processed_at CHECK (processed_at >= '1000-01-01 00:00:00+00:00' AND processed_at < '9999-01-01 00:00:00+00:00')
);

CREATE INDEX ix_gateway_requests_body ON gateway_requests (body_hash);

CREATE INDEX ix_gateway_requests_waiting ON gateway_requests (processed_at, received_at);

CREATE TABLE gateway_resources (
	resource_uuid TEXT NOT NULL, 
	resource_type TEXT, 
	name TEXT, 
	created_at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (resource_uuid), 
	CONSTRAINT ck_gateway_resources_created_at CHECK (created_at >= '1000-01-01 00:00:00+00:00' AND created_at < '9999-01-01 00:00:00+00:00')
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
	tags JSONB, 
	last_update_time TIMESTAMP WITH TIME ZONE, 
	row_count DOUBLE PRECISION, 
	byte_count DOUBLE PRECISION, 
	volume_changed_at TIMESTAMP WITH TIME ZONE, 
	invocation_id TEXT, 
	first_seen_at TIMESTAMP WITH TIME ZONE, 
	last_seen_at TIMESTAMP WITH TIME ZONE, 
	deleted_at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (mcon), 
	CONSTRAINT ck_gateway_tables_tags CHECK (jsonb_typeof(tags) = 'array'), 
	CONSTRAINT ck_gateway_tables_last_update_time CHECK (last_update_time >= '1000-01-01 00:00:00+00:00' AND last_update_time < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_gateway_tables_row_count CHECK (row_count BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_gateway_tables_byte_count CHECK (byte_count BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_gateway_tables_volume_changed_at CHECK (volume_changed_at >= '1000-01-01 00:00:00+00:00' AND volume_changed_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_gateway_tables_first_seen_at CHECK (first_seen_at >= '1000-01-01 00:00:00+00:00' AND first_seen_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_gateway_tables_last_seen_at CHECK (last_seen_at >= '1000-01-01 00:00:00+00:00' AND last_seen_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_gateway_tables_deleted_at CHECK (deleted_at >= '1000-01-01 00:00:00+00:00' AND deleted_at < '9999-01-01 00:00:00+00:00')
);

CREATE INDEX ix_gateway_tables_name ON gateway_tables (resource_uuid, full_table_id);

CREATE TABLE gateway_schemas (
	mcon TEXT NOT NULL, 
	version_id TEXT NOT NULL, 
	seen_at TIMESTAMP WITH TIME ZONE, 
	columns JSONB, 
	PRIMARY KEY (mcon, version_id), 
	CONSTRAINT ck_gateway_schemas_seen_at CHECK (seen_at >= '1000-01-01 00:00:00+00:00' AND seen_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_gateway_schemas_columns CHECK (jsonb_typeof(columns) = 'array')
);

CREATE TABLE gateway_measures (
	mcon TEXT NOT NULL, 
	metric TEXT NOT NULL, 
	invocation_id TEXT NOT NULL, 
	value DOUBLE PRECISION, 
	measured_at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (mcon, metric, invocation_id), 
	CONSTRAINT ck_gateway_measures_value CHECK (value BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_gateway_measures_measured_at CHECK (measured_at >= '1000-01-01 00:00:00+00:00' AND measured_at < '9999-01-01 00:00:00+00:00')
);

CREATE INDEX ix_gateway_measures_time ON gateway_measures (mcon, metric, measured_at);

CREATE TABLE gateway_nodes (
	mcon TEXT NOT NULL, 
	resource_uuid TEXT, 
	object_type TEXT, 
	object_id TEXT, 
	display_name TEXT, 
	properties JSONB, 
	is_custom BOOLEAN DEFAULT false NOT NULL, 
	expires_at TIMESTAMP WITH TIME ZONE, 
	updated_at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (mcon), 
	CONSTRAINT ck_gateway_nodes_properties CHECK (jsonb_typeof(properties) = 'object'), 
	CONSTRAINT ck_gateway_nodes_expires_at CHECK (expires_at >= '1000-01-01 00:00:00+00:00' AND expires_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_gateway_nodes_updated_at CHECK (updated_at >= '1000-01-01 00:00:00+00:00' AND updated_at < '9999-01-01 00:00:00+00:00')
);

CREATE TABLE gateway_edges (
	source TEXT NOT NULL, 
	destination TEXT NOT NULL, 
	source_column TEXT NOT NULL, 
	destination_column TEXT NOT NULL, 
	origin TEXT NOT NULL, 
	origin_type TEXT, 
	edge_type TEXT, 
	expires_at TIMESTAMP WITH TIME ZONE, 
	invocation_id TEXT, 
	updated_at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (source, destination, source_column, destination_column, origin), 
	CONSTRAINT ck_gateway_edges_expires_at CHECK (expires_at >= '1000-01-01 00:00:00+00:00' AND expires_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_gateway_edges_updated_at CHECK (updated_at >= '1000-01-01 00:00:00+00:00' AND updated_at < '9999-01-01 00:00:00+00:00')
);

CREATE INDEX ix_gateway_edges_destination ON gateway_edges (destination);

CREATE TABLE gateway_queries (
	resource_uuid TEXT NOT NULL, 
	query_id TEXT NOT NULL, 
	query_text TEXT, 
	query_hash TEXT, 
	category TEXT, 
	user_name TEXT, 
	started_at TIMESTAMP WITH TIME ZONE, 
	ended_at TIMESTAMP WITH TIME ZONE, 
	returned_rows DOUBLE PRECISION, 
	error_code TEXT, 
	error_text TEXT, 
	more JSONB, 
	invocation_id TEXT, 
	PRIMARY KEY (resource_uuid, query_id), 
	CONSTRAINT ck_gateway_queries_started_at CHECK (started_at >= '1000-01-01 00:00:00+00:00' AND started_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_gateway_queries_ended_at CHECK (ended_at >= '1000-01-01 00:00:00+00:00' AND ended_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_gateway_queries_returned_rows CHECK (returned_rows BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_gateway_queries_more CHECK (jsonb_typeof(more) = 'object')
);

CREATE TABLE gateway_query_tables (
	mcon TEXT NOT NULL, 
	access TEXT NOT NULL, 
	resource_uuid TEXT NOT NULL, 
	query_id TEXT NOT NULL, 
	started_at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (mcon, access, resource_uuid, query_id), 
	CONSTRAINT ck_gateway_query_tables_started_at CHECK (started_at >= '1000-01-01 00:00:00+00:00' AND started_at < '9999-01-01 00:00:00+00:00')
);

CREATE TABLE gateway_objects (
	resource_uuid TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	object_id TEXT NOT NULL, 
	content JSONB, 
	invocation_id TEXT, 
	updated_at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (resource_uuid, kind, object_id), 
	CONSTRAINT ck_gateway_objects_content CHECK (jsonb_typeof(content) = 'object'), 
	CONSTRAINT ck_gateway_objects_updated_at CHECK (updated_at >= '1000-01-01 00:00:00+00:00' AND updated_at < '9999-01-01 00:00:00+00:00')
);

