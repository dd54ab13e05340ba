CREATE TABLE column_lineage (
	from_dataset_id TEXT NOT NULL, 
	from_column TEXT NOT NULL, 
	to_dataset_id TEXT NOT NULL, 
	to_column TEXT NOT NULL, 
	kind TEXT, 
	expression TEXT, 
	PRIMARY KEY (from_dataset_id, from_column, to_dataset_id, to_column), 
	CONSTRAINT ck_column_lineage_from_dataset_id CHECK (typeof(from_dataset_id) IN ('text', 'null')), 
	CONSTRAINT ck_column_lineage_from_column CHECK (typeof(from_column) IN ('text', 'null')), 
	CONSTRAINT ck_column_lineage_to_dataset_id CHECK (typeof(to_dataset_id) IN ('text', 'null')), 
	CONSTRAINT ck_column_lineage_to_column CHECK (typeof(to_column) IN ('text', 'null')), 
	CONSTRAINT ck_column_lineage_kind CHECK (typeof(kind) IN ('text', 'null')), 
	CONSTRAINT ck_column_lineage_expression CHECK (typeof(expression) IN ('text', 'null'))
);

CREATE TABLE digest_conventions (
	layer TEXT NOT NULL, 
	location TEXT, 
	type TEXT, 
	file_format TEXT, 
	schema_arn TEXT, 
	stage_order INTEGER, 
	stage_name TEXT, 
	transform_name TEXT, 
	rule_set_id TEXT, 
	PRIMARY KEY (layer), 
	CONSTRAINT ck_digest_conventions_layer CHECK (typeof(layer) IN ('text', 'null')), 
	CONSTRAINT ck_digest_conventions_location CHECK (typeof(location) IN ('text', 'null')), 
	CONSTRAINT ck_digest_conventions_type CHECK (typeof(type) IN ('text', 'null')), 
	CONSTRAINT ck_digest_conventions_file_format CHECK (typeof(file_format) IN ('text', 'null')), 
	CONSTRAINT ck_digest_conventions_schema_arn CHECK (typeof(schema_arn) IN ('text', 'null')), 
	CONSTRAINT ck_digest_conventions_stage_order CHECK (typeof(stage_order) IN ('integer', 'null') AND stage_order >= 0), 
	CONSTRAINT ck_digest_conventions_stage_name CHECK (typeof(stage_name) IN ('text', 'null')), 
	CONSTRAINT ck_digest_conventions_transform_name CHECK (typeof(transform_name) IN ('text', 'null')), 
	CONSTRAINT ck_digest_conventions_rule_set_id CHECK (typeof(rule_set_id) IN ('text', 'null'))
);

