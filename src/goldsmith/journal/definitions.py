"""The journal's tables in SQLAlchemy Core, in the same database as the catalog's."""

from __future__ import annotations

import sqlalchemy as sa

from goldsmith.catalog.definitions import define
from goldsmith.journal import (
    access_tables,
    gateway_tables,
    healing_tables,
    lakehouse_tables,
    lineage_tables,
    push_tables,
    tables,
    tables_of_ledgers,
    tables_of_service,
)

audit_log = define(
    tables.AuditEvent.table,
    sa.Index("ix_audit_log_run", "run_id", "event_id"),
    sa.Index("ix_audit_log_request", "request_id", "event_id"),
    sa.Index("ix_audit_log_pipeline", "pipeline_id", "event_id"),
)
# Without it SQLite would reuse the ids of deleted events.
audit_log.dialect_options["sqlite"]["autoincrement"] = True
requests = define(
    tables.Request.table,
    sa.Index("ix_requests_due", "status", "not_before"),
    sa.Index("ix_requests_backfill", "backfill_id"),
)
runs = define(
    tables.Run.table,
    sa.Index("ix_runs_pipeline", "pipeline_id", "started_at"),
    sa.Index("ix_runs_status", "status"),
    sa.Index("ix_runs_request", "request_id"),
)
stage_runs = define(
    tables.StageRun.table,
    sa.Index("ix_stage_runs_run", "run_id"),
    sa.Index("ix_stage_runs_stage", "pipeline_id", "stage_order", "started_at"),
    sa.Index("ix_stage_runs_status", "status"),
    sa.Index("ix_stage_runs_target", "target_id", "status", "ended_at"),
)
expectations = define(tables.Expectation.table)
leases = define(tables.Lease.table, sa.Index("ix_leases_owner", "owner"))
retention_pass = define(tables.RetentionPass.table)
verdicts = define(
    tables.Verdict.table, sa.Index("ix_verdicts_dataset", "dataset_id", "check_name", "at")
)
input_files = define(tables.InputFile.table, sa.Index("ix_input_files_stage_run", "stage_run_id"))
input_snapshots = define(
    tables.InputSnapshot.table, sa.Index("ix_input_snapshots_stage_run", "stage_run_id")
)
stage_ledgers = define(
    tables_of_ledgers.StageLedger.table,
    sa.Index("ix_stage_ledgers_target", "target_id"),
    sa.Index("ix_stage_ledgers_stage", "pipeline_id", "stage_order"),
)
restores = define(tables.Restore.table, sa.Index("ix_restores_dataset", "dataset_id", "ended_at"))
kept_schemas = define(tables.KeptSchema.table)
sql_facts = define(tables.SqlFacts.table)
healing_uses = define(
    healing_tables.HealingUse.table,
    sa.Index("ix_healing_uses_pair", "error_code", "remedy", "at"),
    sa.Index("ix_healing_uses_request", "request_id"),
    sa.Index("ix_healing_uses_at", "at"),
)
files_aside = define(healing_tables.FileAside.table)
incidents = define(
    healing_tables.Incident.table,
    sa.Index("ix_incidents_about", "about", "status"),
    sa.Index("ix_incidents_status", "status"),
)
outbox = define(healing_tables.Message.table, sa.Index("ix_outbox_due", "status", "not_before"))
workers = define(tables_of_service.WorkerRow.table)
schedule_fires = define(tables_of_service.ScheduleFire.table)
waits = define(tables_of_service.WaitRow.table)
throttle_buckets = define(tables_of_service.ThrottleBucket.table)
throttle_leases = define(
    tables_of_service.ThrottleLease.table, sa.Index("ix_throttle_leases_throttle", "throttle_id")
)
throttle_usage = define(tables_of_service.ThrottleUsage.table)
api_keys = define(
    access_tables.ApiKey.table, sa.Index("ix_api_keys_secret", "secret_hash", unique=True)
)
idempotent_answers = define(
    access_tables.IdempotentAnswer.table, sa.Index("ix_idempotent_answers_at", "at")
)
dataset_health = define(lineage_tables.DatasetHealth.table)
lineage_evidence = define(
    lineage_tables.EdgeEvidence.table,
    sa.Index("ix_lineage_evidence_to", "to_dataset_id"),
    sa.Index("ix_lineage_evidence_expires", "expires_at"),
)
cut_sources = define(lineage_tables.CutSource.table)
computed_paths = define(lineage_tables.ComputedPath.table)
computed_revisions = define(lineage_tables.ComputedRevision.table)
pushes = define(
    push_tables.Push.table, sa.Index("ix_pushes_resource", "resource_uuid", "flow", "started_at")
)
push_batches = define(push_tables.PushBatch.table)
gateway_keys = define(gateway_tables.GatewayKey.table)
gateway_deliveries = define(
    gateway_tables.Delivery.table,
    sa.Index("ix_gateway_deliveries_same", "key_id", "path", "body_hash", "slot", unique=True),
    sa.Index("ix_gateway_deliveries_due", "status", "received_at"),
)
pushed_tables = define(gateway_tables.PushedTable.table)
gateway_measurements = define(gateway_tables.PushedMeasurement.table)
gateway_nodes = define(gateway_tables.PushedNode.table)
gateway_edges = define(
    gateway_tables.PushedEdge.table, sa.Index("ix_gateway_edges_destination", "destination")
)
gateway_column_edges = define(
    gateway_tables.PushedColumnEdge.table,
    sa.Index("ix_gateway_column_edges_expires", "expires_at"),
)
gateway_queries = define(
    gateway_tables.PushedQuery.table,
    sa.Index("ix_gateway_queries_table", "mcon", "usage", "started_at"),
)
gateway_objects = define(gateway_tables.PushedObject.table)
lakehouse_loads = define(
    lakehouse_tables.RawLoad.table,
    sa.Index("ix_lakehouse_loads_content", "content_hash", unique=True),
    sa.Index("ix_lakehouse_loads_due", "status", "submitted_at"),
)

OBSERVED = (
    audit_log,
    requests,
    runs,
    stage_runs,
    expectations,
    leases,
    retention_pass,
    verdicts,
    input_files,
    input_snapshots,
    stage_ledgers,
    restores,
    kept_schemas,
    sql_facts,
    healing_uses,
    files_aside,
    incidents,
    outbox,
    workers,
    schedule_fires,
    waits,
    throttle_buckets,
    throttle_leases,
    throttle_usage,
    api_keys,
    idempotent_answers,
    dataset_health,
    lineage_evidence,
    cut_sources,
    computed_paths,
    computed_revisions,
    pushes,
    push_batches,
    gateway_keys,
    gateway_deliveries,
    pushed_tables,
    gateway_measurements,
    gateway_nodes,
    gateway_edges,
    gateway_column_edges,
    gateway_queries,
    gateway_objects,
    lakehouse_loads,
)
