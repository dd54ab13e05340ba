CREATE TABLE api_keys (
	key_id TEXT NOT NULL, 
	kind TEXT DEFAULT 'token' NOT NULL, 
	owner TEXT, 
	role TEXT DEFAULT 'viewer' NOT NULL, 
	limited_to JSONB, 
	secret_hash TEXT, 
	created_at TIMESTAMP WITH TIME ZONE, 
	created_by TEXT, 
	expires_at TIMESTAMP WITH TIME ZONE, 
	last_used_at TIMESTAMP WITH TIME ZONE, 
	revoked_at TIMESTAMP WITH TIME ZONE, 
	revoked_by TEXT, 
	PRIMARY KEY (key_id), 
	CONSTRAINT ck_api_keys_kind CHECK (kind IN ('token', 'login', 'session')), 
	CONSTRAINT ck_api_keys_role CHECK (role IN ('viewer', 'operator', 'editor', 'admin')), 
	CONSTRAINT ck_api_keys_limited_to CHECK (jsonb_typeof(limited_to) = 'array'), 
	CONSTRAINT ck_api_keys_created_at CHECK (created_at >= '1000-01-01 00:00:00+00:00' AND created_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_api_keys_expires_at CHECK (expires_at >= '1000-01-01 00:00:00+00:00' AND expires_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_api_keys_last_used_at CHECK (last_used_at >= '1000-01-01 00:00:00+00:00' AND last_used_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_api_keys_revoked_at CHECK (revoked_at >= '1000-01-01 00:00:00+00:00' AND revoked_at < '9999-01-01 00:00:00+00:00')
);

CREATE UNIQUE INDEX ix_api_keys_secret ON api_keys (secret_hash);

CREATE TABLE idempotent_answers (
	owner TEXT NOT NULL, 
	idempotency_key TEXT NOT NULL, 
	request_hash TEXT, 
	status BIGINT, 
	answer JSONB, 
	at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (owner, idempotency_key), 
	CONSTRAINT ck_idempotent_answers_answer CHECK (jsonb_typeof(answer) = 'object'), 
	CONSTRAINT ck_idempotent_answers_at CHECK (at >= '1000-01-01 00:00:00+00:00' AND at < '9999-01-01 00:00:00+00:00')
);

CREATE INDEX ix_idempotent_answers_at ON idempotent_answers (at);

