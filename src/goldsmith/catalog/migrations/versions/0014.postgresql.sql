CREATE TABLE throttle_buckets (
	throttle_id TEXT NOT NULL, 
	tokens DOUBLE PRECISION, 
	counted_at TIMESTAMP WITH TIME ZONE, 
	effective DOUBLE PRECISION, 
	recovered_at TIMESTAMP WITH TIME ZONE, 
	refused_at TIMESTAMP WITH TIME ZONE, 
	refused_because TEXT, 
	PRIMARY KEY (throttle_id), 
	CONSTRAINT ck_throttle_buckets_tokens CHECK (tokens BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_throttle_buckets_counted_at CHECK (counted_at >= '1000-01-01 00:00:00+00:00' AND counted_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_throttle_buckets_effective CHECK (effective BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_throttle_buckets_recovered_at CHECK (recovered_at >= '1000-01-01 00:00:00+00:00' AND recovered_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_throttle_buckets_refused_at CHECK (refused_at >= '1000-01-01 00:00:00+00:00' AND refused_at < '9999-01-01 00:00:00+00:00')
);

CREATE TABLE throttle_leases (
	lease_id TEXT NOT NULL, 
	throttle_id TEXT NOT NULL, 
	owner TEXT, 
	stage_run_id TEXT, 
	tokens DOUBLE PRECISION, 
	granted_at TIMESTAMP WITH TIME ZONE, 
	expires_at TIMESTAMP WITH TIME ZONE, 
	PRIMARY KEY (lease_id, throttle_id), 
	CONSTRAINT ck_throttle_leases_tokens CHECK (tokens BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_throttle_leases_granted_at CHECK (granted_at >= '1000-01-01 00:00:00+00:00' AND granted_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_throttle_leases_expires_at CHECK (expires_at >= '1000-01-01 00:00:00+00:00' AND expires_at < '9999-01-01 00:00:00+00:00')
);

CREATE INDEX ix_throttle_leases_throttle ON throttle_leases (throttle_id);

CREATE TABLE throttle_usage (
	throttle_id TEXT NOT NULL, 
	minute TIMESTAMP WITH TIME ZONE NOT NULL, 
	used DOUBLE PRECISION, 
	PRIMARY KEY (throttle_id, minute), 
	CONSTRAINT ck_throttle_usage_minute CHECK (minute >= '1000-01-01 00:00:00+00:00' AND minute < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_throttle_usage_used CHECK (used BETWEEN -1e+100 AND 1e+100)
);

