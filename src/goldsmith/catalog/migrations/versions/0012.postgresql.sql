CREATE TABLE lineage_evidence (
	from_dataset_id TEXT NOT NULL, 
	to_dataset_id TEXT NOT NULL, 
	origin TEXT NOT NULL, 
	seen_at TIMESTAMP WITH TIME ZONE, 
	expires_at TIMESTAMP WITH TIME ZONE, 
	seen_by TEXT, 
	PRIMARY KEY (from_dataset_id, to_dataset_id, origin), 
	CONSTRAINT ck_lineage_evidence_seen_at CHECK (seen_at >= '1000-01-01 00:00:00+00:00' AND seen_at < '9999-01-01 00:00:00+00:00'), 
	CONSTRAINT ck_lineage_evidence_expires_at CHECK (expires_at >= '1000-01-01 00:00:00+00:00' AND expires_at < '9999-01-01 00:00:00+00:00')
);

CREATE INDEX ix_lineage_evidence_expires ON lineage_evidence (expires_at);

CREATE INDEX ix_lineage_evidence_to ON lineage_evidence (to_dataset_id);

