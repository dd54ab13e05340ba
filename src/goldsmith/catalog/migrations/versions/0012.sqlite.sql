CREATE TABLE lineage_evidence (
	from_dataset_id TEXT NOT NULL, 
	to_dataset_id TEXT NOT NULL, 
	origin TEXT NOT NULL, 
	seen_at TEXT, 
	expires_at TEXT, 
	seen_by TEXT, 
	PRIMARY KEY (from_dataset_id, to_dataset_id, origin), 
	CONSTRAINT ck_lineage_evidence_from_dataset_id CHECK (typeof(from_dataset_id) IN ('text', 'null')), 
	CONSTRAINT ck_lineage_evidence_to_dataset_id CHECK (typeof(to_dataset_id) IN ('text', 'null')), 
	CONSTRAINT ck_lineage_evidence_origin CHECK (typeof(origin) IN ('text', 'null')), 
	CONSTRAINT ck_lineage_evidence_seen_at CHECK (seen_at IS NULL OR (typeof(seen_at) = 'text' AND (seen_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR seen_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(seen_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(seen_at, 12, 2) <> '24' AND julianday(seen_at) IS NOT NULL AND date(substr(seen_at, 1, 10), '+0 days') = substr(seen_at, 1, 10) AND seen_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_lineage_evidence_expires_at CHECK (expires_at IS NULL OR (typeof(expires_at) = 'text' AND (expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' OR expires_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-2][0-9]:[0-5][0-9]*') AND substr(expires_at, 12) NOT GLOB '*[^0-9:.Z+-]*' AND substr(expires_at, 12, 2) <> '24' AND julianday(expires_at) IS NOT NULL AND date(substr(expires_at, 1, 10), '+0 days') = substr(expires_at, 1, 10) AND expires_at BETWEEN '1000' AND '9999')), 
	CONSTRAINT ck_lineage_evidence_seen_by CHECK (typeof(seen_by) IN ('text', 'null'))
);

CREATE INDEX ix_lineage_evidence_expires ON lineage_evidence (expires_at);

CREATE INDEX ix_lineage_evidence_to ON lineage_evidence (to_dataset_id);

