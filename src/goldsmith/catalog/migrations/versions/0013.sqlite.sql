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

