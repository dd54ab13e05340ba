CREATE TABLE push_schedules (
	push_schedule_id TEXT NOT NULL, 
	warehouse TEXT, 
	flow TEXT DEFAULT 'metadata' NOT NULL, 
	connection JSONB, 
	resource_uuid TEXT, 
	resource_type TEXT, 
	include TEXT, 
	exclude TEXT, 
	only_volume BOOLEAN DEFAULT false NOT NULL, 
	look_back_hours BIGINT DEFAULT 24 NOT NULL, 
	endpoint TEXT, 
	key_id TEXT DEFAULT 'env:MCD_INGEST_ID', 
	key_token TEXT DEFAULT 'env:MCD_INGEST_TOKEN', 
	schedule TEXT, 
	enabled BOOLEAN DEFAULT true NOT NULL, 
	PRIMARY KEY (push_schedule_id), 
	CONSTRAINT ck_push_schedules_flow CHECK (flow IN ('metadata', 'lineage', 'query_logs')), 
	CONSTRAINT ck_push_schedules_connection CHECK (jsonb_typeof(connection) = 'object'), 
	CONSTRAINT ck_push_schedules_look_back_hours CHECK (look_back_hours >= 1)
);

CREATE TABLE gateway_keys (
	key_id TEXT NOT NULL, 
	scope TEXT DEFAULT 'ingestion' NOT NULL, 
	description TEXT, 
	resources JSONB, 
	secret_hash TEXT, 
	created_at TIMESTAMP WITH TIME ZONE, 
	created_by TEXT, 
	expires_at TIMESTAMP WITH TIME ZONE, 
	revoked_at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (key_id), 
	CONSTRAINT ck_gateway_keys_scope CHECK (scope IN ('ingestion', 'graphql')), 
	CONSTRAINT ck_gateway_keys_resources CHECK (jsonb_typeof(resources) = 'array'), 
	CONSTRAINT ck_gateway_keys_created_at CHECK (created_at >= '1000-01-01 00:00:00+00:00' AND created_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_gateway_keys_expires_at CHECK (expires_at >= '1000-01-01 00:00:00+00:00' AND expires_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_gateway_keys_revoked_at CHECK (revoked_at >= '1000-01-01 00:00:00+00:00' AND revoked_at < '9999-01-01 00:00:00+00:00')
);

CREATE TABLE gateway_deliveries (
	invocation_id TEXT NOT NULL, 
	path TEXT, 
	key_id TEXT, 
	resource_uuid TEXT, 
	body_hash TEXT, 
	slot BIGINT, 
	body TEXT, 
	item_count BIGINT, 
	status TEXT DEFAULT 'received' NOT NULL, 
	problem TEXT, 
	received_at TIMESTAMP WITH TIME ZONE, 
	processed_at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (invocation_id), 
	CONSTRAINT ck_gateway_deliveries_status CHECK (status IN ('received', 'processed', 'failed')), 
	CONSTRAINT ck_gateway_deliveries_received_at CHECK (received_at >= '1000-01-01 00:00:00+00:00' AND received_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_gateway_deliveries_processed_at CHECK (processed_at >= '1000-01-01 00:00:00+00:00' AND processed_at < '9999-01-01 00:00:00+00:00')
);

CREATE INDEX ix_gateway_deliveries_due ON gateway_deliveries (status, received_at);

CREATE UNIQUE INDEX ix_gateway_deliveries_same ON gateway_deliveries (key_id, path, body_hash, slot);

CREATE TABLE gateway_tables (
	resource_uuid TEXT NOT NULL, 
	full_table_id TEXT NOT NULL, 
	table_type TEXT, 
	database TEXT, 
	schema_name TEXT, 
	table_name TEXT, 
	resource_type TEXT, 
	description TEXT, 
	view_query TEXT, 
	created_on TEXT, 
	tags JSONB, 
	fields JSONB, 
	row_count BIGINT, 
	byte_count BIGINT, 
	last_update TIMESTAMP WITH TIME ZONE, 
	size_changed_at TIMESTAMP WITH TIME ZONE, 
	fields_changed_at TIMESTAMP WITH TIME ZONE, 
	first_seen_at TIMESTAMP WITH TIME ZONE, 
	last_seen_at TIMESTAMP WITH TIME ZONE, 
	deleted_at TIMESTAMP WITH TIME ZONE, 
	invocation_id TEXT, 
	PRIMARY KEY (resource_uuid, full_table_id), 
	CONSTRAINT ck_gateway_tables_tags CHECK (jsonb_typeof(tags) = 'array'), 
	CONSTRAINT ck_gateway_tables_fields CHECK (jsonb_typeof(fields) = 'array'), 
	CONSTRAINT ck_gateway_tables_last_update CHECK (last_update >= '1000-01-01 00:00:00+00:00' AND last_update < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_gateway_tables_size_changed_at CHECK (size_changed_at >= '1000-01-01 00:00:00+00:00' AND size_changed_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_gateway_tables_fields_changed_at CHECK (fields_changed_at >= '1000-01-01 00:00:00+00:00' AND fields_changed_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_gateway_tables_first_seen_at CHECK (first_seen_at >= '1000-01-01 00:00:00+00:00' AND first_seen_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_gateway_tables_last_seen_at CHECK (last_seen_at >= '1000-01-01 00:00:00+00:00' AND last_seen_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_gateway_tables_deleted_at CHECK (deleted_at >= '1000-01-01 00:00:00+00:00' AND deleted_at < '9999-01-01 00:00:00+00:00')
);

CREATE TABLE gateway_measurements (
	resource_uuid TEXT NOT NULL, 
	full_table_id TEXT NOT NULL, 
	metric TEXT NOT NULL, 
	epoch BIGINT NOT NULL, 
	value DOUBLE PRECISION, 
	invocation_id TEXT, 
	PRIMARY KEY (resource_uuid, full_table_id, metric, epoch), 
	CONSTRAINT ck_gateway_measurements_value CHECK (value BETWEEN -1e+100 AND 1e+100)
);

CREATE TABLE gateway_nodes (
	mcon TEXT NOT NULL, 
	object_type TEXT, 
	object_id TEXT, 
	resource_uuid TEXT, 
	display_name TEXT, 
	properties JSONB, 
	is_custom BOOLEAN DEFAULT false NOT NULL, 
	seen_at TIMESTAMP WITH TIME ZONE, 
	expires_at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (mcon), 
	CONSTRAINT ck_gateway_nodes_properties CHECK (jsonb_typeof(properties) = 'object'), 
	CONSTRAINT ck_gateway_nodes_seen_at CHECK (seen_at >= '1000-01-01 00:00:00+00:00' AND seen_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_gateway_nodes_expires_at CHECK (expires_at >= '1000-01-01 00:00:00+00:00' AND expires_at < '9999-01-01 00:00:00+00:00')
);

CREATE TABLE gateway_edges (
	source TEXT NOT NULL, 
	destination TEXT NOT NULL, 
	origin TEXT NOT NULL, 
	origin_type TEXT, 
	edge_type TEXT, 
	seen_at TIMESTAMP WITH TIME ZONE, 
	expires_at TIMESTAMP WITH TIME ZONE, 
	invocation_id TEXT, 
	PRIMARY KEY (source, destination, origin), 
	CONSTRAINT ck_gateway_edges_seen_at CHECK (seen_at >= '1000-01-01 00:00:00+00:00' AND seen_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_gateway_edges_expires_at CHECK (expires_at >= '1000-01-01 00:00:00+00:00' AND expires_at < '9999-01-01 00:00:00+00:00')
);

CREATE INDEX ix_gateway_edges_destination ON gateway_edges (destination);

CREATE TABLE gateway_column_edges (
	source TEXT NOT NULL, 
	source_column TEXT NOT NULL, 
	destination TEXT NOT NULL, 
	destination_column TEXT NOT NULL, 
	seen_at TIMESTAMP WITH TIME ZONE, 
	expires_at TIMESTAMP WITH TIME ZONE, 
	invocation_id TEXT, 
	PRIMARY KEY (source, source_column, destination, destination_column), 
	CONSTRAINT ck_gateway_column_edges_seen_at CHECK (seen_at >= '1000-01-01 00:00:00+00:00' AND seen_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_gateway_column_edges_expires_at CHECK (expires_at >= '1000-01-01 00:00:00+00:00' AND expires_at < '9999-01-01 00:00:00+00:00')
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
	started_at TIMESTAMP WITH TIME ZONE, 
	ended_at TIMESTAMP WITH TIME ZONE, 
	invocation_id TEXT, 
	PRIMARY KEY (resource_uuid, query_key, mcon, usage), 
	CONSTRAINT ck_gateway_queries_started_at CHECK (started_at >= '1000-01-01 00:00:00+00:00' AND started_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_gateway_queries_ended_at CHECK (ended_at >= '1000-01-01 00:00:00+00:00' AND ended_at < '9999-01-01 00:00:00+00:00')
);

CREATE INDEX ix_gateway_queries_table ON gateway_queries (mcon, usage, started_at);

CREATE TABLE gateway_objects (
	resource_uuid TEXT NOT NULL, 
	path TEXT NOT NULL, 
	object_id TEXT NOT NULL, 
	content JSONB, 
	seen_at TIMESTAMP WITH TIME ZONE, 
	invocation_id TEXT, 
	PRIMARY KEY (resource_uuid, path, object_id), 
	CONSTRAINT ck_gateway_objects_content CHECK (jsonb_typeof(content) = 'object'), 
	CONSTRAINT ck_gateway_objects_seen_at CHECK (seen_at >= '1000-01-01 00:00:00+00:00' AND seen_at < '9999-01-01 00:00:00+00:00')
);

