CREATE TABLE column_lineage (
	from_dataset_id TEXT NOT NULL, 
	from_column TEXT NOT NULL, 
	to_dataset_id TEXT NOT NULL, 
	to_column TEXT NOT NULL, 
	kind TEXT, 
	expression TEXT, 
	PRIMARY KEY (from_dataset_id, from_column, to_dataset_id, to_column)
);

CREATE TABLE digest_conventions (
	layer TEXT NOT NULL, 
	location TEXT, 
	type TEXT, 
	file_format TEXT, 
	schema_arn TEXT, 
	stage_order BIGINT, 
	stage_name TEXT, 
	transform_name TEXT, 
	rule_set_id TEXT, 
	PRIMARY KEY (layer), 
	CONSTRAINT ck_digest_conventions_stage_order CHECK (stage_order >= 0)
);

