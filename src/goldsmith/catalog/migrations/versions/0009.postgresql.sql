CREATE TABLE dataset_health (
	dataset_id TEXT NOT NULL, 
	status TEXT DEFAULT 'healthy' NOT NULL, 
	since TIMESTAMP WITH TIME ZONE, 
	checked_at TIMESTAMP WITH TIME ZONE, 
	failures BIGINT DEFAULT 0 NOT NULL, 
	well_since TIMESTAMP WITH TIME ZONE, 
	because TEXT, 
	PRIMARY KEY (dataset_id), 
	CONSTRAINT ck_dataset_health_status CHECK (status IN ('healthy', 'down')), 
	CONSTRAINT ck_dataset_health_since CHECK (since >= '1000-01-01 00:00:00+00:00' AND since < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_dataset_health_checked_at CHECK (checked_at >= '1000-01-01 00:00:00+00:00' AND checked_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_dataset_health_well_since CHECK (well_since >= '1000-01-01 00:00:00+00:00' AND well_since < '9999-01-01 00:00:00+00:00')
);

