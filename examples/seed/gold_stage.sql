INSERT INTO sources (source_id, s3_path, file_format, schema_arn)
VALUES (
  'silver_user_events',
  's3://company/silver/user_events/',
  'parquet',
  'arn:aws:glue:us‑west‑2:123456789012:schema/silver_user_events'
)
ON CONFLICT (source_id) DO NOTHING;

INSERT INTO targets (target_id, location, type)
VALUES (
  'analytics.daily_user_events',
  'analytics.daily_user_events',
  'redshift'
)
ON CONFLICT (target_id) DO NOTHING;

INSERT INTO stages (
  pipeline_id,
  stage_order,
  stage_name,
  source_id,
  target_id,
  validation_set_id,
  enabled
)
VALUES (
  'user_events_etl',      -- your ETL pipeline
  3,                      -- Bronze=1, Silver=2, Gold=3
  'gold_aggregate',       -- descriptive name
  'silver_user_events',
  'analytics.daily_user_events',
  'row_count_gt0',        -- assume you have a rule set named this
  TRUE
)
ON CONFLICT (pipeline_id, stage_order) DO NOTHING;

INSERT INTO dataset_lineage (from_dataset_id, to_dataset_id, transform_name)
VALUES (
  'silver_user_events',
  'analytics.daily_user_events',
  'daily_aggregate'
)
ON CONFLICT (from_dataset_id, to_dataset_id) DO NOTHING;
