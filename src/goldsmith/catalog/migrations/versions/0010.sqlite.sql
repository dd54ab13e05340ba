CREATE TABLE api_keys (
	key_id TEXT NOT NULL, 
	kind TEXT DEFAULT 'token' NOT NULL, 
	owner TEXT, 
	role TEXT DEFAULT 'viewer' NOT NULL, 
	limited_to TEXT, 
	secret_hash TEXT, 
	created_at TEXT, 
	created_by TEXT, 
	expires_at TEXT, 
	last_used_at TEXT, 
	revoked_at TEXT, 
	revoked_by TEXT, 
	PRIMARY KEY (key_id), 
	CONSTRAINT ck_api_keys_key_id CHECK (typeof(key_id) IN ('text', 'null')), 
	CONSTRAINT ck_api_keys_kind CHECK (kind IN ('token', 'login', 'session')), 
	CONSTRAINT ck_api_keys_owner CHECK (typeof(owner) IN ('text', 'null')), 
	CONSTRAINT ck_api_keys_role CHECK (role IN ('viewer', 'operator', 'editor', 'admin')), 
	CONSTRAINT ck_api_keys_limited_to CHECK (limited_to IS NULL OR (typeof(limited_to) = 'text' AND json_valid(limited_to) AND json_type(limited_to) = 'array')), 
	CONSTRAINT ck_api_keys_secret_hash CHECK (typeof(secret_hash) IN ('text', 'null')), 
	CONSTRAINT ck_api_keys_created_at CHECK (created_at IS NULL OR (typeof(created_at) = 'text' AND (created_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR created_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(created_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(created_at, 12, 2) <> '24' AND julianday(created_at) IS NOT NULL AND date(substr(created_at, 1, 10), '+0 days') = substr(created_at, 1, 10) AND created_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_api_keys_created_by CHECK (typeof(created_by) IN ('text', 'null')), 
	CONSTRAINT ck_api_keys_expires_at CHECK (expires_at IS NULL OR (typeof(expires_at) = 'text' AND (expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(expires_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(expires_at, 12, 2) <> '24' AND julianday(expires_at) IS NOT NULL AND date(substr(expires_at, 1, 10), '+0 days') = substr(expires_at, 1, 10) AND expires_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_api_keys_last_used_at CHECK (last_used_at IS NULL OR (typeof(last_used_at) = 'text' AND (last_used_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR last_used_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(last_used_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(last_used_at, 12, 2) <> '24' AND julianday(last_used_at) IS NOT NULL AND date(substr(last_used_at, 1, 10), '+0 days') = substr(last_used_at, 1, 10) AND last_used_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_api_keys_revoked_at CHECK (revoked_at IS NULL OR (typeof(revoked_at) = 'text' AND (revoked_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR revoked_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(revoked_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(revoked_at, 12, 2) <> '24' AND julianday(revoked_at) IS NOT NULL AND date(substr(revoked_at, 1, 10), '+0 days') = substr(revoked_at, 1, 10) AND revoked_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_api_keys_revoked_by CHECK (typeof(revoked_by) IN ('text', 'null'))
);

CREATE UNIQUE INDEX ix_api_keys_secret ON api_keys (secret_hash);

CREATE TABLE idempotent_answers (
	owner TEXT NOT NULL, 
	idempotency_key TEXT NOT NULL, 
	request_hash TEXT, 
	status INTEGER, 
	answer TEXT, 
	at TEXT, 
	PRIMARY KEY (owner, idempotency_key), 
	CONSTRAINT ck_idempotent_answers_owner CHECK (typeof(owner) IN ('text', 'null')), 
	CONSTRAINT ck_idempotent_answers_idempotency_key CHECK (typeof(idempotency_key) IN ('text', 'null')), 
	CONSTRAINT ck_idempotent_answers_request_hash CHECK (typeof(request_hash) IN ('text', 'null')), 
	CONSTRAINT ck_idempotent_answers_status CHECK (typeof(status) IN ('integer', 'null')), 
	CONSTRAINT ck_idempotent_answers_answer CHECK (answer IS NULL OR (typeof(answer) = 'text' AND json_valid(answer) AND json_type(answer) = 'object')), 
	CONSTRAINT ck_idempotent_answers_at CHECK (at IS NULL OR (typeof(at) = 'text' AND (at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(at, 12, 2) <> '24' AND julianday(at) IS NOT NULL AND date(substr(at, 1, 10), '+0 days') = substr(at, 1, 10) AND at BETWEEN '1000' AND '9999'))
);

CREATE INDEX ix_idempotent_answers_at ON idempotent_answers (at);

