CREATE TABLE dataset_health (
	dataset_id TEXT NOT NULL, 
	status TEXT DEFAULT 'healthy' NOT NULL, 
	since TEXT, 
	checked_at TEXT, 
	failures INTEGER DEFAULT 0 NOT NULL, 
	well_since TEXT, 
	because TEXT, 
	PRIMARY KEY (dataset_id), 
	CONSTRAINT ck_dataset_health_dataset_id CHECK (typeof(dataset_id) IN ('text', 'null')), 
	CONSTRAINT ck_dataset_health_status CHECK (status IN ('healthy', 'down')), 
	CONSTRAINT ck_dataset_health_since CHECK (since IS NULL OR (typeof(since) = 'text' AND (since GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR since GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(since, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(since, 12, 2) <> '24' AND julianday(since) IS NOT NULL AND date(substr(since, 1, 10), '+0 days') = substr(since, 1, 10) AND since BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_dataset_health_checked_at CHECK (checked_at IS NULL OR (typeof(checked_at) = 'text' AND (checked_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR checked_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(checked_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(checked_at, 12, 2) <> '24' AND julianday(checked_at) IS NOT NULL AND date(substr(checked_at, 1, 10), '+0 days') = substr(checked_at, 1, 10) AND checked_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_dataset_health_failures CHECK (typeof(failures) IN ('integer', 'null')), 
	CONSTRAINT ck_dataset_health_well_since CHECK (well_since IS NULL OR (typeof(well_since) = 'text' AND (well_since GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR well_since GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(well_since, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(well_since, 12, 2) <> '24' AND julianday(well_since) IS NOT NULL AND date(substr(well_since, 1, 10), '+0 days') = substr(well_since, 1, 10) AND well_since BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_dataset_health_because CHECK (typeof(because) IN ('text', 'null'))
);

