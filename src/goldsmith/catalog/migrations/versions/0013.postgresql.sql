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

