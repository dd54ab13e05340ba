"""The columns of the first design, which keep their names and meaning; all others are ours."""

from __future__ import annotations

from collections.abc import Mapping

SEED: Mapping[str, frozenset[str]] = {
    table: frozenset(columns.split())
    for table, columns in {
        "pipelines": "pipeline_id description enabled default_retry_id created_at",
        "stages": "pipeline_id stage_order stage_name source_id target_id validation_set_id"
        " enabled",
        "sources": "source_id s3_path file_format schema_arn",
        "targets": "target_id location type",
        "validation_rules": "rule_set_id description check_def",
        "control_flags": "entity_type entity_id flag_name flag_value updated_at",
        "retry_policies": "retry_id max_retries backoff_sec",
        "healing_actions": "error_code action_script",
        "audit_log": "pipeline_id stage_order status started_at ended_at error_code"
        " error_message resolution",
        "profiles": "profile_id description",
        "pipeline_profiles": "pipeline_id profile_id",
        "profile_settings": "profile_id setting_key setting_value",
        "throttles": "throttle_id entity_type entity_id metric threshold",
        "dataset_lineage": "from_dataset_id to_dataset_id transform_name",
        "dataset_recovery_paths": "dataset_id path_order path_sequence",
    }.items()
}
