CREATE TABLE throttle_buckets (
	throttle_id TEXT NOT NULL, 
	tokens REAL, 
	counted_at TEXT, 
	effective REAL, 
	recovered_at TEXT, 
	refused_at TEXT, 
	refused_because TEXT, 
	PRIMARY KEY (throttle_id), 
	CONSTRAINT ck_throttle_buckets_throttle_id CHECK (typeof(throttle_id) IN ('text', 'null')), 
	CONSTRAINT ck_throttle_buckets_tokens CHECK (typeof(tokens) IN ('integer', 'real', 'null') AND tokens BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_throttle_buckets_counted_at CHECK (counted_at IS NULL OR (typeof(counted_at) = 'text' AND (counted_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR counted_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(counted_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(counted_at, 12, 2) <> '24' AND julianday(counted_at) IS NOT NULL AND date(substr(counted_at, 1, 10), '+0 days') = substr(counted_at, 1, 10) AND counted_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_throttle_buckets_effective CHECK (typeof(effective) IN ('integer', 'real', 'null') AND effective BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_throttle_buckets_recovered_at CHECK (recovered_at IS NULL OR (typeof(recovered_at) = 'text' AND (recovered_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR recovered_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(recovered_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(recovered_at, 12, 2) <> '24' AND julianday(recovered_at) IS NOT NULL AND date(substr(recovered_at, 1, 10), '+0 days') = substr(recovered_at, 1, 10) AND recovered_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_throttle_buckets_refused_at CHECK (refused_at IS NULL OR (typeof(refused_at) = 'text' AND (refused_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR refused_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(refused_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(refused_at, 12, 2) <> '24' AND julianday(refused_at) IS NOT NULL AND date(substr(refused_at, 1, 10), '+0 days') = substr(refused_at, 1, 10) AND refused_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_throttle_buckets_refused_because CHECK (typeof(refused_because) IN ('text', 'null'))
);

CREATE TABLE throttle_leases (
	lease_id TEXT NOT NULL, 
	throttle_id TEXT NOT NULL, 
	owner TEXT, 
	stage_run_id TEXT, 
	tokens REAL, 
	granted_at TEXT, 
	expires_at TEXT, 
	PRIMARY KEY (lease_id, throttle_id), 
	CONSTRAINT ck_throttle_leases_lease_id CHECK (typeof(lease_id) IN ('text', 'null')), 
	CONSTRAINT ck_throttle_leases_throttle_id CHECK (typeof(throttle_id) IN ('text', 'null')), 
	CONSTRAINT ck_throttle_leases_owner CHECK (typeof(owner) IN ('text', 'null')), 
	CONSTRAINT ck_throttle_leases_stage_run_id CHECK (typeof(stage_run_id) IN ('text', 'null')), 
	CONSTRAINT ck_throttle_leases_tokens CHECK (typeof(tokens) IN ('integer', 'real', 'null') AND tokens BETWEEN -1e+100 AND 1e+100), 
	CONSTRAINT ck_throttle_leases_granted_at CHECK (granted_at IS NULL OR (typeof(granted_at) = 'text' AND (granted_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR granted_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(granted_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(granted_at, 12, 2) <> '24' AND julianday(granted_at) IS NOT NULL AND date(substr(granted_at, 1, 10), '+0 days') = substr(granted_at, 1, 10) AND granted_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_throttle_leases_expires_at CHECK (expires_at IS NULL OR (typeof(expires_at) = 'text' AND (expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(expires_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(expires_at, 12, 2) <> '24' AND julianday(expires_at) IS NOT NULL AND date(substr(expires_at, 1, 10), '+0 days') = substr(expires_at, 1, 10) AND expires_at BETWEEN '1000' AND '9999'))
);

CREATE INDEX ix_throttle_leases_throttle ON throttle_leases (throttle_id);

CREATE TABLE throttle_usage (
	throttle_id TEXT NOT NULL, 
	minute TEXT NOT NULL, 
	used REAL, 
	PRIMARY KEY (throttle_id, minute), 
	CONSTRAINT ck_throttle_usage_throttle_id CHECK (typeof(throttle_id) IN ('text', 'null')), 
	CONSTRAINT ck_throttle_usage_minute CHECK (minute IS NULL OR (typeof(minute) = 'text' AND (minute GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR minute GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(minute, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(minute, 12, 2) <> '24' AND julianday(minute) IS NOT NULL AND date(substr(minute, 1, 10), '+0 days') = substr(minute, 1, 10) AND minute BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_throttle_usage_used CHECK (typeof(used) IN ('integer', 'real', 'null') AND used BETWEEN -1e+100 AND 1e+100)
);

