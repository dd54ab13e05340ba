"""The seed's own words: its YAML example and its four statements, as the user gave them.

The hyphens of `us‑west‑2` are typographic ones there, so they are here.
"""

from __future__ import annotations

YAML = """\
pipelines:
  - pipeline_id: "user_events_etl"
    description: "Ingest user events → aggregate daily metrics"
    enabled: true
    default_retry_id: "std_retry"

stages:
  - pipeline_id: "user_events_etl"
    stage_order: 1
    stage_name: "bronze_ingest"
    source_id: "user_events_raw"
    target_id: "bronze_user_events"
    validation_set_id: "not_empty"
    enabled: true

  - pipeline_id: "user_events_etl"
    stage_order: 2
    stage_name: "silver_clean"
    source_id: "bronze_user_events"
    target_id: "silver_user_events"
    validation_set_id: "schema_match"
    enabled: true

  - pipeline_id: "user_events_etl"
    stage_order: 3
    stage_name: "gold_aggregate"
    source_id: "silver_user_events"
    target_id: "redshift_daily_agg"
    validation_set_id: "row_count_gt0"
    enabled: true

sources:
  - source_id: "user_events_raw"
    s3_path: "s3://company/raw/user_events/"
    file_format: "jsonl"
    schema_arn: "arn:aws:glue:...:schema/user_events"

targets:
  - target_id: "bronze_user_events"
    location: "s3://company/bronze/user_events/"
    type: "s3"
  - target_id: "silver_user_events"
    location: "s3://company/silver/user_events/"
    type: "s3"
  - target_id: "redshift_daily_agg"
    location: "analytics.daily_user_events"
    type: "redshift"

validation_rules:
  - rule_set_id: "not_empty"
    check_def:
      - type: "row_count"
        min: 1

  - rule_set_id: "schema_match"
    check_def:
      - type: "schema_evolution"
        allow_nullable_addition: false

retry_policies:
  - retry_id: "std_retry"
    max_retries: 3
    backoff_sec: 300

healing_actions:
  - error_code: "SchemaMismatch"
    action_script: "arn:aws:lambda:...:schema_migration_handler"
"""

SILVER_AS_SOURCE = """\
INSERT INTO sources (source_id, s3_path, file_format, schema_arn)
VALUES (
  'silver_user_events',
  's3://company/silver/user_events/',
  'parquet',
  'arn:aws:glue:us‑west‑2:123456789012:schema/silver_user_events'
)
ON CONFLICT (source_id) DO NOTHING;
"""

GOLD_AS_TARGET = """\
INSERT INTO targets (target_id, location, type)
VALUES (
  'analytics.daily_user_events',
  'analytics.daily_user_events',
  'redshift'
)
ON CONFLICT (target_id) DO NOTHING;
"""

GOLD_STAGE = """\
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
"""

GOLD_EDGE = """\
INSERT INTO dataset_lineage (from_dataset_id, to_dataset_id, transform_name)
VALUES (
  'silver_user_events',
  'analytics.daily_user_events',
  'daily_aggregate'
)
ON CONFLICT (from_dataset_id, to_dataset_id) DO NOTHING;
"""

STATEMENTS = (
    SILVER_AS_SOURCE,
    GOLD_AS_TARGET,
    GOLD_STAGE,
    GOLD_EDGE,
)
