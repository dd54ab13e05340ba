"""The diagram of all tables: keys, and the links by id that hold by convention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sqlalchemy as sa

#: From the row that is named, to the row that names it, by which columns. No foreign key holds
#: these: plain SQL comes in any order, and a dangling id is a finding.
LINKS: tuple[tuple[str, str, str], ...] = (
    ("pipelines", "stages", "pipeline_id"),
    ("sources", "stages", "source_id"),
    ("targets", "stages", "source_id"),
    ("targets", "stages", "target_id"),
    ("validation_rules", "stages", "validation_set_id"),
    ("validation_rules", "stages", "pre_validation_set_id"),
    ("retry_policies", "stages", "retry_id"),
    ("retry_policies", "pipelines", "default_retry_id"),
    ("healing_actions", "healing_steps", "error_code"),
    ("profiles", "pipeline_profiles", "profile_id"),
    ("profiles", "profile_settings", "profile_id"),
    ("pipelines", "pipeline_profiles", "pipeline_id"),
    ("pipelines", "control_flags", "entity_id"),
    ("stages", "control_flags", "entity_id"),
    ("sources", "control_flags", "entity_id"),
    ("targets", "control_flags", "entity_id"),
    ("sources", "throttles", "entity_id"),
    ("targets", "throttles", "entity_id"),
    ("sources", "dataset_lineage", "from_dataset_id"),
    ("targets", "dataset_lineage", "from_dataset_id"),
    ("targets", "dataset_lineage", "to_dataset_id"),
    ("targets", "dataset_recovery_paths", "dataset_id"),
    ("pipelines", "runs", "pipeline_id"),
    ("requests", "runs", "request_id"),
    ("runs", "stage_runs", "run_id"),
    ("stages", "stage_runs", "pipeline_id, stage_order"),
    ("stages", "expectations", "pipeline_id, stage_order"),
    ("stage_runs", "verdicts", "stage_run_id"),
    ("validation_rules", "verdicts", "rule_set_id"),
    ("stage_runs", "input_files", "stage_run_id"),
    ("stage_runs", "input_snapshots", "stage_run_id"),
    ("stage_runs", "leases", "stage_run_id"),
    ("requests", "audit_log", "request_id"),
    ("runs", "audit_log", "run_id"),
    ("stage_runs", "audit_log", "stage_run_id"),
    ("healing_actions", "audit_log", "error_code"),
    ("catalog_revision", "changes", "revision"),
    ("catalog_revision", "change_context", "revision"),
    ("catalog_revision", "runs", "catalog_revision"),
)


def entities(tables: Sequence[sa.Table]) -> str:
    """A Mermaid erDiagram of tables."""
    known = {table.name: table for table in tables}
    for parent, child, by in LINKS:
        missing = [name for name in by.split(", ") if name not in known[child].columns]
        if parent not in known or missing:
            raise LookupError(f"the diagram's link from {parent} to {child} by {by} is out of date")
    links = [
        f'  {parent} {_certainty(known[child], by)}--o{{ {child} : "{by}"'
        for parent, child, by in LINKS
    ]
    boxes = [line for table in tables for line in _entity(table)]
    return "\n".join(["```mermaid", "erDiagram", *links, *boxes, "```"])


def _certainty(many: sa.Table, by: str) -> str:
    """Exactly one, or none or one where the column may be unset."""
    return "|o" if any(many.c[name].nullable for name in by.split(", ")) else "||"


def _entity(table: sa.Table) -> Iterator[str]:
    """A table with its key and the columns its links go by."""
    by = {name for _, many, columns in LINKS if many == table.name for name in columns.split(", ")}
    yield f"  {table.name} {{"
    for column in table.columns:
        marks = ["PK"] * column.primary_key + ["FK"] * (column.name in by)
        if marks:
            yield f"    {_type(column)} {column.name} {', '.join(marks)}"
    yield "  }"


def _type(column: sa.Column[object]) -> str:
    name = type(column.type).__name__.lower()
    return {"biginteger": "integer", "moment": "time"}.get(name, name)
